// Copies that nobody can write to, for what hooks are given of other people's objects.

const nothing: readonly unknown[] = Object.freeze([])

/**
 * A copy of plain data, frozen to the leaves. What is frozen already, and instances of classes, are shared as they are.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) return (value.length === 0 ? nothing : Object.freeze(value.map(frozenCopy))) as T
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy = { ...value } as Record<string, unknown>
  for (const key of Object.keys(copy)) copy[key] = frozenCopy(copy[key])
  return Object.freeze(copy) as T
}
