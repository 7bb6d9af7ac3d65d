// Values that can be kept: a frozen copy of plain JSON, and equality between two of them.
import { BatchError } from './errors.ts'

function refuse(path: string, what: string): never {
  throw new BatchError(
    'not-json',
    `${path} is ${what}, which JSON cannot hold. Keep a JSON value instead, for example a date as an ISO string.`,
  )
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function copy(value: unknown, path: string, above: readonly object[]): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : refuse(path, String(value))
  if (typeof value !== 'object') return refuse(path, value === undefined ? 'undefined' : `a ${typeof value}`)
  if (above.includes(value)) return refuse(path, 'a value that contains itself')
  const inside = [...above, value]
  if (Array.isArray(value)) {
    return Object.freeze(Array.from(value, (item, index) => copy(item, `${path}[${index}]`, inside)))
  }
  if (!isPlain(value)) return refuse(path, `an instance of ${value.constructor.name || 'a class'}`)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, copy(item, `${path}.${key}`, inside)])))
}

/**
 * Copies a JSON value and freezes the copy to its leaves; the value given is left as it is.
 *
 * Throws `not-json` with the path of the first part that JSON cannot hold. Properties that are `undefined` are left out.
 */
export function frozenJson<T>(value: T, path: string): T {
  return copy(value, path, []) as T
}

/** Tells whether two JSON values are equal; the order of properties does not count. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      key =>
        Object.hasOwn(right, key) &&
        sameJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
    )
  )
}
