// A reply while it is being written: what comes before its message, as soon as that is complete, then the message itself.

/** Reads the JSON text of a reply piece by piece. The result does not depend on where the pieces are cut. */
export class ReplyText {
  #text = ''
  #place = 0
  #depth = 0
  #inString = false
  #stringStart = 0
  /** The last string at the top level, which is a key when a colon follows. */
  #key: { readonly start: number; readonly name: string } | undefined
  #state: 'head' | 'message' | 'over' = 'head'
  #head: Readonly<Record<string, unknown>> | undefined

  /** The properties before `message`, once the message has begun. */
  get head(): Readonly<Record<string, unknown>> | undefined {
    return this.#head
  }

  /** Takes the next piece and returns what it adds to the message. */
  push(piece: string): string {
    this.#text += piece
    if (this.#state === 'head') this.#readHead()
    return this.#state === 'message' ? this.#readMessage() : ''
  }

  #readHead(): void {
    for (; this.#place < this.#text.length; this.#place += 1) {
      const character = this.#text.charAt(this.#place)
      if (this.#inString) {
        if (character === '\\') this.#place += 1
        else if (character === '"') this.#endString()
      } else if (character === '"') {
        if (this.#key?.name === 'message' && this.#depth === 1) return this.#beginMessage(this.#key.start)
        this.#inString = true
        this.#stringStart = this.#place
      } else if (character === '{' || character === '[') this.#depth += 1
      else if (character === '}' || character === ']') this.#depth -= 1
      else if (character === ',') this.#key = undefined
    }
  }

  #endString(): void {
    this.#inString = false
    if (this.#key !== undefined) return
    this.#key = { start: this.#stringStart, name: this.#text.slice(this.#stringStart + 1, this.#place) }
  }

  #beginMessage(keyStart: number): void {
    const before = this.#text.slice(0, keyStart).trimEnd().replace(/,$/, '')
    const head = parsed(`${before}}`)
    this.#state = typeof head === 'object' && head !== null ? 'message' : 'over'
    if (this.#state === 'message') this.#head = head as Readonly<Record<string, unknown>>
    this.#place += 1
  }

  #readMessage(): string {
    const raw = this.#text.slice(this.#place)
    // Up to the end of the string, or to the last character that is complete.
    const [whole = ''] = /^(?:[^"\\]+|\\u[0-9a-fA-F]{4}|\\[^u])*/.exec(raw) ?? []
    const ends = raw.startsWith('"', whole.length)
    const safe = ends ? whole : whole.replace(/(?:[\uD800-\uDBFF]|\\u[dD][89abAB][0-9a-fA-F]{2})$/, '')
    const text = parsed(`"${safe}"`)
    if (ends || typeof text !== 'string') this.#state = 'over'
    this.#place += safe.length
    return typeof text === 'string' ? text : ''
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
