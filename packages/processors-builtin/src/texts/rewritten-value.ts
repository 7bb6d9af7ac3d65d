// Rewriting of values: the strings in them, at any depth, the names of their properties, and long numbers.

/** Gives a value with its texts replaced; what has nothing to replace comes back as it is, the same object. */
export function rewriteValue(value: unknown, rewrite: (text: string) => string): unknown {
  if (typeof value === 'string') return rewrite(value)
  if (typeof value === 'number' || typeof value === 'bigint') return rewriteNumber(value, rewrite)
  if (Array.isArray(value)) {
    const items = value.map(item => rewriteValue(item, rewrite))
    return items.some((item, index) => !Object.is(item, value[index])) ? items : value
  }
  if (value instanceof Error) return rewriteError(value, rewrite)
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  let changed = false
  const entries = Object.entries(value).map(([name, item]) => {
    const entry = [rewrite(name), rewriteValue(item, rewrite)] as const
    changed ||= entry[0] !== name || !Object.is(entry[1], item)
    return entry
  })
  return changed ? Object.fromEntries(entries) : value
}

function rewriteNumber(value: number | bigint, rewrite: (text: string) => string): unknown {
  const text = String(value)
  if (text.length < 8) return value
  const rewritten = rewrite(text)
  return rewritten === text ? value : rewritten
}

function rewriteError(error: Error, rewrite: (text: string) => string): Error {
  const message = rewrite(error.message)
  if (message === error.message) return error
  const rewritten = new Error(message)
  rewritten.name = error.name
  return rewritten
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Gives an object with some of its properties rewritten; the same object when nothing changed. */
export function rewriteProperties<T extends object>(
  value: T,
  names: readonly string[],
  rewrite: (text: string) => string,
): T {
  const given = value as Readonly<Record<string, unknown>>
  const changes = names.flatMap(name => {
    const rewritten = rewriteValue(given[name], rewrite)
    return Object.is(rewritten, given[name]) ? [] : [[name, rewritten] as const]
  })
  return changes.length === 0 ? value : { ...value, ...Object.fromEntries(changes) }
}
