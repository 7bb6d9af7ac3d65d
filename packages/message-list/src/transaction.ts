// Edits being applied: every step records itself and the step back, and nothing is visible until the list commits it.
import type { Author, Change, Edit, Patch } from './change.ts'
import { MessageListError } from './errors.ts'
import { frozen } from './frozen-json.ts'
import type { AgentMessage, MessageSource } from './message.ts'
import { differenceOf } from './patches.ts'
import { restored } from './read-stored.ts'
import { patched } from './recipe.ts'
import type { Sequence } from './segments.ts'
import { ListSnapshot } from './snapshot.ts'
import type { SystemMessage } from './system-message.ts'

/** Memory stands before what this run has said. */
const live: readonly MessageSource[] = ['input', 'response']

/** A list in the making. Throwing away a transaction throws away its edits. */
export class Transaction {
  sequence: Sequence
  systemMessages: readonly SystemMessage[]
  readonly #base: ListSnapshot
  readonly #edits: Edit[] = []
  readonly #inverse: Edit[] = []

  constructor(base: ListSnapshot) {
    this.#base = base
    this.sequence = base.sequence
    this.systemMessages = base.systemMessages
  }

  find(id: string): AgentMessage | undefined {
    return this.sequence.at(this.sequence.positionOf(id))
  }

  /** Throws: `unknown-message`. */
  get(id: string): AgentMessage {
    return this.sequence.at(this.#positionOf(id))!
  }

  /** Puts new messages where their source has its place: memory before what this run has said, the rest at the end. */
  add(messages: readonly AgentMessage[], source: MessageSource): void {
    this.#insert(messages, source, source === 'memory' ? this.sequence.firstOf(live) : this.sequence.length)
  }

  /** Replaces a message, its source, or both. */
  replace(message: AgentMessage, source?: MessageSource): void {
    const position = this.#positionOf(message.id)
    const before = this.sequence.at(position)!
    const sourceBefore = this.sequence.sourceAt(position)!
    const sourceAfter = source ?? sourceBefore
    if (before === message && sourceBefore === sourceAfter) return
    const sourced = (value: MessageSource): object => (sourceBefore === sourceAfter ? {} : { source: value })
    this.sequence = this.sequence.set(position, message, sourceAfter)
    const { patches, inverse } = differenceOf(before, message)
    const { id } = message
    this.#record(
      { type: 'patch', id, patches, ...sourced(sourceAfter) },
      { type: 'patch', id, patches: inverse, ...sourced(sourceBefore) },
    )
  }

  remove(id: string): void {
    const position = this.#positionOf(id)
    const message = this.sequence.at(position)!
    const source = this.sequence.sourceAt(position)!
    const place = this.#placeOf(position, position + 1)
    this.sequence = this.sequence.splice(position, 1, { messages: [], source })
    this.#record({ type: 'remove', id }, { type: 'insert', message, source, ...place })
  }

  /** Ids that the list does not have hold no place in it. */
  order(ids: readonly string[]): void {
    const positions = ids.map(id => this.sequence.positionOf(id)).filter(position => position >= 0)
    if (new Set(ids).size < ids.length) {
      throw new MessageListError(
        'invalid-edit',
        `The order names a message twice: ${ids.join(', ')}. Name each one once.`,
      )
    }
    const places = positions.toSorted((a, b) => a - b)
    if (places.every((place, index) => place === positions[index])) return
    const before = places.map(place => this.sequence.at(place)!.id)
    const held = positions.map(position => [this.sequence.at(position)!, this.sequence.sourceAt(position)!] as const)
    for (const [index, place] of places.entries()) this.sequence = this.sequence.set(place, ...held[index]!)
    this.#record({ type: 'order', ids: Object.freeze([...ids]) }, { type: 'order', ids: Object.freeze(before) })
  }

  system(messages: readonly SystemMessage[]): void {
    const before = this.systemMessages
    if (messages.length === before.length && messages.every((message, index) => message === before[index])) return
    this.systemMessages = Object.freeze([...messages])
    this.#record({ type: 'system', messages: this.systemMessages }, { type: 'system', messages: before })
  }

  apply(edit: Edit): void {
    switch (edit.type) {
      case 'insert':
        return this.#insertAt(edit)
      case 'replace':
        return this.replace(edit.message, edit.source)
      case 'patch':
        return this.#patch(edit.id, edit.patches, edit.source)
      case 'remove':
        return this.remove(edit.id)
      case 'order':
        return this.order(edit.ids)
      case 'system':
        return this.system(edit.messages)
    }
  }

  /** The snapshot that the edits lead to; the one they began with when they changed nothing. */
  finish(author: Author, undoes?: number): ListSnapshot {
    if (this.#edits.length === 0) return this.#base
    const previous = this.#base.log
    const change = frozen<Change>({
      sequence: (previous?.change.sequence ?? 0) + 1,
      author,
      edits: Object.freeze(this.#edits),
      inverse: Object.freeze(this.#inverse.reverse()),
      undoes,
    })
    return new ListSnapshot(this.sequence, this.systemMessages, Object.freeze({ change, previous }))
  }

  #insertAt({ message, source, before, after }: Extract<Edit, { type: 'insert' }>): void {
    const left = after === undefined ? -1 : this.sequence.positionOf(after)
    const right = before === undefined ? -1 : this.sequence.positionOf(before)
    if (left < 0 && right < 0) this.add([message], source)
    else this.#insert([message], source, left < 0 ? right : left + 1)
  }

  #insert(messages: readonly AgentMessage[], source: MessageSource, position: number): void {
    let place = this.#placeOf(position, position)
    for (const message of messages) {
      if (this.sequence.positionOf(message.id) >= 0) {
        throw new MessageListError(
          'duplicate-id',
          `The list has a message "${message.id}" already. To change it, use replace() or update(); a new message needs another id.`,
        )
      }
      this.#record({ type: 'insert', message, source, ...place }, { type: 'remove', id: message.id })
      place = { ...place, after: message.id }
    }
    this.sequence = this.sequence.splice(position, 0, { messages, source })
  }

  /** How to find the place between two positions again: by its neighbours. */
  #placeOf(left: number, right: number): { readonly after?: string; readonly before?: string } {
    const after = this.sequence.at(left - 1)?.id
    const before = this.sequence.at(right)?.id
    return { ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) }
  }

  #patch(id: string, patches: readonly Patch[], source: MessageSource | undefined): void {
    const base = this.get(id)
    this.replace(restored(base, patched(base, patches)), source)
  }

  #positionOf(id: string): number {
    const position = this.sequence.positionOf(id)
    if (position >= 0) return position
    throw new MessageListError(
      'unknown-message',
      `The list has no message "${id}". It was removed, or its id is misspelt.`,
    )
  }

  #record(edit: Edit, inverse: Edit): void {
    this.#edits.push(Object.freeze(edit))
    this.#inverse.push(Object.freeze(inverse))
  }
}
