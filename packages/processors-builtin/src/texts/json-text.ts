// Rewrites JSON that comes in pieces, as the arguments of a tool call do: each string by its meaning, whatever its
// escapes, and so that the text stays JSON.
import type { RewrittenText } from './rewritten-text.ts'

/** A run of digits is read in pieces of this length. */
const maxNumberLength = 400

/** A shorter number is nothing that a pattern looks for. */
const minNumberLength = 8

const plain = /[^"\\]+/y
const wholeEscape = /\\(?:u[0-9a-fA-F]{4}|[^])/y
const partOfEscape = /\\(?:u[0-9a-fA-F]{0,3})?$/y
const number = /[\d.eE+-]{1,400}/y
const otherThanNumber = /(?:[^\d.eE+"-])+|"/y

/** Rewrites one JSON text. The texts that it opens come one for each string: no match spans two of them. */
export class JsonText implements RewrittenText {
  readonly #open: () => RewrittenText
  #string: RewrittenText | undefined
  /** An escape or a number that is not complete. */
  #rest = ''

  constructor(open: () => RewrittenText) {
    this.#open = open
  }

  push(piece: string): string {
    const text = this.#rest + piece
    this.#rest = ''
    let out = ''
    for (let index = 0; index < text.length;) {
      const token = this.#string ? tokenInString(text, index) : tokenOutside(text, index)
      if (token === undefined) {
        this.#rest = text.slice(index)
        break
      }
      out += this.#string ? this.#readInString(this.#string, token) : this.#readOutside(token)
      index += token.length
    }
    return out
  }

  end(): string {
    const rest = this.#string ? inQuotes(this.#string.end()) + this.#rest : this.#readOutside(this.#rest)
    this.#string = undefined
    this.#rest = ''
    return rest
  }

  #readInString(string: RewrittenText, token: string): string {
    if (token !== '"') return inQuotes(string.push(token.startsWith('\\') ? meaningOf(token) : token))
    this.#string = undefined
    return `${inQuotes(string.end())}"`
  }

  /** A number of which something must go becomes a string. */
  #readOutside(token: string): string {
    if (token === '"') this.#string = this.#open()
    if (token.length < minNumberLength || !/\d/.test(token)) return token
    const text = this.#open()
    const rewritten = text.push(token) + text.end()
    return rewritten === token ? token : JSON.stringify(rewritten)
  }
}

/** The quote, the escape or the run of plain characters at an index of a string; nothing for half an escape. */
function tokenInString(text: string, index: number): string | undefined {
  if (text[index] === '"') return '"'
  if (at(partOfEscape, text, index) !== undefined) return undefined
  return at(plain, text, index) ?? at(wholeEscape, text, index)
}

/** The number or the run of other characters at an index; nothing for a number that may go on. */
function tokenOutside(text: string, index: number): string | undefined {
  const digits = at(number, text, index)
  if (digits === undefined) return at(otherThanNumber, text, index)
  return index + digits.length === text.length && digits.length < maxNumberLength ? undefined : digits
}

function at(expression: RegExp, text: string, index: number): string | undefined {
  expression.lastIndex = index
  return expression.exec(text)?.[0]
}

/** Text as it stands inside the quotes of a JSON string. */
function inQuotes(text: string): string {
  return text === '' ? '' : JSON.stringify(text).slice(1, -1)
}

function meaningOf(escape: string): string {
  try {
    return JSON.parse(`"${escape}"`) as string
  } catch {
    return escape
  }
}
