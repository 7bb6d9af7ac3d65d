// Repetition: at the end of a row of things, and in a text that comes in pieces.

/** The same round again and again at the end of a row. */
export interface Repetition {
  /** How many things one round has. */
  readonly roundLength: number
  /** How many things at the end are in rounds. */
  readonly length: number
}

/** Finds the shortest round that a row ends with at least so often; things that are `undefined` are like no other. */
export function repetitionAtEnd(
  row: readonly (string | undefined)[],
  { repeats, maxRoundLength }: { readonly repeats: number; readonly maxRoundLength: number },
): Repetition | undefined {
  for (let roundLength = 1; roundLength <= maxRoundLength; roundLength++) {
    let length = row.at(-1) === undefined ? 0 : roundLength
    while (length > 0 && length < row.length) {
      const thing = row[row.length - 1 - length]
      if (thing === undefined || thing !== row[row.length - 1 - length + roundLength]) break
      length++
    }
    if (length >= repeats * roundLength && length <= row.length) return { roundLength, length }
  }
  return undefined
}

const roundCount = 5
const lookEvery = 64

/** Watches a text for a tail that is nothing but one passage again and again. */
export class TextRepetition {
  readonly #length: number
  #tail = ''
  #sinceLook = 0

  /** `length` is how many characters of repetition it takes. */
  constructor(length: number) {
    this.#length = length
  }

  /** Reads the next piece. Gives the passage when the text has begun to repeat it. Cost: a few steps a character. */
  push(piece: string): string | undefined {
    for (let index = 0; index < piece.length;) {
      const end = Math.min(piece.length, index + lookEvery - this.#sinceLook)
      this.#tail = (this.#tail + piece.slice(index, end)).slice(-this.#length)
      this.#sinceLook += end - index
      index = end
      if (this.#sinceLook < lookEvery) break
      this.#sinceLook = 0
      const passage = this.#tail.length < this.#length ? undefined : repeatedPassage(this.#tail)
      if (passage !== undefined) return passage
    }
    return undefined
  }
}

/** The passage that the whole text repeats; words only, since tables and data repeat themselves rightly. */
function repeatedPassage(text: string): string | undefined {
  const borders = new Int32Array(text.length)
  for (let index = 1, border = 0; index < text.length; index++) {
    while (border > 0 && text[index] !== text[border]) border = borders[border - 1]!
    if (text[index] === text[border]) border++
    borders[index] = border
  }
  const roundLength = text.length - borders[text.length - 1]!
  if (text.length / roundLength < roundCount) return undefined
  const passage = text.slice(0, roundLength)
  return /\p{L}{3}/u.test(passage + passage) ? passage : undefined
}
