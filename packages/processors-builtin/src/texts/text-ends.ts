// The two ends of a text, cut between characters: never inside of a surrogate pair.

/** The beginning of a text, at most so long. */
export function headOf(text: string, length: number): string {
  return text.slice(0, isInPair(text, length) ? length - 1 : length)
}

/** The end of a text, at most so long. */
export function tailOf(text: string, length: number): string {
  const start = Math.max(0, text.length - length)
  return text.slice(isInPair(text, start) ? start + 1 : start)
}

function isInPair(text: string, index: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(index - 1, index + 1))
}
