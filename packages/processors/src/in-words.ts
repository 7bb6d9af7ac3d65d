// Values that processors threw or returned, in the words of an error: whatever they are, describing them never throws.

/** What an error says of itself, or the value as text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message
  return safely(error, String)
}

/** A value as JSON, as far as it has any. */
export function inWords(value: unknown): string {
  return safely(value, given => JSON.stringify(given) ?? String(given))
}

/** Objects without a prototype have no text, circles and big numbers no JSON. */
function safely(value: unknown, describe: (value: unknown) => string): string {
  try {
    return describe(value)
  } catch {
    return typeof value === 'bigint' ? `${value}n` : Object.prototype.toString.call(value)
  }
}
