// What somebody meant by the array of messages that they returned, said as edits.
import type { Edit } from './change.ts'
import { MessageListError } from './errors.ts'
import { findLastTool } from './merge.ts'
import { isStored, storedMessage, type AgentMessage, type MessageSource, type ToolPart } from './message.ts'
import { settle, type Home, type Reading } from './message-draft.ts'
import { readInputs, type MessageInput } from './read-input.ts'
import { draftOf, sharedMessage } from './read-stored.ts'
import type { SystemMessage } from './system-message.ts'
import { changedTool, type ToolChange } from './tool-state.ts'

/** Where returned messages come home to. A `MessageList` is one. */
export interface ReturnHome {
  readonly list: Home & { find(id: string): AgentMessage | undefined }
  /** The source of messages that are new. */
  readonly source: MessageSource
}

/** What a returned array means. System messages are never in the conversation: they are to be added to the instructions. */
export interface ReturnedEdits {
  readonly edits: readonly Edit[]
  readonly systemMessages: readonly SystemMessage[]
}

const nothing: ReturnedEdits = Object.freeze({ edits: Object.freeze([]), systemMessages: Object.freeze([]) })

/**
 * Compares a returned array with the one that was given. A message that is missing was removed; the same object is
 * untouched; another object with the id is a replacement; one without an id, or with an unknown one, is new and stands
 * after its left neighbour; the order is the new order. Model messages and strings are accepted.
 *
 * Throws: what `add` throws for a message that cannot be read, and `invalid-edit` for a message that is there twice.
 */
export function returnedEdits(given: readonly AgentMessage[], returned: readonly MessageInput[], home: ReturnHome): ReturnedEdits {
  if (returned === given || (returned.length === given.length && returned.every((message, index) => message === given[index]))) return nothing
  const reader = new ReturnReader(given, home)
  reader.read(returned)
  return reader.result()
}

class ReturnReader {
  readonly #given: ReadonlyMap<string, AgentMessage>
  readonly #home: ReturnHome
  readonly #messages: AgentMessage[] = []
  readonly #systemMessages: SystemMessage[] = []

  constructor(given: readonly AgentMessage[], home: ReturnHome) {
    this.#given = new Map(given.map(message => [message.id, message]))
    this.#home = home
  }

  /** Reads stretches of what is not simply a given message together: model messages belong to their neighbours. */
  read(returned: readonly MessageInput[]): void {
    let start = 0
    for (let index = 0; index <= returned.length; index++) {
      const message = returned[index]
      if (index < returned.length && !this.#isGiven(message)) continue
      for (const reading of readInputs(returned.slice(start, index), this.#home.source)) this.#take(reading)
      if (message !== undefined) this.#messages.push(message as AgentMessage)
      start = index + 1
    }
  }

  #isGiven(message: MessageInput | undefined): boolean {
    return isStored(message) && this.#given.get(message.id) === message
  }

  #take(reading: Reading): void {
    switch (reading.type) {
      case 'system':
        this.#systemMessages.push(reading.message)
        return
      case 'outcome':
        return this.#change(part => part.toolCallId === reading.toolCallId, reading.change, reading)
      case 'answer': {
        const { approvalId: id, approved, reason } = reading
        const approval = { id, approved, ...(reason === undefined ? {} : { reason }) }
        return this.#change(part => part.approval?.id === id, { state: 'approval-responded', approval }, reading)
      }
      case 'message':
        this.#messages.push(this.#message(reading))
    }
  }

  #message({ draft, stored }: Extract<Reading, { type: 'message' }>): AgentMessage {
    const { list } = this.#home
    const base = draft.id === undefined ? undefined : (this.#given.get(draft.id) ?? list.find(draft.id))
    if (base !== undefined) return sharedMessage(base, stored ?? settle({ ...draftOf(base), ...draft }, base.id, list))
    return stored ?? settle(draft, draft.id ?? list.generateId(), list)
  }

  /** A result in a returned array belongs to a call in that array. */
  #change(matches: (part: ToolPart) => boolean, change: ToolChange, { path }: { readonly path: string }): void {
    const place = findLastTool(position => this.#messages[position], this.#messages.length, matches)
    if (place === undefined) {
      throw new MessageListError('unknown-tool-call', `${path} is about a tool call that no message before it makes. Return the message with the call as well, or leave the result out.`, { path })
    }
    const message = this.#messages[place.position]!
    const parts = [...message.content.parts]
    parts[place.index] = changedTool(parts[place.index] as ToolPart, change, path)
    this.#messages[place.position] = sharedMessage(message, storedMessage({ ...message, content: { ...message.content, parts } }))
  }

  result(): ReturnedEdits {
    const ids = new Set(this.#messages.map(message => message.id))
    if (ids.size < this.#messages.length) {
      const twice = this.#messages.find((message, index) => this.#messages.findIndex(other => other.id === message.id) < index)!
      throw new MessageListError('invalid-edit', `The returned array has the message "${twice.id}" twice. Return each message once; a copy needs an id of its own.`)
    }
    const edits = [...this.#removals(ids), ...this.#replacements(), ...this.#order(ids), ...this.#insertions()]
    return Object.freeze({ edits: Object.freeze(edits), systemMessages: Object.freeze(this.#systemMessages) })
  }

  #isOld(message: AgentMessage): boolean {
    return this.#given.has(message.id) || this.#home.list.find(message.id) !== undefined
  }

  #removals(ids: ReadonlySet<string>): readonly Edit[] {
    return [...this.#given.keys()].filter(id => !ids.has(id)).map(id => ({ type: 'remove', id }))
  }

  #replacements(): readonly Edit[] {
    return this.#messages
      .filter(message => this.#isOld(message) && (this.#given.get(message.id) ?? this.#home.list.find(message.id)) !== message)
      .map(message => ({ type: 'replace', message }))
  }

  #order(ids: ReadonlySet<string>): readonly Edit[] {
    const before = [...this.#given.keys()].filter(id => ids.has(id))
    const after = this.#messages.filter(message => this.#given.has(message.id)).map(message => message.id)
    return before.every((id, index) => id === after[index]) ? [] : [{ type: 'order', ids: after }]
  }

  #insertions(): readonly Edit[] {
    const edits: Edit[] = []
    for (const [index, message] of this.#messages.entries()) {
      if (this.#isOld(message)) continue
      edits.push({ type: 'insert', message, source: this.#home.source, ...this.#placeOf(index) })
    }
    return edits
  }

  /** After the left neighbour; at the beginning, before the first message that is not new. */
  #placeOf(index: number): { readonly after?: string; readonly before?: string } {
    if (index > 0) return { after: this.#messages[index - 1]!.id }
    const before = this.#messages.find(message => this.#isOld(message))?.id
    return before === undefined ? {} : { before }
  }
}
