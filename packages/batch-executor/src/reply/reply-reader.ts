// A reply as it is heard: what it read from the user is there before the first word of its message.
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'
import type { AnswerPiece } from '../model/model-call.ts'
import { sameJson } from '../frozen-json.ts'
import { isWholeHead, noMessage, readReply, type FieldLookup, type Reply } from './reply.ts'
import { ReplyText } from './reply-text.ts'

/** Hears the reply to one prompt. */
export class ReplyReader {
  readonly #prompt: BatchPrompt
  readonly #fields: FieldLookup
  #text = new ReplyText()
  #message = ''
  #head: Reply | undefined

  constructor(prompt: BatchPrompt, fields: FieldLookup) {
    this.#prompt = prompt
    this.#fields = fields
  }

  /** What the reply says beside its message, once that is complete and the message has begun. */
  get head(): Reply | undefined {
    return this.#head
  }

  /** The message so far; `''` as long as there is no head. */
  get message(): string {
    return this.#head === undefined ? '' : this.#message
  }

  /** Hears one more piece, or that all that was heard was withdrawn. */
  hear(piece: AnswerPiece): void {
    if (typeof piece !== 'string') return this.#reset()
    this.#message += this.#text.push(piece)
    const { head } = this.#text
    if (head === undefined || this.#head !== undefined || !isWholeHead(head, this.#prompt.schema)) return
    this.#head = readReply(head, this.#contextOf())
  }

  #reset(): void {
    this.#text = new ReplyText()
    this.#message = ''
    this.#head = undefined
  }

  /** Takes the whole output. *Throws* `invalid-reply` when the message is missing that was asked for. */
  finish(output: unknown): Reply {
    const reply = readReply(output, this.#contextOf())
    const required = this.#prompt.schema['required'] as readonly string[]
    if (reply.message === undefined && required.includes('message')) throw noMessage(output)
    const { head } = this
    if (head !== undefined && !sameJson(withoutMessage(head), withoutMessage(reply))) this.#reset()
    return reply
  }

  #contextOf() {
    return { names: this.#prompt.names, fields: this.#fields }
  }
}

function withoutMessage({ message: _, ...head }: Reply): object {
  return head
}
