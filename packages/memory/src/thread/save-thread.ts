// Saving: the rows of a run in the store become what its list holds of the run, and nothing else is touched.
import { MessageList, type AgentMessage, type MessagePart } from '@lockstep/message-list'
import type { StopReason } from '@lockstep/processors'
import { MemoryError } from '../errors.ts'
import { continuedMessages, storedParts, type StoredResponse } from './remembered-calls.ts'
import { withEndedCalls } from './run-ending.ts'
import { noteRows, rowsInStore, type Rows, type RunRows } from './run-rows.ts'
import { checkOwner, threadIdOf } from './thread-owner.ts'
import { inTurn } from './thread-queue.ts'
import type { Thread, ThreadCommit, ThreadStore } from '../stores/thread-store.ts'

/** So many writers that were quicker in turn are no contention any more. */
const mostConflicts = 100

/** What is to be saved. */
export interface Save {
  readonly list: MessageList
  /** How much of what the model said is saved with the input. */
  readonly response: StoredResponse
  /** Whether what became of remembered calls is saved too. */
  readonly withOutcomes: boolean
  /** How the run was cut short, if it was. */
  readonly cutShort?: StopReason
  /** What stands at the end, for what was refused. */
  readonly marker?: AgentMessage
}

/**
 * Saves a run, one save after the other. A writer that was quicker is no hindrance: its revision is read, and the rows of this run go after its.
 *
 * *Throws*: `wrong-resource`, `thread-deleted`, `thread-busy`, and what the store throws.
 */
export async function saveThread(store: ThreadStore, run: RunRows, save: Save): Promise<void> {
  await inTurn(store, threadIdOf(save.list), () => saveRows(store, run, save))
}

async function saveRows(store: ThreadStore, run: RunRows, save: Save): Promise<void> {
  const { list } = save
  const threadId = threadIdOf(list)
  const before = await rowsInStore(store, threadId, run)
  const rows = rowsOfRun(run, save, before)
  const changes = changedRows(run, rows, before)
  for (let tries = 0; tries <= mostConflicts; tries++) {
    const outcomes = save.withOutcomes ? await continuedMessages(store, run, save) : []
    const put = [...outcomes, ...changes.put]
    if (put.length + changes.remove.length === 0) return
    const commit: ThreadCommit = { expectedRevision: run.revision, remove: changes.remove, put, ...ownerOf(run, list) }
    const outcome = await store.commit(threadId, commit)
    if (outcome.type === 'committed') {
      run.revision = outcome.revision
      noteRows(run, rows)
      return
    }
    const { thread } = await store.read(threadId, { last: 0 })
    if (thread === undefined) throw deletedThread(threadId)
    checkOwner(thread, list)
    run.revision = thread.revision
    if (tries > 2) await aMoment()
  }
  throw new MemoryError(
    'thread-busy',
    `The thread "${threadId}" was written by others ${mostConflicts} times while this run was to be saved. Let fewer runs share one thread.`,
  )
}

function deletedThread(threadId: string): MemoryError {
  return new MemoryError(
    'thread-deleted',
    `The thread "${threadId}" was deleted while a run was on it, so nothing of the run is kept. End the runs of a thread before deleting it.`,
  )
}

/** Long enough for a writer in another process to be done, and never as long as that of a rival. */
function aMoment(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.random() * 20))
}

/** A thread belongs to who began it. */
function ownerOf({ revision }: RunRows, { resourceId }: MessageList): { readonly thread?: Partial<Thread> } {
  return revision === 0 && resourceId !== undefined ? { thread: { resourceId } } : {}
}

/** What differs between the rows as they are and as they are to be. */
function changedRows(
  run: RunRows,
  rows: readonly AgentMessage[],
  before: Rows,
): { readonly put: readonly AgentMessage[]; readonly remove: readonly string[] } {
  const wanted = new Set(rows.map(({ id }) => id))
  const kept = run.rows.filter(id => wanted.has(id))
  // Rows can be put at the end only: from the first that stands elsewhere, all are put again.
  const inPlace = kept.findIndex((id, index) => rows[index]!.id !== id)
  const moved = new Set(inPlace < 0 ? [] : kept.slice(inPlace))
  return {
    put: rows.filter(message => before.get(message.id) !== message || moved.has(message.id)),
    remove: [...run.rows.filter(id => !wanted.has(id)), ...moved],
  }
}

/** What the thread is to have of a run, in sequence. */
function rowsOfRun(run: RunRows, { list, response, cutShort, marker }: Save, before: Rows): readonly AgentMessage[] {
  const rows = messagesOfRun(list).flatMap(message => {
    if (Object.hasOwn(run.open, message.id)) return []
    if (list.sourceOf(message.id) === 'response') return withParts(message, partsOf(message, response, cutShort))
    if (cutShort === undefined) return message
    // The list went back to before the attempt that failed, and lost what input processors had changed for it. What was
    // stored is what they let pass; what was not stored they did not.
    return run.rows.includes(message.id) ? (before.get(message.id) ?? message) : []
  })
  return marker === undefined ? rows : [...rows, marker]
}

function partsOf(
  { content }: AgentMessage,
  response: StoredResponse,
  cutShort: StopReason | undefined,
): readonly MessagePart[] {
  return withEndedCalls(storedParts(content.parts, response), cutShort)
}

/** A message with other parts; none without any. */
function withParts(message: AgentMessage, parts: readonly MessagePart[]): AgentMessage | readonly AgentMessage[] {
  if (parts === message.content.parts) return message
  if (parts.length === 0) return []
  const list = new MessageList().add(message, 'response')
  list.update(message.id, draft => void (draft.content.parts = parts as never))
  return list.find(message.id)!
}

/** What a list holds of its run, in sequence: the input and the response. */
function messagesOfRun(list: MessageList): readonly AgentMessage[] {
  const wanted = new Set([...list.get.input.db(), ...list.get.response.db()])
  const messages = list.getMessages()
  const found: AgentMessage[] = []
  // What is remembered stands before it, and may be long.
  for (let index = messages.length - 1; found.length < wanted.size; index--)
    if (wanted.has(messages[index]!)) found.unshift(messages[index]!)
  return found
}
