// A fence around a text that is data for the model: the text cannot close it, whatever it says.

/** The text between `<name>` and `</name>`. A tag of that name in the text is no tag any more: it has no bracket. */
export function fenced(text: string, name: string): string {
  const tag = new RegExp(`<(?=[\\s/\\u200b-\\u200f\\u2060\\ufeff]*${name})`, 'giu')
  return `<${name}>\n${text.replaceAll(tag, '&lt;')}\n</${name}>`
}
