// Tells, character by character, what stands in Markdown code: between fences, or between backticks.

const tick = 0x60
const tilde = 0x7e
const newline = 0x0a

/** What may stand before a fence in its line: white space, quotes, items of lists. */
const opening = /[\s>*+\-\d.)]/

/**
 * Reads one text. Where the beginning of code says nothing about its end, code goes to the end of the paragraph, or for
 * a fence to the end of the text: nothing that is still to come changes what was said of a character.
 */
export class CodeSpans {
  #fence: { readonly mark: number; readonly length: number; infoLine: boolean } | undefined
  /** How many backticks end the inline code; 0 outside of it. */
  #span = 0
  /** The marks that were just read. */
  #mark = 0
  #length = 0
  #runOpensLine = false
  #atOpening = true
  #blank = true

  /** Reads a character and tells whether it is code; the marks around code count as code. */
  take(codePoint: number): boolean {
    if (codePoint === tick || codePoint === tilde) {
      if (codePoint !== this.#mark) this.#startRun(codePoint)
      this.#length++
      return codePoint === tick || this.#fence !== undefined || this.#span > 0
    }
    if (this.#mark !== 0) this.#settleRun()
    if (codePoint === newline) this.#endLine()
    else {
      if (this.#atOpening) this.#atOpening = opening.test(String.fromCharCode(codePoint))
      if (this.#blank) this.#blank = codePoint === 0x20 || codePoint === 0x09 || codePoint === 0x0d
    }
    return this.#fence !== undefined || this.#span > 0
  }

  #startRun(mark: number): void {
    if (this.#mark !== 0) this.#settleRun()
    this.#mark = mark
    this.#length = 0
    this.#runOpensLine = this.#atOpening
    this.#atOpening = false
    this.#blank = false
  }

  #settleRun(): void {
    const mark = this.#mark
    const length = this.#length
    this.#mark = 0
    const fence = this.#fence
    if (fence !== undefined) {
      if (mark !== fence.mark) return
      if (fence.infoLine && mark === tick) {
        // A fence has no backtick in its line: it was inline code.
        this.#fence = undefined
        this.#span = length === fence.length ? 0 : fence.length
      } else if (this.#runOpensLine && length >= fence.length) this.#fence = undefined
    } else if (this.#span > 0) {
      if (mark === tick && length === this.#span) this.#span = 0
    } else if (this.#runOpensLine && length >= 3) this.#fence = { mark, length, infoLine: true }
    else if (mark === tick) this.#span = length
  }

  #endLine(): void {
    if (this.#fence) this.#fence.infoLine = false
    if (this.#blank) this.#span = 0
    this.#atOpening = true
    this.#blank = true
  }
}
