// What is left of a tool's output when its texts are withheld: the form that whoever reads it expects.

/** The same form, with a placeholder for each text. */
export function withheldOutput(value: unknown, placeholder: string): unknown {
  if (typeof value === 'string') return placeholder
  if (Array.isArray(value)) return value.map(item => withheldOutput(item, placeholder))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withheldOutput(item, placeholder)]))
}

/** The names of properties, each once: all of the words that such a form still has. */
export function namesIn(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return names
  for (const [name, item] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(name)
    namesIn(item, names)
  }
  return names
}
