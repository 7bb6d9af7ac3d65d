// Redaction of values: the strings in them, at any depth, the names of their properties, and long numbers.

/** Gives a value with its texts replaced; what has nothing to replace comes back as it is, the same object. */
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number' || typeof value === 'bigint') return redactNumber(value, redact)
  if (Array.isArray(value)) {
    const items = value.map(item => redactValue(item, redact))
    return items.some((item, index) => !Object.is(item, value[index])) ? items : value
  }
  if (value instanceof Error) return redactError(value, redact)
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  let changed = false
  const entries = Object.entries(value).map(([name, item]) => {
    const entry = [redact(name), redactValue(item, redact)] as const
    changed ||= entry[0] !== name || !Object.is(entry[1], item)
    return entry
  })
  return changed ? Object.fromEntries(entries) : value
}

function redactNumber(value: number | bigint, redact: (text: string) => string): unknown {
  const text = String(value)
  if (text.length < 8) return value
  const redacted = redact(text)
  return redacted === text ? value : redacted
}

function redactError(error: Error, redact: (text: string) => string): Error {
  const message = redact(error.message)
  if (message === error.message) return error
  const redacted = new Error(message)
  redacted.name = error.name
  return redacted
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Gives an object with some of its properties redacted; the same object when nothing changed. */
export function redactProperties<T extends object>(
  value: T,
  names: readonly string[],
  redact: (text: string) => string,
): T {
  const given = value as Readonly<Record<string, unknown>>
  const changes = names.flatMap(name => {
    const redacted = redactValue(given[name], redact)
    return Object.is(redacted, given[name]) ? [] : [[name, redacted] as const]
  })
  return changes.length === 0 ? value : { ...value, ...Object.fromEntries(changes) }
}
