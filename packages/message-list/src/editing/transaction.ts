// Edits being applied: every step records itself and the step back, and nothing is visible until the list commits it.
import type { Author, Change, Edit, Patch } from './change.ts'
import { MessageListError } from '../errors.ts'
import { exactly } from '../frozen-json.ts'
import { withMoreParts, withPart, type AgentMessage, type MessagePart, type MessageSource } from '../message.ts'
import { additionOf, differenceOf, type Difference } from './patches.ts'
import { partsToAppend, restored } from '../reading/read-stored.ts'
import { patched } from './recipe.ts'
import type { Sequence } from '../segments.ts'
import { ListSnapshot } from '../snapshot.ts'
import type { SystemMessage } from '../system-message.ts'
import type { ToolPlace } from './tool-place.ts'

const partsPath = ['content', 'parts'] as const

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

  /**
   * Puts new messages, whose ids nobody has, where their source has its place: memory before what this run has said, the
   * rest at the end.
   */
  add(messages: readonly AgentMessage[], source: MessageSource): void {
    this.#insert(messages, source, source === 'memory' ? this.sequence.firstSaid() : this.sequence.length)
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

  /** Puts parts at the end of a message. What was there is not looked at. */
  append(id: string, more: readonly unknown[]): void {
    const position = this.#positionOf(id)
    const before = this.sequence.at(position)!
    const parts = partsToAppend(before, more)
    if (parts.length === 0) return
    this.#put(position, withMoreParts(before, parts), additionOf(parts, before.content.parts.length, partsPath))
  }

  /** Puts another part in the place of one. */
  replacePart({ position, index }: ToolPlace, part: MessagePart): void {
    const before = this.sequence.at(position)!
    const partBefore = before.content.parts[index]!
    if (part === partBefore) return
    this.#put(position, withPart(before, index, part), differenceOf(partBefore, part, [...partsPath, index]))
  }

  /** Puts a version of a message in its place that is known to differ in that way. */
  #put(position: number, message: AgentMessage, { patches, inverse }: Difference): void {
    const { id } = message
    this.sequence = this.sequence.set(position, message, this.sequence.sourceAt(position)!)
    this.#record({ type: 'patch', id, patches }, { type: 'patch', id, patches: inverse })
  }

  /** Removes messages, neighbours at once. */
  remove(ids: readonly string[]): void {
    const positions = [...new Set(ids)].map(id => this.#positionOf(id)).sort((a, b) => b - a)
    let start = 0
    for (const [index, position] of positions.entries()) {
      if (positions[index + 1] === position - 1) continue
      this.#removeRun(position, index - start + 1)
      start = index + 1
    }
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
    if (messages.length === before.length && messages.every((message, index) => isSame(message, before[index]!))) return
    this.systemMessages = Object.freeze([...messages])
    this.#record({ type: 'system', messages: this.systemMessages }, { type: 'system', messages: before })
  }

  /** Applies edits in order. Messages that go in one after the other go in together. */
  apply(edits: readonly Edit[]): void {
    for (let index = 0; index < edits.length; index++) {
      const edit = edits[index]!
      if (edit.type !== 'insert') {
        this.#applyOne(edit)
        continue
      }
      const run = [edit.message]
      for (let next = edits[index + 1]; follows(next, edit, run.at(-1)!.id); next = edits[index + 1]) {
        run.push(next.message)
        index++
      }
      this.#insertAt(run, edit)
    }
  }

  #applyOne(edit: Exclude<Edit, { type: 'insert' }>): void {
    switch (edit.type) {
      case 'replace':
        return this.replace(edit.message, edit.source)
      case 'patch':
        return this.#patch(edit.id, edit.patches, edit.source)
      case 'remove':
        return this.remove([edit.id])
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
    const sequence = (previous?.change.sequence ?? 0) + 1
    const [edits, inverse] = [exactly(this.#edits), exactly(this.#inverse.reverse())]
    const change: Change =
      undoes === undefined ? { sequence, author, edits, inverse } : { sequence, author, edits, inverse, undoes }
    return new ListSnapshot(this.sequence, this.systemMessages, { change, previous })
  }

  #removeRun(position: number, count: number): void {
    const before = this.sequence.at(position + count)?.id
    for (let at = position + count - 1; at >= position; at--) {
      const message = this.sequence.at(at)!
      const { after, before: next } = this.#placeOf(at, at + 1)
      this.#record(
        { type: 'remove', id: message.id },
        insertion(message, this.sequence.sourceAt(at)!, { after, before: before ?? next }),
      )
    }
    this.sequence = this.sequence.splice(position, count, { messages: [], source: 'context' })
  }

  #insertAt(messages: readonly AgentMessage[], { source, before, after }: Extract<Edit, { type: 'insert' }>): void {
    this.#refuseKnown(messages)
    const left = after === undefined ? -1 : this.sequence.positionOf(after)
    const right = before === undefined ? -1 : this.sequence.positionOf(before)
    if (left < 0 && right < 0) this.add(messages, source)
    else this.#insert(messages, source, left < 0 ? right : left + 1)
  }

  #refuseKnown(messages: readonly AgentMessage[]): void {
    const ids = new Set<string>()
    for (const { id } of messages) {
      if (this.sequence.positionOf(id) >= 0 || ids.has(id)) {
        throw new MessageListError(
          'duplicate-id',
          `The list has a message "${id}" already. To change it, use replace() or update(); a new message needs another id.`,
        )
      }
      ids.add(id)
    }
  }

  #insert(messages: readonly AgentMessage[], source: MessageSource, position: number): void {
    const { after: first, before } = this.#placeOf(position, position)
    let after = first
    for (const message of messages) {
      this.#record(insertion(message, source, { after, before }), { type: 'remove', id: message.id })
      after = message.id
    }
    this.sequence = this.sequence.splice(position, 0, { messages, source })
  }

  /** How to find the place between two positions again: by its neighbours. */
  #placeOf(left: number, right: number): Place {
    return { after: this.sequence.at(left - 1)?.id, before: this.sequence.at(right)?.id }
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
    this.#edits.push(edit)
    this.#inverse.push(inverse)
  }
}

/** The neighbours of a place. At an end, there is only one. */
interface Place {
  readonly after: string | undefined
  readonly before: string | undefined
}

function insertion(message: AgentMessage, source: MessageSource, { after, before }: Place): Edit {
  const type = 'insert'
  if (after === undefined) return before === undefined ? { type, message, source } : { type, message, source, before }
  return before === undefined ? { type, message, source, after } : { type, message, source, after, before }
}

/** Whether an edit puts its message right after one that an edit before it put in. */
function follows(
  edit: Edit | undefined,
  first: Edit & { readonly type: 'insert' },
  id: string,
): edit is Extract<Edit, { type: 'insert' }> {
  return edit?.type === 'insert' && edit.after === id && edit.source === first.source
}

/** System messages have no id: the same words with the same options are the same message. */
function isSame(one: SystemMessage, other: SystemMessage): boolean {
  return one.content === other.content && JSON.stringify(one.providerOptions) === JSON.stringify(other.providerOptions)
}
