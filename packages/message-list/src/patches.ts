// The difference of two versions of a message as patches, found by identity: what is shared is not looked into.
import type { Patch } from './change.ts'

/** The patches that turn `before` into `after`. Both are frozen JSON; equal identity means equal content. */
export function patchesBetween(before: object, after: object): readonly Patch[] {
  const patches: Patch[] = []
  compare([before, after], [], patches)
  return patches
}

type Pair = readonly [before: object, after: object]

function compare(pair: Pair, path: readonly (string | number)[], patches: Patch[]): void {
  if (Array.isArray(pair[0])) compareArrays(pair as readonly [readonly unknown[], readonly unknown[]], path, patches)
  else compareRecords(pair as readonly [Record<string, unknown>, Record<string, unknown>], path, patches)
}

function compareRecords([before, after]: readonly [Record<string, unknown>, Record<string, unknown>], path: readonly (string | number)[], patches: Patch[]): void {
  for (const key of Object.keys(after)) {
    if (!Object.hasOwn(before, key)) patches.push({ op: 'add', path: [...path, key], value: after[key] })
    else compareValues([before[key], after[key]], [...path, key], patches)
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) patches.push({ op: 'remove', path: [...path, key] })
  }
}

/** Equal ends are left alone; in between, elements are replaced, and then added in order or removed from the back. */
function compareArrays([before, after]: readonly [readonly unknown[], readonly unknown[]], path: readonly (string | number)[], patches: Patch[]): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const common = shorter - end
  for (let index = start; index < common; index++) compareValues([before[index], after[index]], [...path, index], patches)
  for (let index = common; index < after.length - end; index++) patches.push({ op: 'add', path: [...path, index], value: after[index] })
  for (let index = before.length - end - 1; index >= common; index--) patches.push({ op: 'remove', path: [...path, index] })
}

function compareValues([before, after]: readonly [unknown, unknown], path: readonly (string | number)[], patches: Patch[]): void {
  if (before === after) return
  const comparable =
    typeof before === 'object' && before !== null && typeof after === 'object' && after !== null && Array.isArray(before) === Array.isArray(after)
  if (comparable) compare([before, after], path, patches)
  else patches.push({ op: 'replace', path, value: after })
}
