// A text that comes in pieces, given on so that no character is cut in two.

/** Keeps the first half of a character back until the second one comes. */
export class WholeCharacters {
  #half = ''

  /** The text of the next piece, as far as its characters are whole. */
  take(piece: string): string {
    const text = this.#half + piece
    const last = text.charCodeAt(text.length - 1)
    const isCut = last >= 0xd800 && last <= 0xdbff
    this.#half = isCut ? text.slice(-1) : ''
    return isCut ? text.slice(0, -1) : text
  }

  /** At the end: the half for which nothing came. */
  rest(): string {
    const half = this.#half
    this.#half = ''
    return half
  }
}
