// Finds the matches in a text that comes in pieces, and gives the text back with something in their places: the same
// for any cut, and as early as it is certain.
import { foldText } from '../redaction/character-fold.ts'
import { edgeClass, skipped, type MachinePattern, type MachineState, type PatternMachine } from './pattern-machine.ts'
import { WholeCharacters } from './whole-characters.ts'

/** A place in the text that a pattern matched. */
export interface Match {
  /** The index of the pattern. */
  readonly pattern: number
  /** The matched text; what an overlapping earlier match took already is not in it. */
  readonly text: string
  /** The text is all that the pattern matched. */
  readonly whole: boolean
  /** All that the pattern matched. */
  readonly all: string
  /** Where that begins in the text. */
  readonly start: number
  /** It goes on behind a match that was longer than what is held. */
  readonly continued: boolean
}

/** How texts are scanned. */
export interface ScanRules {
  readonly machine: PatternMachine
  readonly patterns: readonly MachinePattern[]
  /** The most characters that are held; a longer match is replaced in pieces of this length. */
  readonly maxLength: number
  /** What takes the place of a match. */
  readonly replace: (match: Match) => string
}

/** A place where a match may have begun, and what has been read since. */
interface Thread {
  start: number
  /** Where it began before it went on behind a match; threads are in the order of it. */
  origin: number
  /** It goes on behind a match, which was checked: what follows is not checked again. */
  continued: boolean
  state: MachineState
  /** Where the last character ends that it has read. */
  last: number
  /** By pattern: where a match ended; all places when the pattern's matches are checked, otherwise the last. */
  ends: Map<number, number[]> | undefined
  /** Later starts that are in the same state. They take over when this one grows too long. */
  followers: number[] | undefined
}

interface Span {
  readonly start: number
  readonly end: number
  readonly pattern: number
  readonly continued: boolean
}

/** More ends of one match than this are not checked. */
const maxEndCount = 32

let stamps = 0

/**
 * Scans one text.
 *
 * The rule: at every start, the longest accepted match of each pattern counts. The union of all matches is replaced;
 * where two overlap, the one that starts first takes the common part, and the rest of the other is replaced as well.
 *
 * *Cost*: a table look-up for each character and each start that may still become a match.
 */
export class TextScanner {
  readonly #rules: ScanRules
  #threads: Thread[] = []
  /** The first of their starts. */
  #oldest = Infinity
  #found: Span[] = []
  /** The text from `#base` on; what is before is out and no longer needed. */
  #buffer = ''
  #base = 0
  /** Where reading goes on. */
  #position = 0
  /** Where writing goes on. */
  #cursor = 0
  #before = edgeClass
  readonly #characters = new WholeCharacters()

  constructor(rules: ScanRules) {
    this.#rules = rules
  }

  /** Reads the next piece and gives what is certain. */
  push(piece: string): string {
    this.#read(this.#characters.take(piece))
    return this.#write()
  }

  /** Ends the text and gives the rest of it. */
  end(): string {
    this.#read(this.#characters.rest())
    for (const thread of this.#threads) {
      this.#note(thread, this.#rules.machine.step(thread.state, edgeClass).ended, thread.last)
      this.#finish(thread)
    }
    this.#threads = []
    this.#oldest = Infinity
    return this.#write()
  }

  #read(text: string): void {
    this.#buffer += text
    const { machine, maxLength } = this.#rules
    for (let index = 0; index < text.length;) {
      let codePoint = text.charCodeAt(index)
      let width = 1
      if (codePoint >= 0xd800 && codePoint <= 0xdbff) {
        codePoint = text.codePointAt(index)!
        if (codePoint > 0xffff) width = 2
      }
      const characterClass = machine.classOf(codePoint)
      index += width
      this.#position += width
      if (characterClass !== skipped) this.#take(characterClass, width)
      if (this.#position - this.#oldest >= maxLength) this.#cutAll()
    }
  }

  /** Moves all threads over a character, and starts one at it if a match may begin there. */
  #take(characterClass: number, width: number): void {
    const { machine } = this.#rules
    this.#advance(characterClass)
    const { state } = machine.step(machine.start(this.#before), characterClass)
    this.#before = characterClass
    if (state === undefined) return
    const start = this.#position - width
    this.#keep({
      start,
      origin: start,
      continued: false,
      state,
      last: this.#position,
      ends: undefined,
      followers: undefined,
    })
  }

  #advance(characterClass: number): void {
    stamps++
    this.#oldest = Infinity
    const threads = this.#threads
    if (threads.length === 0) return
    const { machine } = this.#rules
    this.#threads = []
    for (const thread of threads) {
      const { ended, state } = machine.step(thread.state, characterClass)
      if (ended.length > 0) this.#note(thread, ended, thread.last)
      if (state === undefined) this.#finish(thread)
      else {
        thread.state = state
        thread.last = this.#position
        this.#keep(thread)
      }
    }
  }

  /** Keeps a thread that has just moved, unless nothing more can come of it. */
  #keep(thread: Thread): void {
    const { state } = thread
    if (state.mergeable && state.stamp === stamps) {
      // An earlier start is in this state: what can still come of this one comes of that one too.
      this.#finish(thread)
      const owner = state.owner as Thread
      const later = [thread.start, ...(thread.followers ?? [])].filter(start => start > owner.start)
      if (later.length > 0) (owner.followers ??= []).push(...later)
      return
    }
    state.stamp = stamps
    state.owner = thread
    if (state.accepts.length > 0) this.#note(thread, state.accepts, thread.last)
    if (!state.open) {
      this.#finish(thread)
      return
    }
    if (thread.start < this.#oldest) this.#oldest = thread.start
    this.#threads.push(thread)
  }

  #note(thread: Thread, patterns: readonly number[], end: number): void {
    for (const pattern of patterns) {
      const ends = (thread.ends ??= new Map()).get(pattern)
      if (ends === undefined) thread.ends.set(pattern, [end])
      else if (this.#rules.patterns[pattern]!.accept) ends.push(end)
      else ends[0] = end
    }
  }

  /** Enters the longest accepted match of a thread that has ended. */
  #finish(thread: Thread): Span | undefined {
    if (thread.ends === undefined) return undefined
    let best: Span | undefined
    for (const [pattern, ends] of thread.ends) {
      const end = this.#longest(thread, pattern, ends)
      if (end === undefined) continue
      if (best === undefined || end > best.end || (end === best.end && pattern < best.pattern))
        best = { start: thread.start, end, pattern, continued: thread.continued }
    }
    if (best) this.#found.push(best)
    return best
  }

  #longest({ start, continued }: Thread, pattern: number, ends: readonly number[]): number | undefined {
    const { accept, longestOnly } = this.#rules.patterns[pattern]!
    if (!accept || continued) return ends.at(-1)
    for (const end of ends.slice(-(longestOnly ? 1 : maxEndCount)).reverse()) {
      const text = this.#slice(start, end)
      if (accept(foldText(text), text, start)) return end
    }
    return undefined
  }

  /** Some thread has grown as long as a match may be. */
  #cutAll(): void {
    for (let thread = this.#overlong(); thread !== undefined; thread = this.#overlong()) {
      this.#threads.splice(this.#threads.indexOf(thread), 1)
      this.#cut(thread)
    }
    this.#oldest = this.#threads.reduce((oldest, { start }) => Math.min(oldest, start), Infinity)
  }

  #overlong(): Thread | undefined {
    return this.#threads.find(({ start }) => this.#position - start >= this.#rules.maxLength)
  }

  /**
   * What a long thread matched so far is a match, and it goes on behind it as if it had begun there; a thread without a
   * match gives way to the next start in its state.
   */
  #cut(thread: Thread): void {
    const { followers = [] } = thread
    const match = this.#finish(thread)
    if (match !== undefined) {
      const later = followers.filter(start => start > match.end)
      return this.#enter({ ...thread, start: match.end, continued: true, followers: later })
    }
    if (followers.length === 0) return
    const [start, ...rest] = followers.sort((one, other) => one - other)
    this.#enter({ ...thread, start: start!, origin: start!, continued: false, followers: rest })
  }

  #enter(thread: Thread): void {
    this.#threads.push({ ...thread, ends: undefined })
    this.#threads.sort((one, other) => one.origin - other.origin)
  }

  /** Gives what no later character can change. */
  #write(): string {
    const frontier = Math.min(this.#oldest, this.#position)
    let out = ''
    if (this.#found.length > 0) {
      this.#found.sort((one, other) => one.start - other.start || other.end - one.end || one.pattern - other.pattern)
      const certain = this.#found.filter(span => span.start < frontier)
      this.#found = this.#found.slice(certain.length)
      for (const span of certain) out += this.#replaced(span)
    }
    if (this.#cursor < frontier) {
      out += this.#slice(this.#cursor, frontier)
      this.#cursor = frontier
    }
    this.#trim(Math.min(this.#cursor, frontier))
    return out
  }

  #replaced({ start, end, pattern, continued }: Span): string {
    if (end <= this.#cursor) return ''
    const from = Math.max(start, this.#cursor)
    const shown = this.#slice(this.#cursor, from)
    this.#cursor = end
    const all = this.#slice(start, end)
    return (
      shown +
      this.#rules.replace({ pattern, text: all.slice(from - start), whole: from === start, all, start, continued })
    )
  }

  #trim(to: number): void {
    if (to === this.#base) return
    this.#buffer = this.#buffer.slice(to - this.#base)
    this.#base = to
  }

  #slice(from: number, to: number): string {
    return this.#buffer.slice(from - this.#base, to - this.#base)
  }
}
