// A text that ends where it is long enough: after a sentence, after a word, or at least after a character.
import type { RewrittenText } from '../texts/rewritten-text.ts'

/** What is left of a limit, for all texts of an answer together. */
export interface TextBudget {
  readonly limit: number
  used: number
  /** The limit was reached: nothing more is said. */
  isOver: boolean
}

/** How texts are capped. */
export interface CappingRules {
  readonly budget: TextBudget
  /** What a piece costs: a word with the white space behind it, 64 characters at most. */
  readonly costOf: (piece: string) => number
  /** So much before the limit the end of the text is looked for. */
  readonly margin: number
  /** A piece that is too long can be cut; otherwise it goes as a whole. */
  readonly splits: boolean
  /** What is said in place of the rest. Called once. */
  readonly notice: () => string
}

/** Scripts without spaces are read character by character. */
const single =
  '[\\p{Ideographic}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}]\\p{M}{0,16}'
const piecePattern = new RegExp(`${single}\\p{P}{0,16}\\s{0,64}|(?:(?!${single})\\S){1,64}\\s{0,64}|\\s{1,64}`, 'yu')
const sentenceEnd = /(?:[.!?…][)"'”’»\]]*\s+|[。！？]["'”’」』]*\s*|\n\s*)$/u
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Reads one text. Far from the limit it passes at once; near it, what follows the last sentence is held. */
export class CappedText implements RewrittenText {
  readonly #rules: CappingRules
  /** The piece that is being read, and how much of it has been shown. */
  #piece = ''
  #shownOfPiece = 0
  /** Pieces since the last sentence, near the limit. */
  #held = ''
  #sentenceNear = false

  constructor(rules: CappingRules) {
    this.#rules = rules
  }

  push(text: string): string {
    if (this.#rules.budget.isOver) return ''
    this.#piece += text
    return this.#takePieces(false)
  }

  end(): string {
    if (this.#rules.budget.isOver) return ''
    const out = this.#takePieces(true)
    const rest = this.#held
    this.#held = ''
    return out + rest
  }

  #takePieces(isEnd: boolean): string {
    const { budget } = this.#rules
    let out = ''
    for (;;) {
      const piece = this.#nextPiece(isEnd)
      if (piece === undefined) break
      out += this.#take(piece)
      if (budget.isOver) return out
    }
    if (this.#isNear()) return out
    const fresh = wholeCharacters(this.#piece)
    out += fresh.slice(this.#shownOfPiece)
    this.#shownOfPiece = fresh.length
    return out
  }

  /** The first piece, once it cannot become longer. */
  #nextPiece(isEnd: boolean): string | undefined {
    if (this.#piece === '') return undefined
    piecePattern.lastIndex = 0
    const piece = piecePattern.exec(this.#piece)?.[0] ?? this.#piece
    return piece.length < this.#piece.length || isEnd ? piece : undefined
  }

  #isNear(): boolean {
    const { budget, margin } = this.#rules
    return budget.used >= budget.limit - margin
  }

  #take(piece: string): string {
    const { budget, costOf } = this.#rules
    const isNear = this.#isNear()
    const shown = this.#shownOfPiece
    this.#piece = this.#piece.slice(piece.length)
    this.#shownOfPiece = 0
    const cost = costOf(piece)
    if (isNear && budget.used + cost > budget.limit) return this.#cut(piece)
    budget.used += cost
    if (!isNear) return piece.slice(shown)
    this.#held += piece
    if (!sentenceEnd.test(this.#held.slice(-128))) return ''
    const out = this.#held
    this.#held = ''
    this.#sentenceNear = true
    return out
  }

  #cut(piece: string): string {
    const { budget, splits, notice } = this.#rules
    const text = this.#held + piece
    const room = splits && this.#held === '' ? budget.limit - budget.used : this.#held.length
    const rest = this.#sentenceNear ? '' : firstCharacters(text, room)
    budget.isOver = true
    this.#held = ''
    this.#piece = ''
    return rest + notice()
  }
}

/** The beginning of a text, of no more than so many units, that ends between two characters as a reader sees them. */
function firstCharacters(text: string, length: number): string {
  let end = 0
  for (const { index, segment } of graphemes.segment(text))
    if (index + segment.length <= length) end = index + segment.length
  return text.slice(0, end)
}

function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}
