// Words that mix Latin letters with letters of other alphabets that only look Latin: `pаypal` with a Cyrillic а.
import unhomoglyph from 'unhomoglyph'
import { isAscii, type NormalForm } from './composed-text.ts'
import type { RewrittenText } from '../texts/rewritten-text.ts'

/** What a letter can be in a word. */
type LetterRole = 'none' | 'latin' | 'neutral' | 'foreign' | 'lookalike' | 'greek'

const letter = /\p{L}/u
const mark = /\p{M}/u
const latin = /\p{Script=Latin}/u
const greek = /\p{Script=Greek}/u
const neutral = /[\p{Script=Common}\p{Script=Inherited}]/u
const upperCase = /\p{Lu}/u
/** Greek letters in the midst of a word are letters of it; at its beginning they may be a quantity. */
const greekAtBeginning = /[οΟΑΒΕΖΗΙΚΜΝΡΤΥΧ]/
/** Alphabets that nobody writes within a Latin word. Words of others take Latin ones into them, as Hebrew does. */
const alphabets =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Canadian_Aboriginal}\p{Script=Deseret}\p{Script=Osage}\p{Script=Carian}\p{Script=Lycian}\p{Script=Old_Italic}\p{Script=Elbasan}\p{Script=Warang_Citi}\p{Script=Runic}\p{Script=Tifinagh}]/u

const maxWordLength = 64
/** So many letters have to be Latin before a Greek one is taken for one. */
const minLatinBesideGreek = 3
const maxKnownCount = 5_000

const roles = new Map<string, LetterRole>()

/** Folds one text that is in the given form. A letter that looks Latin waits until its word ends, or has a letter that does not. */
export class LookalikeWords implements RewrittenText {
  readonly #form: NormalForm | false
  readonly #onFold: () => void
  #latinCount = 0
  #hasGreek = false
  #foreign = false
  /** From the first letter on that looks Latin. */
  #held = ''
  #heldCount = 0

  constructor(form: NormalForm | false, onFold: () => void) {
    this.#form = form
    this.#onFold = onFold
  }

  push(piece: string): string {
    if (this.#held === '' && isAscii(piece)) {
      this.#note(piece)
      return piece
    }
    let out = ''
    for (const character of piece) out += this.#take(character)
    return out
  }

  end(): string {
    const rest = this.#settle()
    this.#latinCount = 0
    this.#hasGreek = false
    this.#foreign = false
    return rest
  }

  /** Latin letters at the end of a piece are the beginning of a word. */
  #note(piece: string): void {
    const [word] = /[A-Za-z]*$/.exec(piece)!
    if (word.length < piece.length) this.end()
    this.#latinCount += word.length
  }

  #take(character: string): string {
    const role = roleOf(character)
    if (role === 'none') return this.end() + character
    if (role === 'latin') this.#latinCount++
    const isGreek = role === 'greek'
    const folds = role === 'lookalike' || (isGreek && (this.#latinCount > 0 || greekAtBeginning.test(character)))
    if (role === 'foreign' || (isGreek && !folds)) {
      const rest = this.#held
      this.#clear()
      this.#foreign = true
      return rest + character
    }
    if (this.#foreign || (this.#held === '' && !folds)) return character
    this.#hasGreek ||= isGreek
    this.#held += character
    return ++this.#heldCount < maxWordLength ? '' : this.#settle()
  }

  #settle(): string {
    if (this.#held === '') return ''
    const held = this.#held
    this.#clear()
    if (this.#latinCount < (this.#hasGreek ? minLatinBesideGreek : 1)) return held
    this.#onFold()
    const folded = Array.from(held, latinOf).join('')
    return this.#form ? folded.normalize(this.#form) : folded
  }

  #clear(): void {
    this.#held = ''
    this.#heldCount = 0
  }
}

function roleOf(character: string): LetterRole {
  let role = roles.get(character)
  if (role === undefined) {
    if (roles.size >= maxKnownCount) roles.clear()
    roles.set(character, (role = newRoleOf(character)))
  }
  return role
}

function newRoleOf(character: string): LetterRole {
  if (!letter.test(character)) return mark.test(character) ? 'neutral' : 'none'
  if (latin.test(character)) return 'latin'
  if (neutral.test(character)) return 'neutral'
  if (!alphabets.test(character) || latinOf(character) === character) return 'foreign'
  return greek.test(character) ? 'greek' : 'lookalike'
}

/** The Latin letter that a letter of another alphabet looks like, or the letter itself. */
function latinOf(character: string): string {
  if (!alphabets.test(character)) return character
  const folded = unhomoglyph(character)
  if (!/^[A-Za-z]$/.test(folded)) return character
  // In the table a capital I looks like an l, since in many fonts it does.
  return folded === 'l' && upperCase.test(character) ? 'I' : folded
}
