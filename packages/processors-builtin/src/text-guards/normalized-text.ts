// One text on its way through the normalizer: hidden characters go, letters are composed, words are read as Latin.
import { CodeSpans } from './code-spans.ts'
import { ComposedText, isAscii, type NormalForm } from './composed-text.ts'
import {
  hiddenKind,
  isHidden,
  isRightToLeft,
  maxMeaningfulCount,
  meaningOf,
  type HiddenKind,
} from './hidden-characters.ts'
import { LookalikeWords } from './lookalike-words.ts'
import { chainTexts, type RewrittenText } from '../texts/rewritten-text.ts'
import { WholeCharacters } from '../texts/whole-characters.ts'

/** What the normalizer changes a text for. */
export type NormalizedKind = HiddenKind | 'confusables'

/** How texts are normalized. */
export interface NormalizingRules {
  readonly form: NormalForm | false
  readonly confusables: boolean
  readonly onFinding: (kind: NormalizedKind) => void
}

const newline = '\n'
const mark = /\p{M}/u

/** Normalizes one text. What stands in code keeps its letters, and loses only what has no meaning there either. */
export class NormalizedText implements RewrittenText {
  readonly #rules: NormalizingRules
  readonly #code = new CodeSpans()
  readonly #letters: RewrittenText
  /** Text that is not code and has not been through `#letters`. */
  #plain = ''
  #run: number[] = []
  /** The last visible character that is no mark on another. */
  #before = ''
  #rightToLeft = false
  #inCode = false
  readonly #characters = new WholeCharacters()

  constructor(rules: NormalizingRules) {
    this.#rules = rules
    this.#letters = chainTexts([
      ...(rules.form ? [new ComposedText(rules.form)] : []),
      ...(rules.confusables ? [new LookalikeWords(rules.form, () => rules.onFinding('confusables'))] : []),
    ])
  }

  push(piece: string): string {
    const text = this.#characters.take(piece)
    if (text === '') return ''
    if (this.#run.length > 0 || !isAscii(text)) return this.#read(text) + this.#flushPlain()
    return this.#readAscii(text) + this.#flushPlain()
  }

  end(): string {
    const out = this.#read(this.#characters.rest()) + this.#settleRun('')
    return out + this.#flushPlain() + this.#letters.end()
  }

  #readAscii(text: string): string {
    let out = ''
    let start = 0
    for (let index = 0; index < text.length; index++)
      if (this.#code.take(text.charCodeAt(index)) !== this.#inCode) {
        out += this.#write(text.slice(start, index))
        out += this.#turn()
        start = index
      }
    out += this.#write(text.slice(start))
    this.#before = text.slice(-1)
    if (text.includes(newline)) this.#rightToLeft = false
    return out
  }

  #read(text: string): string {
    let out = ''
    for (const character of text) {
      const codePoint = character.codePointAt(0)!
      if (isHidden(codePoint) && !(this.#inCode && hiddenKind(codePoint) === 'zero-width')) this.#hold(codePoint)
      else out += this.#see(character, codePoint)
    }
    return out
  }

  #hold(codePoint: number): void {
    if (this.#run.length <= maxMeaningfulCount) this.#run.push(codePoint)
  }

  #see(character: string, codePoint: number): string {
    let out = this.#run.length > 0 ? this.#settleRun(character) : ''
    if (this.#code.take(codePoint) !== this.#inCode) out += this.#turn()
    out += this.#write(character)
    if (codePoint < 0x300 || !mark.test(character)) this.#before = character
    if (character === newline) this.#rightToLeft = false
    else if (!this.#rightToLeft && codePoint >= 0x590) this.#rightToLeft = isRightToLeft(character)
    return out
  }

  #settleRun(after: string): string {
    const run = this.#run
    if (run.length === 0) return ''
    this.#run = []
    const kept = meaningOf(run, { before: this.#before, after, rightToLeft: this.#rightToLeft })
    if (kept.length < String.fromCodePoint(...run).length)
      this.#rules.onFinding(
        hiddenKind(run.find(codePoint => !kept.includes(String.fromCodePoint(codePoint))) ?? run[0]!),
      )
    return this.#write(kept)
  }

  /** Goes from text to code, or from code to text. */
  #turn(): string {
    const out = this.#inCode ? '' : this.#flushPlain() + this.#letters.end()
    this.#inCode = !this.#inCode
    return out
  }

  #write(text: string): string {
    if (this.#inCode) return text
    this.#plain += text
    return ''
  }

  #flushPlain(): string {
    const plain = this.#plain
    this.#plain = ''
    return plain === '' ? '' : this.#letters.push(plain)
  }
}
