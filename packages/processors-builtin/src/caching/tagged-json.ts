// JSON that keeps dates, bytes and addresses, with properties in one order: equal values are equal texts.

const tags: ReadonlySet<string> = new Set(['$date', '$bytes', '$url', '$object'])

/** Writes a value. What JSON cannot say and has no tag (functions, symbols, undefined) is left out. */
export function taggedJson(value: unknown): string {
  return JSON.stringify(tagged(value)) ?? 'null'
}

/** Reads what `taggedJson` wrote. Throws: a `SyntaxError` for what is no JSON. */
export function readTaggedJson(text: string): unknown {
  return untagged(JSON.parse(text))
}

function tagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return { $date: value.getTime() }
  if (value instanceof URL) return { $url: value.href }
  if (value instanceof Uint8Array) return { $bytes: base64Of(value) }
  if (Array.isArray(value)) return value.map(tagged)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([one], [other]) => (one < other ? -1 : 1))
  const plain = Object.fromEntries(entries.map(([key, item]) => [key, tagged(item)]))
  return entries.length === 1 && tags.has(entries[0]![0]) ? { $object: plain } : plain
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(untagged)
  const entries = Object.entries(value)
  const [tag, item] = entries.length === 1 ? entries[0]! : []
  if (tag === '$date') return new Date(item as number)
  if (tag === '$url') return new URL(item as string)
  if (tag === '$bytes') return Uint8Array.from(atob(item as string), unit => unit.charCodeAt(0))
  const plain = tag === '$object' ? Object.entries(item as object) : entries
  return Object.fromEntries(plain.map(([key, one]) => [key, untagged(one)]))
}

function base64Of(bytes: Uint8Array): string {
  let units = ''
  for (const byte of bytes) units += String.fromCharCode(byte)
  return btoa(units)
}
