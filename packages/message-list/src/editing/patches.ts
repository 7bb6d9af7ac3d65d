// The difference of two versions of a message as patches, found by identity: what is shared is not looked into.
import type { Patch } from './change.ts'
import { exactly } from '../frozen-json.ts'

/** The way from one version to another, and the way back. */
export interface Difference {
  readonly patches: readonly Patch[]
  readonly inverse: readonly Patch[]
}

type Path = readonly (string | number)[]
type Fields = { readonly [key: string]: unknown }

interface DraftDifference {
  readonly patches: Patch[]
  readonly inverse: Patch[]
}

/**
 * Finds the patches between two values, which stand at a path of the message. Both are frozen JSON: equal identity means
 * equal content.
 */
export function differenceOf(before: object, after: object, at: Path = []): Difference {
  const difference: DraftDifference = { patches: [], inverse: [] }
  compare([before, after], at, difference)
  return { patches: frozen(difference.patches), inverse: frozen(difference.inverse) }
}

/** The difference that elements at the end of an array make, which had a length before. */
export function additionOf(elements: readonly unknown[], length: number, at: Path): Difference {
  const paths = elements.map((_, index) => [...at, length + index])
  const patches = elements.map((value, index): Patch => ({ op: 'add', path: paths[index]!, value }))
  const inverse = paths.map((path): Patch => ({ op: 'remove', path })).reverse()
  return { patches: frozen(patches), inverse: frozen(inverse) }
}

function frozen(patches: readonly Patch[]): readonly Patch[] {
  for (const patch of patches) {
    Object.freeze(patch.path)
    Object.freeze(patch)
  }
  return Object.freeze(exactly(patches))
}

function compare([before, after]: readonly [unknown, unknown], path: Path, difference: DraftDifference): void {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) compareArrays([before, after], path, difference)
  else if (isFields(before) && isFields(after)) compareFields([before, after], path, difference)
  else note(difference, { op: 'replace', path, value: after }, { op: 'replace', path, value: before })
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function compareFields([before, after]: readonly [Fields, Fields], path: Path, difference: DraftDifference): void {
  for (const key of Object.keys(after)) {
    const isKnown = Object.hasOwn(before, key)
    if (isKnown && before[key] === after[key]) continue
    const at = [...path, key]
    if (isKnown) compare([before[key], after[key]], at, difference)
    else note(difference, { op: 'add', path: at, value: after[key] }, { op: 'remove', path: at })
  }
  for (const key of Object.keys(before)) {
    if (Object.hasOwn(after, key)) continue
    const at = [...path, key]
    note(difference, { op: 'remove', path: at }, { op: 'add', path: at, value: before[key] })
  }
}

/** Equal ends are left alone. In between, elements are changed in place, then added in order or removed from the back. */
function compareArrays(
  arrays: readonly [readonly unknown[], readonly unknown[]],
  path: Path,
  difference: DraftDifference,
): void {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const [before, after] = [[...arrays[0]], [...arrays[1]]]
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const common = shorter - end
  for (let index = start; index < common; index++) compare([before[index], after[index]], [...path, index], difference)
  const { patches, inverse } = difference
  for (let index = common; index < after.length - end; index++)
    patches.push({ op: 'add', path: [...path, index], value: after[index] })
  for (let index = after.length - end - 1; index >= common; index--)
    inverse.push({ op: 'remove', path: [...path, index] })
  for (let index = before.length - end - 1; index >= common; index--)
    patches.push({ op: 'remove', path: [...path, index] })
  for (let index = common; index < before.length - end; index++)
    inverse.push({ op: 'add', path: [...path, index], value: before[index] })
}

function note({ patches, inverse }: DraftDifference, patch: Patch, back: Patch): void {
  patches.push(patch)
  inverse.push(back)
}
