// What patterns do not see of a link: that it is an image's, which `![` tells long before `](`, and what is hidden behind it.

const [bang, open, close, paren, newline] = ['!', '[', ']', '(', '\n'].map(unitOf)
const spaces: ReadonlySet<number> = new Set([' ', '\t', '\r', '\v', '\f'].map(unitOf))
/** Code, HTML and escapes, in which a bracket may be none. */
const doubtful: ReadonlySet<number> = new Set(['`', '<', '\\'].map(unitOf))
const queries: ReadonlySet<number> = new Set(['?', '#'].map(unitOf))

/** More brackets than this are not counted. */
const maxDepth = 100

/** Reads one text. Where two readers may see different brackets, what can be an image is one. */
export class LinkMarks {
  readonly #images = new Set<number>()
  readonly #queries = new Set<number>()
  /** Of the open brackets, whether an image begins there. */
  #open: boolean[] = []
  /** An image is open, and may have an end that is not seen here. */
  #isInDoubt = false
  /** Behind `![`, up to the first `](`: for readers that look for no more than that. */
  #isAwaited = false
  /** The bracket that was just read ended an image. */
  #endedImage = false
  /** Between a question mark and the next space. */
  #isInQuery = false
  #isBlank = false
  #before = 0
  #position = 0

  push(text: string): void {
    for (let index = 0; index < text.length; index++) this.#take(text.charCodeAt(index))
  }

  /** Whether the `](` at a place of the text ends an image. */
  isImageAt(position: number): boolean {
    return this.#images.has(position)
  }

  /** Whether a query that seems to end at a place goes on with something that may be invisible. */
  goesOnAt(position: number): boolean {
    return this.#queries.has(position)
  }

  #take(character: number): void {
    this.#readSpace(character)
    if (character === open) this.#openBracket()
    else if (character === close) this.#endedImage = this.#isInDoubt || this.#open.pop() === true
    else if (character === paren && this.#before === close) this.#noteAddress()
    else if (doubtful.has(character)) this.#isInDoubt ||= this.#open.includes(true)
    else if (queries.has(character)) this.#isInQuery = true
    else if (character > 0x7f && this.#before <= 0x7f && this.#isInQuery) this.#queries.add(this.#position)
    this.#before = character
    this.#position++
  }

  #readSpace(character: number): void {
    if (character === newline) {
      if (this.#isBlank) this.#endParagraph()
      this.#isBlank = true
      this.#isInQuery = false
    } else if (spaces.has(character)) this.#isInQuery = false
    else this.#isBlank = false
  }

  #openBracket(): void {
    const isImage = this.#before === bang
    if (isImage) this.#isAwaited = true
    if (this.#open.length < maxDepth) this.#open.push(isImage)
    else this.#isInDoubt = true
  }

  #noteAddress(): void {
    if (this.#endedImage || this.#isAwaited) this.#images.add(this.#position - 1)
    this.#isAwaited = false
  }

  #endParagraph(): void {
    this.#open = []
    this.#isInDoubt = false
  }
}

function unitOf(character: string): number {
  return character.charCodeAt(0)
}
