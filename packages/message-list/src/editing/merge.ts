// How what came in meets what is there: the rules of `add`, applied reading by reading within one transaction.
import { MessageListError } from '../errors.ts'
import { shareEqual } from '../frozen-json.ts'
import type { Edit } from './change.ts'
import {
  isStored,
  isToolPart,
  type AgentMessage,
  type MessagePart,
  type MessageSource,
  type ToolPart,
} from '../message.ts'
import { settle, updated, type Home, type MessageDraft, type Reading } from '../reading/message-draft.ts'
import { readInputs } from '../reading/read-input.ts'
import { sharedMessage } from '../reading/read-stored.ts'
import { continuedBy } from '../steering.ts'
import { noSuchTool, placeOfTool } from './tool-place.ts'
import { advancedTool, changedTool, rankOf } from './tool-state.ts'
import type { Transaction } from './transaction.ts'

type MessageReading = Extract<Reading, { type: 'message' }>

/**
 * Whose word counts when the same message comes from two sides: the run's own over what is remembered, that over what
 * the caller sends. The lesser word adds results and answers to calls that are open, and changes nothing else.
 */
const trust: Readonly<Record<MessageSource, number>> = { context: 0, input: 0, memory: 1, response: 2 }

/** Brings readings into a transaction. New messages that follow each other go in together. */
export class Merger {
  readonly #transaction: Transaction
  readonly #home: Home
  readonly #source: MessageSource
  #fresh: AgentMessage[] = []
  readonly #freshIds = new Set<string>()

  constructor(transaction: Transaction, home: Home, source: MessageSource) {
    this.#transaction = transaction
    this.#home = home
    this.#source = source
  }

  merge(readings: readonly Reading[]): void {
    for (const reading of readings) this.#merge(reading)
    this.#flush()
  }

  #merge(reading: Reading): void {
    switch (reading.type) {
      case 'message':
        return this.#message(reading)
      case 'system':
        return this.#transaction.system([...this.#transaction.systemMessages, reading.message])
      case 'outcome':
        return this.#outcome(reading)
    }
  }

  #message(reading: MessageReading): void {
    const id = reading.continues === undefined ? reading.draft.id : this.#continuationId(reading.continues)
    this.#checkHome(reading)
    if (id === undefined) return reading.isStep ? this.#step(reading) : this.#new(reading, this.#freshId())
    if (this.#freshIds.has(id)) this.#flush()
    const existing = this.#transaction.find(id)
    if (existing === undefined) this.#new(reading, id)
    else this.#update(existing, reading.continues === undefined ? reading : withoutNote(reading))
  }

  #new(reading: MessageReading, id: string): void {
    const { stored, draft } = reading
    const { threadId, resourceId } = this.#home
    const settled =
      stored !== undefined &&
      stored.id === id &&
      (stored.threadId ?? threadId) === stored.threadId &&
      (stored.resourceId ?? resourceId) === stored.resourceId
    this.#fresh.push(settled ? stored : settle(draft, id, this.#home))
    this.#freshIds.add(id)
  }

  /** A further step of the assistant message at the end, when there is one that it can belong to. */
  #step(reading: MessageReading): void {
    this.#flush()
    const { sequence } = this.#transaction
    const last = sequence.at(sequence.length - 1)
    const continues =
      last?.role === 'assistant' &&
      (this.#source !== 'response' || sequence.sourceAt(sequence.length - 1) === 'response')
    if (!continues) return this.#new(reading, this.#freshId())
    const divider: MessagePart = Object.freeze({ type: 'step-start' })
    const parts = [...last.content.parts, divider, ...reading.draft.parts]
    const { providerMetadata } = reading.draft
    const draft = updated(last, { role: 'assistant', parts, providerMetadata })
    this.#transaction.replace(sharedMessage(last, settle(draft, last.id, this.#home)))
  }

  #update(existing: AgentMessage, reading: MessageReading): void {
    const before = this.#transaction.sequence.sourceAt(this.#transaction.sequence.positionOf(existing.id))!
    const isHeard = trust[this.#source] >= trust[before]
    if (isHeard && reading.draft.role !== existing.role) {
      throw new MessageListError(
        'invalid-message',
        `${reading.path} has the id "${existing.id}" of a message with the role "${existing.role}", not "${reading.draft.role}". Give it an id of its own.`,
        { path: reading.path },
      )
    }
    const isKnownBetter = trust[this.#source] > trust[before]
    const parts = isKnownBetter
      ? knownParts(existing, reading)
      : mergedParts(existing, reading, trust[this.#source] > 0)
    const draft = isHeard
      ? updated(existing, { ...reading.draft, parts })
      : updated(existing, { role: reading.draft.role, parts: advancedParts(existing, reading) })
    const source = isKnownBetter ? this.#source : before
    this.#transaction.replace(sharedMessage(existing, settle(draft, existing.id, this.#home)), source)
  }

  #outcome(reading: Extract<Reading, { type: 'outcome' }>): void {
    this.#flush()
    changeTool(this.#transaction, reading)
  }

  #flush(): void {
    if (this.#fresh.length === 0) return
    const fresh = this.#fresh
    this.#fresh = []
    this.#freshIds.clear()
    this.#transaction.add(fresh, this.#source)
  }

  #freshId(): string {
    const id = this.#home.generateId()
    if (!this.#freshIds.has(id) && this.#transaction.sequence.positionOf(id) < 0) return id
    throw new MessageListError(
      'duplicate-id',
      `generateId() returned "${id}", which a message of the list has already. It must return a new id each time.`,
    )
  }

  /** The id of the message that goes on after one that was put in between: the one it has, or one made from both. */
  #continuationId({ id, after }: { readonly id: string; readonly after: string }): string {
    this.#flush()
    const { sequence } = this.#transaction
    const next = sequence.at(sequence.positionOf(after) + 1)
    return next !== undefined && continuedBy(next) !== undefined ? next.id : `${id}:after:${after}`
  }

  #checkHome({ draft, path }: MessageReading): void {
    if (this.#source === 'context') return
    for (const field of ['threadId', 'resourceId'] as const) {
      const [given, own] = [draft[field], this.#home[field]]
      if (given === undefined || own === undefined || given === own) continue
      throw new MessageListError(
        'wrong-thread',
        `${path} has the ${field} "${given}", and the list is of "${own}". Add it as context, or without its ${field}.`,
        { path: `${path}.${field}` },
      )
    }
  }
}

/** What a continuation noted about itself is not for a client to repeat. */
function withoutNote(reading: MessageReading): MessageReading {
  const { metadata: _, ...draft } = reading.draft
  return { ...reading, draft }
}

/** An edit whose message is one of ours: one that came from outside is read first. */
export function storedEdit(edit: Edit, home: Home): Edit {
  if ((edit.type !== 'insert' && edit.type !== 'replace') || isStored(edit.message)) return edit
  const [reading] = readInputs([edit.message], 'context')
  if (reading?.type !== 'message')
    throw new MessageListError(
      'invalid-edit',
      `The edit "${edit.type}" has no message that the conversation can hold. System messages are set with the edit "system".`,
    )
  return { ...edit, message: settle(reading.draft, reading.draft.id ?? home.generateId(), home) }
}

/** The parts of a newer version of a message. A call that is further already stays as it is. */
function mergedParts(existing: AgentMessage, reading: MessageReading, trusted: boolean): readonly MessagePart[] {
  const calls = callsOf(existing)
  if (calls.size === 0) return reading.draft.parts
  return reading.draft.parts.map(part => {
    const stored = isToolPart(part) ? calls.get(part.toolCallId) : undefined
    if (stored === undefined) return part
    if (rankOf(part as ToolPart) < rankOf(stored)) return stored
    return trusted ? withModelOutput(part as ToolPart, stored) : advancedTool(stored, part as ToolPart, reading.path)
  })
}

/** The parts of a message from a better source, with what the copy that was there before it says of calls that are open. */
function knownParts(copy: AgentMessage, reading: MessageReading): readonly MessagePart[] {
  const copies = callsOf(copy)
  return reading.draft.parts.map(part => {
    const earlier = isToolPart(part) ? copies.get(part.toolCallId) : undefined
    return earlier === undefined ? part : advancedTool(part as ToolPart, earlier, reading.path)
  })
}

/** The parts of a message with the results and answers that a copy of it brings for calls that are open. */
function advancedParts(existing: AgentMessage, reading: MessageReading): readonly MessagePart[] {
  const copies = callsOf(reading.draft)
  if (copies.size === 0) return existing.content.parts
  return existing.content.parts.map(part => {
    const copy = isToolPart(part) ? copies.get(part.toolCallId) : undefined
    return copy === undefined ? part : advancedTool(part as ToolPart, copy, reading.path)
  })
}

/** What the model is shown is not part of other formats, and stays when the output is the same. */
function withModelOutput(part: ToolPart, stored: ToolPart): ToolPart {
  const same =
    stored.modelOutput !== undefined &&
    part.modelOutput === undefined &&
    shareEqual(stored.output, part.output) === stored.output
  return same ? (Object.freeze({ ...part, modelOutput: stored.modelOutput }) as ToolPart) : part
}

function callsOf(message: AgentMessage | MessageDraft): ReadonlyMap<string, ToolPart> {
  const parts = 'content' in message ? message.content.parts : message.parts
  return new Map(parts.filter(isToolPart).map(part => [part.toolCallId, part]))
}

/** Changes a call wherever it is. Throws: `unknown-tool-call` and `forged-approval`, and what `changedTool` throws. */
export function changeTool(
  transaction: Transaction,
  outcome: Omit<Extract<Reading, { type: 'outcome' }>, 'type'>,
): void {
  const { sequence } = transaction
  const place = placeOfTool(sequence, sequence.length, outcome.of)
  if (place === undefined) throw noSuchTool(outcome.of, outcome.path)
  const part = sequence.at(place.position)!.content.parts[place.index] as ToolPart
  transaction.replacePart(place, changedTool(part, outcome.change, outcome.path))
}
