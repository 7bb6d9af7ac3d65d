// Whether a processor that handles text in pieces changed the text, or only where it is cut.

/** Compares two texts that come in pieces. Keeps only what one side is ahead of the other. */
export class TextComparison {
  #before = ''
  #after = ''
  #regrouped = false
  #changed = false

  /** Enters what came in, and what went out for it. */
  enter(before: string, after: string): void {
    if (this.#changed) return
    if (before === after && this.#before === '' && this.#after === '') return
    this.#regrouped = true
    this.#before += before
    this.#after += after
    const length = Math.min(this.#before.length, this.#after.length)
    if (this.#before.slice(0, length) !== this.#after.slice(0, length)) this.#changed = true
    this.#before = this.#before.slice(length)
    this.#after = this.#after.slice(length)
  }

  /** The verdict when both texts have ended. */
  get verdict(): 'same' | 'regrouped' | 'changed' {
    if (this.#changed || this.#before !== this.#after) return 'changed'
    return this.#regrouped ? 'regrouped' : 'same'
  }
}
