// A machine for a set of patterns: it reads one character at a time, in constant time, and knows at each whether
// something may still become a match. The states are made when they are first needed. Scanning is in text-scanner.ts.
import { foldCharacter, isInvisible } from '../redaction/character-fold.ts'
import { BuiltinError } from '../errors.ts'
import { readPattern, type CharacterSet, type PatternNode } from './pattern-syntax.ts'

/** What the machine has read since a start: which patterns end here, and whether one may go on. */
export interface MachineState {
  /** The patterns that match up to here, whatever follows. */
  readonly accepts: readonly number[]
  /** A longer match is possible, or one that depends on the next character. */
  readonly open: boolean
  /** Of two starts that are in this state, the later has nothing that the earlier has not: no match of it is checked. */
  readonly mergeable: boolean
  /** Where a scan keeps who is in this state at the character `stamp`. */
  stamp: number
  owner: unknown
}

/** What one character does: the patterns that have ended before it, and the state after it, if any is left. */
export interface Step {
  readonly ended: readonly number[]
  readonly state: MachineState | undefined
}

/** The class of what nobody sees. */
export const skipped = -1

/** The class of what is before the first and after the last character. */
export const edgeClass = 0

/** A pattern, and what its matches must pass. */
export interface MachinePattern {
  readonly pattern: RegExp
  /**
   * Tells whether what the pattern matched is one; the text comes with invisible characters left out, and as it was
   * written, with the place where it begins.
   */
  readonly accept?: ((text: string, written: string, start: number) => boolean) | undefined
  /** When the longest match is not accepted, shorter ones are none either. */
  readonly longestOnly?: boolean | undefined
}

type GraphNode =
  | { readonly type: 'symbol' | 'before' | 'after'; readonly set: number; readonly next: number }
  | { readonly type: 'split'; readonly next: readonly number[] }
  | { readonly type: 'accept'; readonly pattern: number }

interface State extends MachineState {
  readonly nodes: readonly number[]
  /** What the character before was, as far as the waiting nodes still ask. */
  readonly before: number
  readonly steps: (Step | undefined)[]
}

const maxNodeCount = 20_000
const maxStateCount = 5_000
const maxCharacterCount = 50_000
const none: readonly number[] = []

/** Reads texts for several patterns at once. It keeps nothing of a text: many scans share one. */
export class PatternMachine {
  readonly #nodes: GraphNode[] = []
  readonly #sets: CharacterSet[] = []
  readonly #setIndex = new Map<string, number>()
  readonly #roots: readonly number[]
  /** By pattern: the node that accepts it. */
  readonly #ends: number[] = []
  /** From where to where the nodes of a pattern are whose matches are checked. */
  readonly #checked: (readonly [from: number, to: number])[] = []
  /** By class: which sets have it. */
  readonly #members: boolean[][] = []
  readonly #classByMembers = new Map<string, number>()
  readonly #asciiClasses = new Int16Array(128).fill(-2)
  readonly #otherClasses = new Map<number, number>()
  #states = new Map<string, State>()
  #starts: (State | undefined)[] = []

  constructor(patterns: readonly MachinePattern[]) {
    this.#roots = patterns.map(({ pattern, accept }, index) => {
      const end = this.#add({ type: 'accept', pattern: index })
      this.#ends.push(end)
      const root = this.#build(readPattern(pattern), end, pattern)
      if (accept) this.#checked.push([end, this.#nodes.length])
      return root
    })
    this.#classOfMembers(this.#sets.map(set => set.edge))
    for (const [index, { pattern }] of patterns.entries())
      if (pattern.test('') || this.start(edgeClass).accepts.includes(index))
        throw new BuiltinError(
          'empty-pattern',
          `The pattern ${String(pattern)} matches the empty text. Let it need at least one character.`,
        )
  }

  /** The class of a code point: characters of one class are the same to all patterns. */
  classOf(codePoint: number): number {
    if (codePoint < 128) {
      const known = this.#asciiClasses[codePoint]!
      return known === -2 ? (this.#asciiClasses[codePoint] = this.#newClass(codePoint)) : known
    }
    let known = this.#otherClasses.get(codePoint)
    if (known === undefined) {
      if (this.#otherClasses.size >= maxCharacterCount) this.#otherClasses.clear()
      this.#otherClasses.set(codePoint, (known = this.#newClass(codePoint)))
    }
    return known
  }

  /** The state in which nothing is read yet, after a character of the class. */
  start(before: number): MachineState {
    return (this.#starts[before] ??= this.#settle(this.#roots, before))
  }

  /** What a character of the class does in the state. */
  step(state: MachineState, characterClass: number): Step {
    const { steps } = state as State
    return (steps[characterClass] ??= this.#newStep(state as State, characterClass))
  }

  #newStep(state: State, characterClass: number): Step {
    const known = new Set(state.accepts)
    const { symbols, accepts } = this.#close(state.nodes, state.before, characterClass)
    const members = this.#members[characterClass]!
    const targets = symbols.flatMap(node => {
      const symbol = this.#nodes[node] as { readonly set: number; readonly next: number }
      return members[symbol.set] ? [symbol.next] : []
    })
    const next = targets.length === 0 ? undefined : this.#settle(targets, characterClass)
    return { ended: accepts.filter(pattern => !known.has(pattern)), state: next }
  }

  /** The state at some nodes, when a character of the class `before` has just been read. */
  #settle(nodes: readonly number[], before: number): State {
    const { symbols, waiting, accepts } = this.#close(nodes, before, undefined)
    const all = [...symbols, ...waiting].sort((one, other) => one - other)
    const seen = waiting.length > 0 ? before : -1
    const key = `${all.join()};${accepts.join()};${seen}`
    let state = this.#states.get(key)
    if (state) return state
    if (this.#states.size >= maxStateCount) this.#forget()
    const mergeable = !this.#isChecked(all) && !this.#isChecked(accepts.map(pattern => this.#ends[pattern]!))
    state = {
      nodes: all,
      before: seen,
      accepts,
      open: all.length > 0,
      mergeable,
      steps: [],
      stamp: -1,
      owner: undefined,
    }
    this.#states.set(key, state)
    return state
  }

  #isChecked(nodes: readonly number[]): boolean {
    return nodes.some(node => this.#checked.some(([from, to]) => node >= from && node < to))
  }

  /** Lets go of the states; those in use stay with who uses them. */
  #forget(): void {
    this.#states = new Map()
    this.#starts = []
  }

  /** Follows all that needs no character. What looks at the next character waits for it, or is decided when it is here. */
  #close(nodes: readonly number[], before: number, after: number | undefined) {
    const seen = new Set<number>()
    const symbols: number[] = []
    const waiting: number[] = []
    const accepts: number[] = []
    const stack = [...nodes]
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (seen.has(index)) continue
      seen.add(index)
      const node = this.#nodes[index]!
      if (node.type === 'symbol') symbols.push(index)
      else if (node.type === 'accept') accepts.push(node.pattern)
      else if (node.type === 'split') stack.push(...node.next)
      else if (node.type === 'before') {
        if (this.#members[before]![node.set]) stack.push(node.next)
      } else if (after === undefined) waiting.push(index)
      else if (this.#members[after]![node.set]) stack.push(node.next)
    }
    return { symbols, waiting, accepts: accepts.length === 0 ? none : accepts.sort((one, other) => one - other) }
  }

  #newClass(codePoint: number): number {
    if (isInvisible(codePoint)) return skipped
    const character = String.fromCodePoint(codePoint)
    const folded = String.fromCodePoint(foldCharacter(codePoint))
    return this.#classOfMembers(this.#sets.map(set => isMember(set, character, folded)))
  }

  #classOfMembers(members: boolean[]): number {
    const key = members.map(Number).join('')
    let found = this.#classByMembers.get(key)
    if (found === undefined) {
      found = this.#members.push(members) - 1
      this.#classByMembers.set(key, found)
    }
    return found
  }

  /** Builds the graph of a tree from its end to its start. */
  #build(tree: PatternNode, next: number, pattern: RegExp): number {
    if (this.#nodes.length > maxNodeCount)
      throw new BuiltinError(
        'unsupported-pattern',
        `The pattern ${String(pattern)} counts too far. Write {n,} where the upper bound does not matter.`,
      )
    switch (tree.type) {
      case 'symbol':
      case 'before':
      case 'after':
        return this.#add({ type: tree.type, set: this.#indexOf(tree.set), next })
      case 'sequence':
        return tree.items.reduceRight((end, item) => this.#build(item, end, pattern), next)
      case 'choice':
        return this.#add({ type: 'split', next: tree.items.map(item => this.#build(item, next, pattern)) })
      case 'repeat':
        return this.#buildRepeat(tree, next, pattern)
    }
  }

  #buildRepeat(tree: PatternNode & { readonly type: 'repeat' }, next: number, pattern: RegExp): number {
    let end = next
    if (tree.max === Infinity) {
      const targets: number[] = [next]
      end = this.#add({ type: 'split', next: targets })
      targets.push(this.#build(tree.item, end, pattern))
    } else
      for (let count = tree.min; count < tree.max; count++)
        end = this.#add({ type: 'split', next: [next, this.#build(tree.item, end, pattern)] })
    for (let count = 0; count < tree.min; count++) end = this.#build(tree.item, end, pattern)
    return end
  }

  #add(node: GraphNode): number {
    return this.#nodes.push(node) - 1
  }

  #indexOf(set: CharacterSet): number {
    let index = this.#setIndex.get(set.key)
    if (index === undefined) {
      index = this.#sets.push(set) - 1
      this.#setIndex.set(set.key, index)
    }
    return index
  }
}

/** A character is what it is and what it stands for; it is outside of a set only when both are. */
function isMember(set: CharacterSet, character: string, folded: string): boolean {
  if (set.negated) return set.has(character) && set.has(folded)
  return set.has(character) || set.has(folded)
}
