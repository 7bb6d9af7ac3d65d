// Names of tools with a star for any characters: `read_*`, `*_prod`, `*`.

/** Tells whether a name fits a pattern. In time linear in both; the earliest place of each piece is always good enough. */
export function fitsToolName(name: string, pattern: string): boolean {
  const pieces = pattern.split('*')
  if (pieces.length === 1) return name === pattern
  const first = pieces[0]!
  const last = pieces.at(-1)!
  const end = name.length - last.length
  if (!name.startsWith(first) || !name.endsWith(last) || end < first.length) return false
  let from = first.length
  for (const piece of pieces.slice(1, -1)) {
    const at = name.indexOf(piece, from)
    if (at === -1 || at + piece.length > end) return false
    from = at + piece.length
  }
  return true
}

/** Tells whether a name fits one of the patterns. */
export function fitsSome(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => fitsToolName(name, pattern))
}
