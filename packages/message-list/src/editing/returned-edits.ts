// What somebody meant by the array of messages that they returned, said as edits.
import type { Edit } from './change.ts'
import { MessageListError } from '../errors.ts'
import { frozen } from '../frozen-json.ts'
import { isStored, type AgentMessage, type MessageSource } from '../message.ts'
import { settle, updated, type Home, type Reading } from '../reading/message-draft.ts'
import { readInputs, type MessageInput } from '../reading/read-input.ts'
import { sharedMessage } from '../reading/read-stored.ts'
import { sharedEnds } from '../snapshot.ts'
import type { SystemMessage } from '../system-message.ts'
import { noSuchTool, placeOfTool, withChangedTool } from './tool-place.ts'

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
 * Cost: what changed, and a comparison of pointers.
 *
 * Throws: what `add` throws for a message that cannot be read, and `invalid-edit` for a message that is there twice.
 */
export function returnedEdits(
  given: readonly AgentMessage[],
  returned: readonly MessageInput[],
  home: ReturnHome,
): ReturnedEdits {
  if (returned === given) return nothing
  const { start, end } = sharedEnds(given, returned)
  if (start + end === given.length && given.length === returned.length) return nothing
  const reader = new ReturnReader(given, [start, given.length - end], home)
  reader.read(returned.slice(start, returned.length - end))
  return reader.result()
}

class ReturnReader {
  readonly #all: AgentMessage[]
  /** The given messages between the ends that both arrays share. */
  readonly #given: ReadonlyMap<string, AgentMessage>
  readonly #start: number
  readonly #leftId: string | undefined
  readonly #rightId: string | undefined
  readonly #home: ReturnHome
  readonly #messages: AgentMessage[] = []
  /** Messages before the changed ones that have got a result. */
  readonly #earlier = new Map<string, AgentMessage>()
  readonly #systemMessages: SystemMessage[] = []

  constructor(given: readonly AgentMessage[], [start, end]: readonly [start: number, end: number], home: ReturnHome) {
    this.#all = [...given]
    this.#given = new Map(given.slice(start, end).map(message => [message.id, message]))
    this.#start = start
    this.#leftId = given[start - 1]?.id
    this.#rightId = given[end]?.id
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

  result(): ReturnedEdits {
    const ids = new Set<string>()
    for (const { id } of this.#messages) {
      if (ids.has(id) || this.#isOutside(id)) {
        throw new MessageListError(
          'invalid-edit',
          `The returned array has the message "${id}" twice. Return each message once; a copy needs an id of its own.`,
        )
      }
      ids.add(id)
    }
    const edits = [...this.#removals(ids), ...this.#replacements(), ...this.#order(ids), ...this.#insertions()]
    return Object.freeze({ edits: Object.freeze(edits), systemMessages: Object.freeze(this.#systemMessages) })
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
        return this.#change(reading)
      case 'message':
        this.#messages.push(this.#message(reading))
    }
  }

  #message({ draft, stored }: Extract<Reading, { type: 'message' }>): AgentMessage {
    const { list } = this.#home
    const base = draft.id === undefined ? undefined : this.#old(draft.id)
    if (base !== undefined) return sharedMessage(base, stored ?? settle(updated(base, draft), base.id, list))
    return stored ?? settle(draft, draft.id ?? list.generateId(), list)
  }

  /** A result in a returned array belongs to a call before it, in what was read or in what both arrays begin with. */
  #change(outcome: Extract<Reading, { type: 'outcome' }>): void {
    const place = placeOfTool(this.#messages, this.#messages.length, outcome.of)
    if (place !== undefined) {
      this.#messages[place.position] = withChangedTool(this.#messages[place.position]!, place.index, outcome)
      return
    }
    const earlier = placeOfTool(this.#all, this.#start, outcome.of)
    if (earlier === undefined) throw noSuchTool(outcome.of, outcome.path)
    const changed = withChangedTool(this.#all[earlier.position]!, earlier.index, outcome)
    this.#all[earlier.position] = changed
    this.#earlier.set(changed.id, changed)
  }

  /** The message that has the id already, among the given ones or elsewhere in the list. */
  #old(id: string): AgentMessage | undefined {
    return this.#given.get(id) ?? this.#home.list.find(id)
  }

  /** Whether the id is that of a message in the ends that both arrays share. */
  #isOutside(id: string): boolean {
    return (
      !this.#given.has(id) && this.#home.list.find(id) !== undefined && this.#all.some(message => message.id === id)
    )
  }

  #removals(ids: ReadonlySet<string>): readonly Edit[] {
    return [...this.#given.keys()].filter(id => !ids.has(id)).map(id => Object.freeze({ type: 'remove', id }))
  }

  #replacements(): readonly Edit[] {
    return [...this.#earlier.values(), ...this.#messages]
      .filter(message => (this.#old(message.id) ?? message) !== message)
      .map(message => Object.freeze({ type: 'replace', message }))
  }

  #order(ids: ReadonlySet<string>): readonly Edit[] {
    const before = [...this.#given.keys()].filter(id => ids.has(id))
    const after = this.#messages.filter(message => this.#given.has(message.id)).map(message => message.id)
    return before.every((id, index) => id === after[index])
      ? []
      : [Object.freeze({ type: 'order', ids: Object.freeze(after) })]
  }

  #insertions(): readonly Edit[] {
    const edits: Edit[] = []
    let before = this.#rightId
    for (const [index, message] of [...this.#messages.entries()].toReversed()) {
      if (this.#old(message.id) === undefined) {
        const after = this.#messages[index - 1]?.id ?? this.#leftId
        edits.push(frozen<Edit>({ type: 'insert', message, source: this.#home.source, after, before }))
      } else before = message.id
    }
    return edits.reverse()
  }
}
