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

/**
 * Finds the patches between two values, which stand at a path of the message. Both are frozen JSON: equal identity means
 * equal content.
 */
export function differenceOf(before: object, after: object, at: Path = []): Difference {
  const difference = new Comparison()
  difference.compare(before, after, at)
  return { patches: exactly(difference.patches), inverse: exactly(difference.inverse) }
}

/** The difference that elements at the end of an array make, which had a length before. */
export function additionOf(elements: readonly unknown[], length: number, at: Path): Difference {
  const paths = elements.map((_, index) => [...at, length + index])
  return {
    patches: elements.map((value, index) => ({ op: 'add', path: paths[index]!, value })),
    inverse: paths.map((path): Patch => ({ op: 'remove', path })).reverse(),
  }
}

/** What was found to differ so far. */
class Comparison {
  readonly patches: Patch[] = []
  readonly inverse: Patch[] = []

  compare(before: unknown, after: unknown, path: Path): void {
    if (before === after) return
    if (Array.isArray(before) && Array.isArray(after)) this.#arrays(before, after, path)
    else if (isFields(before) && isFields(after)) this.#fields(before, after, path)
    else this.#note({ op: 'replace', path, value: after }, { op: 'replace', path, value: before })
  }

  #fields(before: Fields, after: Fields, path: Path): void {
    for (const key of Object.keys(after)) {
      const isKnown = Object.hasOwn(before, key)
      if (isKnown && before[key] === after[key]) continue
      const at = [...path, key]
      if (isKnown) this.compare(before[key], after[key], at)
      else this.#note({ op: 'add', path: at, value: after[key] }, { op: 'remove', path: at })
    }
    for (const key of Object.keys(before)) {
      if (Object.hasOwn(after, key)) continue
      const at = [...path, key]
      this.#note({ op: 'remove', path: at }, { op: 'add', path: at, value: before[key] })
    }
  }

  /** Equal ends are left alone. In between, elements are changed in place, then added in order or removed from the back. */
  #arrays(frozenBefore: readonly unknown[], frozenAfter: readonly unknown[], path: Path): void {
    // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
    const [before, after] = [[...frozenBefore], [...frozenAfter]]
    const shorter = Math.min(before.length, after.length)
    let start = 0
    while (start < shorter && before[start] === after[start]) start++
    let end = 0
    while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
    const common = shorter - end
    for (let index = start; index < common; index++) this.compare(before[index], after[index], [...path, index])
    for (let index = common; index < after.length - end; index++)
      this.patches.push({ op: 'add', path: [...path, index], value: after[index] })
    for (let index = after.length - end - 1; index >= common; index--)
      this.inverse.push({ op: 'remove', path: [...path, index] })
    for (let index = before.length - end - 1; index >= common; index--)
      this.patches.push({ op: 'remove', path: [...path, index] })
    for (let index = common; index < before.length - end; index++)
      this.inverse.push({ op: 'add', path: [...path, index], value: before[index] })
  }

  #note(patch: Patch, back: Patch): void {
    this.patches.push(patch)
    this.inverse.push(back)
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
