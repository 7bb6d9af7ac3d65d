// One text on its way out, with what it has of the prompt taken out of it.
import { LetterReader, weightOf, type PassageReading, type PromptIndex } from './prompt-index.ts'
import type { RewrittenText } from '../texts/rewritten-text.ts'
import { WholeCharacters } from '../texts/whole-characters.ts'

/** How a text is scrubbed. */
export interface ScrubbingRules {
  readonly index: PromptIndex
  /** A passage of so many letters and digits is a leak; those of scripts that write a word in one or two count twice. */
  readonly minLength: number
  /** Takes the place of a leak; nothing when it stays. Called once for each, when it is certain. */
  readonly replace: () => string | undefined
}

/** A letter that was read: where its character begins, and what it counts. */
interface Letter {
  readonly start: number
  readonly weight: number
}

/** Letters that are no longer needed are dropped when there are so many of them. */
const maxSpentCount = 1_024

/**
 * Reads one text. Held is the longest end of it that is a passage of the prompt with which one of a leak's length
 * begins; what is known to be a leak is replaced at once.
 */
export class ScrubbedText implements RewrittenText {
  readonly #rules: ScrubbingRules
  readonly #reader = new LetterReader()
  readonly #reading: PassageReading = { state: 0, length: 0 }
  /** Those of the end that is a passage: from `#first` on. */
  #letters: Letter[] = []
  #first = 0
  #weight = 0
  /** The text from `#base` on; what is before is out. */
  #buffer = ''
  #base = 0
  #position = 0
  /** Where the last leak ends. */
  #leakEnd = -1
  #stays = false
  readonly #characters = new WholeCharacters()

  constructor(rules: ScrubbingRules) {
    this.#rules = rules
  }

  push(piece: string): string {
    const text = this.#characters.take(piece)
    this.#buffer += text
    let out = ''
    for (let index = 0; index < text.length;) {
      const codePoint = text.codePointAt(index)!
      const width = codePoint > 0xffff ? 2 : 1
      index += width
      const letters = this.#reader.next(codePoint)
      const start = this.#position
      this.#position += width
      for (let at = 0; at < letters.length; at++) out += this.#read(letters.charCodeAt(at), start)
    }
    return out + this.#writeTo(this.#heldFrom())
  }

  end(): string {
    const half = this.#characters.rest()
    this.#buffer += half
    this.#position += half.length
    return this.#writeTo(this.#position)
  }

  #read(letter: number, start: number): string {
    const { index, minLength } = this.#rules
    const reading = this.#reading
    index.read(reading, letter)
    this.#letters.push({ start, weight: weightOf(letter) })
    this.#weight += weightOf(letter)
    this.#forget()
    while (reading.length > 0 && this.#weight + index.weightAhead(reading) < minLength) {
      index.shorten(reading)
      this.#forget()
    }
    if (this.#first > maxSpentCount) {
      this.#letters = this.#letters.slice(this.#first)
      this.#first = 0
    }
    return this.#weight < minLength ? '' : this.#leak()
  }

  /** Drops the letters that are not in the passage any more. */
  #forget(): void {
    while (this.#letters.length - this.#first > this.#reading.length)
      this.#weight -= this.#letters[this.#first++]!.weight
  }

  /** What was read last ends a leak: it begins one, or goes on with one. */
  #leak(): string {
    const start = this.#heldFrom()
    const goesOn = start <= this.#leakEnd
    let out = ''
    if (!goesOn) {
      out = this.#writeTo(start)
      const replacement = this.#rules.replace()
      this.#stays = replacement === undefined
      out += replacement ?? ''
    }
    this.#leakEnd = this.#position
    return out + (this.#stays ? this.#writeTo(this.#position) : this.#skipTo(this.#position))
  }

  #heldFrom(): number {
    return this.#letters[this.#first]?.start ?? this.#position
  }

  #writeTo(end: number): string {
    if (end <= this.#base) return ''
    const out = this.#buffer.slice(0, end - this.#base)
    this.#skipTo(end)
    return out
  }

  #skipTo(end: number): string {
    this.#buffer = this.#buffer.slice(end - this.#base)
    this.#base = end
    return ''
  }
}
