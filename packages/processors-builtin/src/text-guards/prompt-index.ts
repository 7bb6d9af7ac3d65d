// The passages of a text, however they are written: what of another text is one of them, found while it is read.
import { foldCharacter, isInvisible } from '../redaction/character-fold.ts'

/** Stands between two texts; no letter is folded to it. */
const border = '\uffff'

const root = 0
const maxKnownCount = 5_000
const foldedAscii = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[a-z0-9]/i.test(character) ? character.toLowerCase() : ''
})
const foldedOthers = new Map<number, string>()
const letterOrNumber = /[\p{L}\p{N}]/u

/** The letters and digits that a character stands for, without case, accents and forms; nothing for the rest. */
function lettersOf(codePoint: number): string {
  if (codePoint < 128) return foldedAscii[codePoint]!
  let folded = foldedOthers.get(codePoint)
  if (folded === undefined) {
    if (foldedOthers.size >= maxKnownCount) foldedOthers.clear()
    foldedOthers.set(codePoint, (folded = newLettersOf(codePoint)))
  }
  return folded
}

function newLettersOf(codePoint: number): string {
  if (isInvisible(codePoint)) return ''
  const plain = String.fromCodePoint(foldCharacter(codePoint)).normalize('NFKD').toUpperCase().toLowerCase()
  return Array.from(plain.normalize('NFKD'))
    .filter(character => letterOrNumber.test(character))
    .join('')
}

const newline = 0x0a
const backslash = 0x5c
const dot = 0x2e
const bracket = 0x29
const anyDigit = /^\p{N}+$/u

/**
 * Reads the letters of a text, character by character. The number of an item counts for nothing, so that a list says the
 * same with and without numbers; neither do the letters of `\\n`, `\\r` and `\\t`, which JSON has in its strings.
 */
export class LetterReader {
  #beginsLine = true
  #isEscaped = false
  /** What may be the number of an item. */
  #number = ''

  /** The letters that are certain with this character: also those of a number before it. */
  next(codePoint: number): string {
    const isEscaped = this.#isEscaped
    this.#isEscaped = codePoint === backslash
    if (codePoint === newline) this.#beginsLine = true
    const letters = lettersOf(codePoint)
    if (this.#beginsLine && letters !== '' && anyDigit.test(letters)) {
      this.#number += letters
      return ''
    }
    const number = codePoint === dot || codePoint === bracket ? '' : this.#number
    this.#number = ''
    if (isEscaped && (letters === 'n' || letters === 'r' || letters === 't')) {
      this.#beginsLine = true
      return number
    }
    if (letters !== '' || number !== '') this.#beginsLine = codePoint === newline
    return number + letters
  }

  /** The letters that were not certain at the end of the text. */
  end(): string {
    return this.#number
  }
}

/** The letters and digits of a text, one after the other. */
function foldedLetters(text: string): string {
  const reader = new LetterReader()
  let folded = ''
  for (const character of text) folded += reader.next(character.codePointAt(0)!)
  return folded + reader.end()
}

/** What a letter counts: in Chinese and Japanese a word has one or two of them. */
export function weightOf(letter: number): number {
  return letter >= 0x2e80 && letter < 0xd800 ? 2 : 1
}

/** Where reading stands: the longest end of what was read that is a passage. Two numbers, so that reading allocates nothing. */
export interface PassageReading {
  state: number
  /** How many letters of the end are one. */
  length: number
}

/**
 * All passages of some texts, as a suffix automaton: a state stands for passages that go on in the same ways.
 *
 * *Cost*: two states and three ways at most for each letter; reading a letter is a step, or as many steps back as steps
 * were made before.
 */
export class PromptIndex {
  /** By state: the length of its longest passage, the state of the longest end of it that goes on in other ways. */
  readonly #lengths: number[] = [0]
  readonly #links: number[] = [-1]
  /** By state: the first of its ways; by way: its letter, where it leads, the next way of the state. */
  readonly #firstWay: number[] = [-1]
  readonly #letters: number[] = []
  readonly #targets: number[] = []
  readonly #nextWay: number[] = []
  /** The beginning has a way for every letter. */
  readonly #beginnings = new Map<number, number>()
  /** By state: what the letters count that may follow its passages in the texts, at most. */
  readonly #ahead: number[] = [0]
  #last = root

  /** Passages of what is `allowed` are none of the texts'. */
  constructor(texts: readonly string[], allowed: readonly string[] = []) {
    let folded = texts.map(foldedLetters).join(border)
    for (const text of allowed) {
      const letters = foldedLetters(text)
      if (letters !== '') folded = folded.replaceAll(letters, border)
    }
    const ahead = weightsAhead(folded)
    for (let index = 0; index < folded.length; index++) {
      this.#append(folded.charCodeAt(index))
      this.#ahead[this.#last] = ahead[index]!
    }
    this.#spreadAhead()
  }

  /** What the letters count at most with which a passage that was read goes on. */
  weightAhead({ state }: PassageReading): number {
    return this.#ahead[state]!
  }

  /** Gives up on a passage: what is left is the longest end of it that goes on in other ways too. */
  shorten(reading: PassageReading): void {
    const link = reading.state === root ? root : this.#links[reading.state]!
    reading.state = link
    reading.length = this.#lengths[link]!
  }

  /** Reads one more letter. */
  read(reading: PassageReading, letter: number): void {
    let { state } = reading
    let target = this.#target(state, letter)
    while (target === -1 && state !== root) {
      state = this.#links[state]!
      reading.length = this.#lengths[state]!
      target = this.#target(state, letter)
    }
    reading.state = target === -1 ? root : target
    reading.length = target === -1 ? 0 : reading.length + 1
  }

  #append(letter: number): void {
    const added = this.#newState(this.#lengths[this.#last]! + 1)
    let state = this.#last
    while (state !== -1 && this.#target(state, letter) === -1) {
      this.#setTarget(state, letter, added)
      state = this.#links[state]!
    }
    this.#links[added] = state === -1 ? root : this.#linkFor(state, letter)
    this.#last = added
  }

  /** The state of the passages that `state` has before the letter: its target, or the part of it that is short enough. */
  #linkFor(state: number, letter: number): number {
    const target = this.#target(state, letter)
    const length = this.#lengths[state]! + 1
    if (this.#lengths[target] === length) return target
    const part = this.#newState(length)
    for (let way = this.#firstWay[target]!; way !== -1; way = this.#nextWay[way]!)
      this.#setTarget(part, this.#letters[way]!, this.#targets[way]!)
    this.#links[part] = this.#links[target]!
    this.#links[target] = part
    for (let at = state; at !== -1 && this.#target(at, letter) === target; at = this.#links[at]!)
      this.#setTarget(at, letter, part)
    return part
  }

  /** What may follow a passage may follow the ends of it. */
  #spreadAhead(): void {
    const byLength = Array.from(this.#lengths.keys()).sort((one, other) => this.#lengths[other]! - this.#lengths[one]!)
    for (const state of byLength) {
      const link = this.#links[state]!
      if (link !== -1) this.#ahead[link] = Math.max(this.#ahead[link]!, this.#ahead[state]!)
    }
  }

  #newState(length: number): number {
    this.#links.push(-1)
    this.#firstWay.push(-1)
    this.#ahead.push(0)
    return this.#lengths.push(length) - 1
  }

  #wayOf(state: number, letter: number): number {
    if (state === root) return this.#beginnings.get(letter) ?? -1
    let way = this.#firstWay[state]!
    while (way !== -1 && this.#letters[way] !== letter) way = this.#nextWay[way]!
    return way
  }

  #target(state: number, letter: number): number {
    const way = this.#wayOf(state, letter)
    return way === -1 ? -1 : this.#targets[way]!
  }

  #setTarget(state: number, letter: number, target: number): void {
    const known = this.#wayOf(state, letter)
    if (known !== -1) {
      this.#targets[known] = target
      return
    }
    const way = this.#letters.push(letter) - 1
    this.#targets.push(target)
    this.#nextWay.push(this.#firstWay[state]!)
    this.#firstWay[state] = way
    if (state === root) this.#beginnings.set(letter, way)
  }
}

/** By letter: what those after it count, up to the end of its text. */
function weightsAhead(folded: string): readonly number[] {
  const ahead = Array.from<number>({ length: folded.length }).fill(0)
  for (let index = folded.length - 2; index >= 0; index--) {
    const next = folded.charCodeAt(index + 1)
    ahead[index] = next === border.charCodeAt(0) ? 0 : ahead[index + 1]! + weightOf(next)
  }
  return ahead
}
