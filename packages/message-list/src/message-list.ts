// The cell: it holds one frozen snapshot and puts another in its place. Every write ends in `#commit`, and only there.
import { changesOf, idsOf, type Author, type Change, type Edit } from './editing/change.ts'
import { MessageListError } from './errors.ts'
import { frozenJson } from './frozen-json.ts'
import { changeTool, Merger, storedEdit } from './editing/merge.ts'
import type { Home } from './reading/message-draft.ts'
import type { AgentMessage, MessagePart, MessageSource } from './message.ts'
import { readInputs, type MessageInput } from './reading/read-input.ts'
import { draftOfAll, draftOfMessage, type Draft } from './editing/recipe.ts'
import { restored } from './reading/read-stored.ts'
import { reconciled } from './reading/reconcile.ts'
import { returnedEdits } from './editing/returned-edits.ts'
import { readSavedList, savedList, type SavedList } from './saved-list.ts'
import { ListSnapshot, listSnapshot, type Snapshot } from './snapshot.ts'
import { systemMessage, type SystemInput, type SystemMessage } from './system-message.ts'
import type { ToolChange } from './editing/tool-state.ts'
import { Transaction } from './editing/transaction.ts'
import { checkUndo } from './editing/undo.ts'
import { viewsOf, type Views } from './views/views.ts'
import type { UIMessage } from 'ai'

/** How a list is made. */
export interface MessageListOptions {
  /** Messages without these get them; messages of another thread or resource are refused. */
  readonly threadId?: string
  readonly resourceId?: string
  /** Makes ids for messages that have none. Default: random UUIDs. */
  readonly generateId?: () => string
  /** The clock for messages without a time. */
  readonly now?: () => Date
  /** The state to begin with. */
  readonly snapshot?: Snapshot
}

interface Cell {
  snapshot: ListSnapshot
  readonly home: Home
  readonly views: Views
}

const caller: Author = Object.freeze({ id: 'caller' })

/** What makes another handle on a cell; it takes the place of the options. */
class Handle {
  readonly cell: Cell
  readonly author: Author

  constructor(cell: Cell, author: Author) {
    this.cell = cell
    this.author = author
  }
}

/**
 * A conversation. It is a cell with one frozen snapshot in it: reading returns frozen values, writing puts another
 * snapshot in the place of the first, and a write that throws leaves the list as it was.
 */
export class MessageList {
  /** Who writes through this handle. */
  readonly author: Author
  readonly #cell: Cell

  constructor(options?: MessageListOptions)
  constructor(options: MessageListOptions | Handle = {}) {
    if (options instanceof Handle) {
      this.author = options.author
      this.#cell = options.cell
      return
    }
    const { threadId, resourceId, generateId = randomId, now = () => new Date(), snapshot } = options
    this.author = caller
    this.#cell = cellOf(snapshot === undefined ? ListSnapshot.begin() : listSnapshot(snapshot), {
      threadId,
      resourceId,
      generateId,
      now,
    })
  }

  /** Reads what `toJSON` wrote, as a value or as text. Throws: `unsupported-version`, and `invalid-json` with the path. */
  static fromJSON(json: unknown, options: Pick<MessageListOptions, 'generateId' | 'now'> = {}): MessageList {
    const { snapshot, threadId, resourceId } = readSavedList(json)
    return new MessageList({
      ...options,
      snapshot,
      threadId,
      resourceId,
    })
  }

  get threadId(): string | undefined {
    return this.#cell.home.threadId
  }

  get resourceId(): string | undefined {
    return this.#cell.home.resourceId
  }

  /** Makes an id as the list makes them. */
  generateId(): string {
    return this.#cell.home.generateId()
  }

  /** The list's clock. */
  now(): Date {
    return this.#cell.home.now()
  }

  /** Another handle on the same cell, whose writes carry that author. */
  as(author: Author): MessageList {
    return handle(this.#cell, Object.freeze({ ...author }))
  }

  /** Tells whether both are handles on one cell: what one writes, the other reads. */
  isSameAs(other: MessageList): boolean {
    return this.#cell === other.#cell
  }

  /** A list of its own that begins with this state and shares everything in it. */
  fork(): MessageList {
    const { snapshot, home } = this.#cell
    return handle(cellOf(snapshot, home), this.author)
  }

  // Writing

  /**
   * Adds what was said, in any format, in one commit. A message with a known id updates the one that has it, in its
   * place; items without an id are new messages. With `reconcile`, messages that a client sends again are recognised,
   * also under other ids.
   *
   * Throws: `invalid-message`, `ambiguous-message`, `unsafe-data`, `wrong-thread`, `unknown-tool-call`,
   * `forged-approval`, `tool-state` and `duplicate-id`, naming the path.
   */
  add(
    input: MessageInput | readonly MessageInput[],
    source: MessageSource,
    options: { readonly reconcile?: boolean } = {},
  ): this {
    const inputs = Array.isArray(input) ? (input as readonly MessageInput[]) : [input as MessageInput]
    const readings = readInputs(inputs, source)
    return this.#commit(transaction => {
      new Merger(transaction, this.#cell.home, source).merge(
        options.reconcile === true ? reconciled(readings, this.#cell.snapshot.messages) : readings,
      )
    })
  }

  /** Adds instructions after those that are there. */
  addSystem(input: SystemInput | readonly SystemInput[]): this {
    return this.#commit(transaction => transaction.system([...transaction.systemMessages, ...systemMessages(input)]))
  }

  /** Puts instructions in the place of all that are there. */
  replaceAllSystemMessages(messages: SystemInput | readonly SystemInput[]): this {
    return this.#commit(transaction => transaction.system(systemMessages(messages)))
  }

  /**
   * Changes one message by a recipe that edits a draft of it. Everything else keeps its identity.
   *
   * Throws: `unknown-message`, `invalid-recipe`, `invalid-message`, `unsafe-data`.
   */
  update(id: string, recipe: (draft: Draft<AgentMessage>) => void): this {
    return this.#commit(transaction => {
      const message = transaction.get(id)
      transaction.replace(restored(message, draftOfMessage(message, recipe)))
    })
  }

  /**
   * Adds parts at the end of a message, which is what an answer that grows needs most. What was there is not looked at.
   *
   * Throws: `unknown-message`, `invalid-message`, `unsafe-data`.
   */
  append(id: string, parts: readonly MessagePart[]): this {
    return this.#commit(transaction => transaction.append(id, parts))
  }

  /**
   * Says what became of a tool call, wherever it is; the newest call with the id counts.
   *
   * Throws: `unknown-tool-call`, `tool-state`, `forged-approval`, `unsafe-data`.
   */
  updateTool(toolCallId: string, change: ToolChange): this {
    const frozen = frozenJson(change, `the change of tool call "${toolCallId}"`) as ToolChange
    return this.#commit(transaction =>
      changeTool(transaction, { of: { toolCallId }, change: frozen, path: `tool call "${toolCallId}"` }),
    )
  }

  /**
   * Changes all messages by a recipe that edits a draft of them, for who needs to move, merge or drop messages. Messages
   * that the recipe puts in get `source`.
   *
   * Cost: reading through the draft takes some microseconds a message. For one message, `update` is constant.
   */
  draft(recipe: (draft: Draft<AgentMessage>[]) => void, source: MessageSource = 'input'): this {
    const given = this.getMessages()
    const edited = draftOfAll(given, recipe).map(message => {
      const base = this.find(message.id)
      return base === undefined ? message : restored(base, message)
    })
    return this.apply(returnedEdits(given, edited, { list: this, source }).edits)
  }

  /** Replaces a message by another with its id, in its place. Throws: `unknown-message`, and what `add` throws. */
  replace(message: MessageInput & { readonly id: string }): this {
    const base = this.find(message.id)
    if (base === undefined)
      throw new MessageListError('unknown-message', `The list has no message "${message.id}". To add it, use add().`)
    return this.apply(returnedEdits([base], [message], { list: this, source: 'input' }).edits)
  }

  /** Removes messages. Ids that the list does not have need no removing. */
  removeByIds(ids: readonly string[]): this {
    return this.#commit(transaction => transaction.remove(ids.filter(id => transaction.find(id) !== undefined)))
  }

  /** Removes all messages, or those of one source. Instructions stay. */
  clear(source?: MessageSource): this {
    const messages = source === undefined ? this.getMessages() : this.#cell.snapshot.messagesOf(source)
    return this.removeByIds(messages.map(message => message.id))
  }

  /** Applies edits in one commit. Throws: `unknown-message`, `duplicate-id`, `invalid-edit`, and what `add` throws. */
  apply(edits: readonly Edit[]): this {
    return this.#commit(transaction => transaction.apply(edits.map(edit => storedEdit(edit, this.#cell.home))))
  }

  /**
   * Takes a change back, as a new change.
   *
   * Throws: `unknown-change`, and `undo-conflict` when a later change is about the same messages.
   */
  undo(change: Change): this {
    checkUndo(this.#cell.snapshot.log, change)
    return this.#commit(transaction => transaction.apply(change.inverse), change.sequence)
  }

  /** Goes back to a snapshot. Its changes come back with it: those made since are gone. */
  restore(snapshot: Snapshot): this {
    this.#cell.snapshot = listSnapshot(snapshot)
    return this
  }

  // Reading

  /** The messages by source and format. */
  get get(): Views {
    return this.#cell.views
  }

  getMessages(): readonly AgentMessage[] {
    return this.#cell.snapshot.messages
  }

  getAllSystemMessages(): readonly SystemMessage[] {
    return this.#cell.snapshot.systemMessages
  }

  toUIMessages(): UIMessage[] {
    return this.get.all.ui()
  }

  /** The message at a position, counted from the end when it is negative. */
  at(position: number): AgentMessage | undefined {
    const { sequence } = this.#cell.snapshot
    return sequence.at(position < 0 ? sequence.length + position : position)
  }

  find(id: string): AgentMessage | undefined {
    const { sequence } = this.#cell.snapshot
    return sequence.at(sequence.positionOf(id))
  }

  sourceOf(id: string): MessageSource | undefined {
    const { sequence } = this.#cell.snapshot
    return sequence.sourceAt(sequence.positionOf(id))
  }

  /** The state as it is now, to keep or to go back to. */
  snapshot(): Snapshot {
    return this.#cell.snapshot
  }

  /** What was done, oldest first. */
  get changes(): readonly Change[] {
    const { snapshot } = this.#cell
    return snapshot.derive('changes', () => Object.freeze(changesOf(snapshot.log)))
  }

  /** Every change that made a message what it is, in order, beginning with the one that put it there. */
  explain(id: string): readonly Change[] {
    const about = this.changes.filter(change =>
      change.edits.some(edit => edit.type !== 'order' && idsOf(edit).includes(id)),
    )
    const begin = about.findLastIndex(change =>
      change.edits.some(edit => edit.type === 'insert' && edit.message.id === id),
    )
    return about.slice(Math.max(begin, 0))
  }

  /** The list as JSON: messages, sources and instructions, without the changes. */
  toJSON(): SavedList {
    return savedList(this.#cell.snapshot, this.#cell.home)
  }

  #commit(edit: (transaction: Transaction) => void, undoes?: number): this {
    const transaction = new Transaction(this.#cell.snapshot)
    edit(transaction)
    this.#cell.snapshot = transaction.finish(this.author, undoes)
    return this
  }
}

/** Node puts a UUID together of twenty pieces and keeps them all until somebody reads a letter: this makes it one. */
function randomId(): string {
  return crypto.randomUUID().toLowerCase()
}

function handle(cell: Cell, author: Author): MessageList {
  return new MessageList(new Handle(cell, author) as object as MessageListOptions)
}

function cellOf(snapshot: ListSnapshot, home: Home): Cell {
  const cell: Cell = { snapshot, home, views: viewsOf(() => cell.snapshot) }
  return cell
}

function systemMessages(input: SystemInput | readonly SystemInput[]): readonly SystemMessage[] {
  const inputs = Array.isArray(input) ? (input as readonly SystemInput[]) : [input as SystemInput]
  return inputs.map((message, index) => systemMessage(message, `systemMessages[${index}]`))
}
