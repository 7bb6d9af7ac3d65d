// Unicode's normal forms of a text that comes in pieces.
import type { RewrittenText } from '../texts/rewritten-text.ts'

/** The forms that keep what a text looks like, and its letters one character each. */
export type NormalForm = 'NFC' | 'NFKC'

/** A character that may become one with what is before it. */
const joinsBefore = /[\p{M}\u1160-\u11ff\u{16d63}-\u{16d6a}]/u

/** A character that becomes one with nothing that follows. */
const settled = /[\p{N}\p{P}\p{Z}\p{C}\p{Ideographic}\p{Extended_Pictographic}]/u

/** More marks on one letter than this are written without waiting for the next. */
const maxSegmentLength = 128

/** Normalizes one text: a letter waits for the marks that may become one with it. */
export class ComposedText implements RewrittenText {
  readonly #form: NormalForm
  #held = ''

  constructor(form: NormalForm) {
    this.#form = form
  }

  push(piece: string): string {
    if (piece === '') return ''
    return isAscii(piece) ? this.#pushAscii(piece) : this.#pushAny(piece)
  }

  end(): string {
    const rest = this.#held.normalize(this.#form)
    this.#held = ''
    return rest
  }

  #pushAscii(piece: string): string {
    const out = this.end()
    if (!/[A-Za-z<=>]$/.test(piece)) return out + piece
    this.#held = piece.slice(-1)
    return out + piece.slice(0, -1)
  }

  #pushAny(piece: string): string {
    let out = ''
    let ready = ''
    let held = this.#held
    for (const character of piece) {
      if (held.length >= maxSegmentLength) {
        out += (ready + held).normalize(this.#form)
        ready = ''
        held = ''
      } else if (held !== '' && !this.#joins(character)) {
        ready += held
        held = ''
      }
      held += character
    }
    if (this.#isSettled(held)) {
      ready += held
      held = ''
    }
    this.#held = held
    return out + ready.normalize(this.#form)
  }

  #joins(character: string): boolean {
    const codePoint = character.codePointAt(0)!
    if (codePoint < 0x300 || (codePoint >= 0x4e00 && codePoint <= 0x9fff)) return false
    return joinsBefore.test(
      this.#form === 'NFC' ? character : String.fromCodePoint(character.normalize('NFKD').codePointAt(0)!),
    )
  }

  #isSettled(held: string): boolean {
    const isOne = held.length === (held.codePointAt(0)! > 0xffff ? 2 : 1)
    return isOne && settled.test(held) && held.normalize(this.#form) === held
  }
}

/** Tells whether a text has nothing but ASCII. */
export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}
