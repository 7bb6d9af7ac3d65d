// Data that can be stored: plain JSON, frozen to the leaves. What comes from outside is copied here, never frozen in place.
import type { JSONValue } from 'ai'
import { MessageListError } from './errors.ts'

/** `T` as it is stored: readonly to the leaves. Values that can be any JSON keep the SDK's own recursive type. */
export type Frozen<T> = [JSONValue] extends [T] ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** Freezes an object, without the fields that have no value: JSON does not know them. */
export function frozen<const T extends object>(fields: T): T {
  const present: Partial<T> = {}
  for (const key in fields) if (fields[key] !== undefined) present[key] = fields[key]
  return Object.freeze(present) as T
}

/** Deeper nesting than any conversation has; what is deeper would overflow the stack of whoever reads it. */
const maxDepth = 200

/** Where copying is: an object, the key in it whose value is being copied, and what is around it. */
interface Place {
  readonly object: object | undefined
  readonly around: Place | undefined
  readonly depth: number
  key: string | number
}

/**
 * Copies a value into frozen plain JSON: what `JSON.stringify` would write, with bytes as base64 and unpaired surrogates
 * replaced by U+FFFD, as every encoder does.
 *
 * Throws: `unsafe-data` for cycles, bigints, prototype-polluting keys and nesting deeper than 200, with the path.
 */
export function frozenJson(value: unknown, path: string): unknown {
  return copy(value, { object: undefined, around: undefined, depth: 0, key: path }) ?? null
}

function copy(value: unknown, place: Place): unknown {
  switch (typeof value) {
    case 'string':
      return wellFormed(value)
    case 'number':
      // -0 is written as 0 and NaN as null by JSON: what is stored is what comes back.
      return Number.isFinite(value) ? value + 0 : null
    case 'boolean':
      return value
    case 'bigint':
      return refuse(place, `is the bigint ${value}n, which JSON cannot carry. Pass it as a string or a number.`)
    case 'object':
      return value === null ? null : copyObject(value, place)
    default:
      return undefined
  }
}

function copyObject(value: object, around: Place): unknown {
  if (ArrayBuffer.isView(value)) return base64Of(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  if (value instanceof ArrayBuffer) return base64Of(new Uint8Array(value))
  if ('toJSON' in value && typeof value.toJSON === 'function') return copy((value.toJSON as () => unknown)(), around)
  for (let place: Place | undefined = around; place !== undefined; place = place.around)
    if (place.object === value) refuse(around, 'refers back to an object that contains it. Break the cycle.')
  if (around.depth >= maxDepth)
    refuse(around, `is nested deeper than ${maxDepth} levels. Flatten it, or pass it as text.`)
  const place: Place = { object: value, around, depth: around.depth + 1, key: '' }
  return Object.freeze(
    Array.isArray(value) ? copyArray(value, place) : copyRecord(value as Record<string, unknown>, place),
  )
}

function copyArray(value: readonly unknown[], place: Place): unknown[] {
  const copied: unknown[] = []
  for (let index = 0; index < value.length; index++) {
    place.key = index
    copied.push(copy(value[index], place) ?? null)
  }
  return exactly(copied)
}

/** The same elements in an array without room to grow. One that grew to a few elements has room for sixteen more. */
export function exactly<T>(elements: readonly T[]): T[] {
  return [...elements]
}

function copyRecord(value: Record<string, unknown>, place: Place): Record<string, unknown> {
  const copied: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    place.key = key
    if (isPolluting(key, value)) refuse(place, 'is a key that can change the prototype of other objects. Remove it.')
    const child = copy(value[key], place)
    if (child !== undefined) copied[wellFormed(key)] = child
  }
  return copied
}

function isPolluting(key: string, owner: Record<string, unknown>): boolean {
  if (key === '__proto__') return true
  if (key !== 'constructor') return false
  const child = owner[key]
  return typeof child === 'object' && child !== null && Object.hasOwn(child, 'prototype')
}

function refuse(place: Place, reason: string): never {
  let path = ''
  for (let at: Place | undefined = place; at !== undefined; at = at.around) path = step(at) + path
  throw new MessageListError('unsafe-data', `${path} ${reason}`, { path })
}

/** The outermost key is the path of the whole value. */
function step({ key, around }: Place): string {
  if (around === undefined) return String(key)
  return typeof key === 'number' ? `[${key}]` : `.${key}`
}

/** Repairs unpaired surrogates. The two string methods are ES2024: every supported engine has them, the ES2023 types do not. */
function wellFormed(text: string): string {
  const modern = text as string & { isWellFormed(): boolean; toWellFormed(): string }
  return modern.isWellFormed() ? text : modern.toWellFormed()
}

/** Writes bytes as base64, in pieces that fit on the stack where the engine has no native method for it. */
export function base64Of(bytes: Uint8Array): string {
  const native = (bytes as Uint8Array & { toBase64?: () => string }).toBase64
  if (native) return native.call(bytes)
  let binary = ''
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  }
  return btoa(binary)
}

/**
 * Returns `base` when `next` says the same, and otherwise `next` with every subtree that says the same taken from
 * `base`, so that what did not change keeps its identity. Both are frozen JSON.
 */
export function shareEqual<T>(base: unknown, next: T): T {
  if (base === next || !isObject(base) || !isObject(next)) return next
  if (Array.isArray(base) !== Array.isArray(next)) return next
  return (
    Array.isArray(next) ? shareArray(base as readonly unknown[], next) : shareRecord(base as Fields, next as Fields)
  ) as T
}

type Fields = { readonly [key: string]: unknown }

function shareArray(base: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  const shared = next.map((child, index) => shareEqual(base[index], child))
  if (shared.length === base.length && shared.every((child, index) => child === base[index])) return base
  return shared.every((child, index) => child === next[index]) ? next : Object.freeze(shared)
}

function shareRecord(base: Fields, next: Fields): Fields {
  const keys = Object.keys(next)
  const shared: Record<string, unknown> = {}
  let isBase = keys.length === Object.keys(base).length
  let isNext = true
  for (const key of keys) {
    const child = shareEqual(base[key], next[key])
    shared[key] = child
    if (child !== next[key]) isNext = false
    if (child !== base[key] || !Object.hasOwn(base, key)) isBase = false
  }
  if (isBase) return base
  return isNext ? next : Object.freeze(shared)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
