// Cuts a text that comes in pieces into windows that end where a sentence ends. Where it cuts depends on the text alone.

const sentenceEnd = new Set('.!?…')
const closing = new Set('"\'”’»)]}*_`')
/** Ends of sentences that have no space after them. */
const fullWidthEnd = new Set('。！？｡')
/** So much longer than it should be may a window become while an end of a sentence is looked for. */
const longestSearch = 1_000

/** The windows of one text. */
export class TextWindows {
  readonly #size: number
  readonly #longest: number
  /** The window that is not complete. */
  #text = ''
  #sentenceEnds = false
  /** Where a word began last, beyond the size. */
  #wordStart = 0

  /** *Units*: `size` in characters; a window has at most twice as many, and at most 1,000 more. */
  constructor(size: number) {
    this.#size = size
    this.#longest = size + Math.min(size, longestSearch)
  }

  /** Adds a piece and gives the windows that are complete. */
  push(piece: string): readonly string[] {
    const windows: string[] = []
    let start = 0
    let length = this.#text.length
    for (let index = 0; index < piece.length; index++) {
      const end = this.#endAfter(piece[index]!, ++length)
      if (end === undefined) continue
      const text = this.#text + piece.slice(start, index + 1)
      windows.push(text.slice(0, end))
      this.#text = text.slice(end)
      length = this.#text.length
      start = index + 1
      this.#wordStart = 0
    }
    this.#text += piece.slice(start)
    return windows
  }

  /** Gives what is left. */
  end(): string {
    const rest = this.#text
    this.#text = ''
    this.#sentenceEnds = false
    this.#wordStart = 0
    return rest
  }

  /** The length of the window that a character completes, when it is the last one of `length`. */
  #endAfter(character: string, length: number): number | undefined {
    const space = character === ' ' || character === '\n' || character === '\t'
    const ends = character === '\n' || fullWidthEnd.has(character) || (space && this.#sentenceEnds)
    this.#sentenceEnds = sentenceEnd.has(character) || (this.#sentenceEnds && closing.has(character))
    if (length < this.#size) return undefined
    if (ends) return length
    if (space) this.#wordStart = length
    if (length < this.#longest) return undefined
    if (this.#wordStart > 0) return this.#wordStart
    return isHighSurrogate(character) ? length - 1 : length
  }
}

function isHighSurrogate(character: string): boolean {
  return character >= '\ud800' && character <= '\udbff'
}

/** The windows of a text that is there. */
export function windowsOf(text: string, size: number): readonly string[] {
  const windows = new TextWindows(size)
  const complete = windows.push(text)
  const rest = windows.end()
  return rest === '' ? complete : [...complete, rest]
}
