// Rewriting of values: the strings in them, at any depth, the names of their properties, and long numbers.

/**
 * Gives a value with its texts replaced; what has nothing to replace comes back as it is, the same object. An object of any
 * class is read as JSON writes it, and so are a `Map` and a `Set`, of which JSON has nothing. Bytes and dates stay; what
 * refers back to itself ends there.
 */
export function rewriteValue(value: unknown, rewrite: (text: string) => string): unknown {
  const path = new Set<object>()
  const inside = (item: unknown): unknown => {
    if (typeof item === 'string') return rewrite(item)
    if (typeof item === 'number' || typeof item === 'bigint') return rewriteNumber(item, rewrite)
    if (typeof item !== 'object' || item === null || isOpaque(item)) return item
    if (path.has(item)) return undefined
    path.add(item)
    const rewritten = rewriteObject(item, inside)
    path.delete(item)
    return rewritten
  }
  return inside(value)
}

type Inside = (item: unknown) => unknown

function rewriteObject(value: object, inside: Inside): unknown {
  if (Array.isArray(value)) return rewriteItems(value, inside) ?? value
  if (value instanceof Set) return asNew(value, items => new Set(items), inside)
  if (value instanceof Map) return asNew(value, items => new Map(items as [unknown, unknown][]), inside)
  if (value instanceof Error) return rewriteError(value, inside)
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const json = (value.toJSON as () => unknown)()
    const rewritten = inside(json)
    return Object.is(rewritten, json) ? value : rewritten
  }
  const entries = rewriteItems(Object.entries(value), inside)
  return entries ? Object.fromEntries(entries as [string, unknown][]) : value
}

/** The items rewritten, or nothing when they stay. */
function rewriteItems(items: readonly unknown[], inside: Inside): readonly unknown[] | undefined {
  const rewritten = items.map(item => inside(item))
  return rewritten.some((item, index) => !Object.is(item, items[index])) ? rewritten : undefined
}

function asNew<T extends Iterable<unknown>>(value: T, made: (items: readonly unknown[]) => T, inside: Inside): T {
  const items = rewriteItems([...value], inside)
  return items ? made(items) : value
}

function rewriteNumber(value: number | bigint, rewrite: (text: string) => string): unknown {
  const text = String(value)
  if (text.length < 8) return value
  const rewritten = rewrite(text)
  return rewritten === text ? value : rewritten
}

/** Of an error that has to change a name and a message are left: its stack has the message, too. */
function rewriteError(error: Error, inside: Inside): Error {
  const said = [error.message, error.cause, ...Object.entries(error)]
  if (rewriteItems(said, inside) === undefined) return error
  const rewritten = new Error(inside(error.message) as string)
  rewritten.name = error.name
  return rewritten
}

function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Date
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
