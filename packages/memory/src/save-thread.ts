// Saving: the rows of a run in the store become what its list holds of the run, and nothing else is touched.
import { MessageList, type AgentMessage } from '@lockstep/message-list'
import { hasOpenCall } from './client-history.ts'
import { MemoryError } from './errors.ts'
import { checkOwner, threadIdOf } from './load-thread.ts'
import type { Thread, ThreadCommit, ThreadStore } from './thread-store.ts'

/** What a run knows of its rows. It is JSON, so that it survives a suspension. */
export interface RunRows {
  /** The revision that the run has read or made. */
  revision: number
  /** The ids that the run has put, in sequence. */
  rows: readonly string[]
  /** Ids of remembered messages whose calls wait for a result or an approval. */
  open: readonly string[]
}

/** The rows that are in the store as they are, by run. Forgotten by a suspension, which only makes some puts needless. */
const written = new WeakMap<RunRows, ReadonlyMap<string, AgentMessage>>()

/** So many writers that were quicker in turn are no contention any more. */
const mostConflicts = 100

/** What is to be saved. */
export interface Save {
  readonly list: MessageList
  /** All that the thread is to have of this run, in sequence. */
  readonly rows: readonly AgentMessage[]
  /** Whether results and approvals that remembered calls got are saved too. */
  readonly withOutcomes?: boolean
  /** Ids of rows that stay as they are stored, whatever the list holds. */
  readonly settled?: ReadonlySet<string>
}

/**
 * Saves a run. A writer that was quicker is no hindrance: its revision is read, and the rows of this run go after its.
 *
 * *Throws*: `wrong-resource`, `thread-busy`, and what the store throws.
 */
export async function saveThread(store: ThreadStore, run: RunRows, save: Save): Promise<void> {
  const { list, rows } = save
  const threadId = threadIdOf(list)
  const changes = changedRows(run, save)
  for (let tries = 0; tries <= mostConflicts; tries++) {
    const outcomes = save.withOutcomes ? await outcomesFor(store, run, list) : []
    const put = [...outcomes.map(({ after }) => after), ...changes.put]
    if (put.length + changes.remove.length === 0) return
    const commit: ThreadCommit = { expectedRevision: run.revision, remove: changes.remove, put, ...ownerOf(run, list) }
    const outcome = await store.commit(threadId, commit)
    if (outcome.type === 'committed') {
      run.revision = outcome.revision
      run.rows = rows.map(({ id }) => id)
      run.open = run.open.filter(id => !outcomes.some(({ after }) => after.id === id && !hasOpenCall(after)))
      written.set(run, new Map(rows.map(message => [message.id, versionInStore(run, save, message)])))
      return
    }
    const { thread } = await store.read(threadId, { last: 0 })
    checkOwner(thread, list)
    run.revision = thread?.revision ?? 0
  }
  throw new MemoryError(
    'thread-busy',
    `The thread "${threadId}" was written by others ${mostConflicts} times while this run was to be saved. Let fewer runs share one thread.`,
  )
}

function versionInStore(run: RunRows, { settled }: Save, message: AgentMessage): AgentMessage {
  return settled?.has(message.id) ? (written.get(run)?.get(message.id) ?? message) : message
}

/** A thread belongs to who began it. */
function ownerOf({ revision }: RunRows, { resourceId }: MessageList): { readonly thread?: Partial<Thread> } {
  return revision === 0 && resourceId !== undefined ? { thread: { resourceId } } : {}
}

/** What differs between the rows as they are and as they are to be. */
function changedRows(
  run: RunRows,
  save: Save,
): { readonly put: readonly AgentMessage[]; readonly remove: readonly string[] } {
  const { rows, settled } = save
  const before = written.get(run)
  const wanted = new Set(rows.map(({ id }) => id))
  const kept = run.rows.filter(id => wanted.has(id))
  // Rows can be put at the end only: from the first that stands elsewhere, all are put again.
  const inPlace = kept.findIndex((id, index) => rows[index]!.id !== id)
  const moved = new Set(inPlace < 0 ? [] : kept.slice(inPlace))
  const isToPut = (message: AgentMessage) => before?.get(message.id) !== message && !settled?.has(message.id)
  return {
    put: rows
      .filter(message => isToPut(message) || moved.has(message.id))
      .map(message => versionInStore(run, save, message)),
    remove: [...run.rows.filter(id => !wanted.has(id)), ...moved],
  }
}

interface Outcome {
  readonly after: AgentMessage
}

/** The stored messages with what became of their open calls in this run; nothing else of the list's versions counts. */
async function outcomesFor(store: ThreadStore, run: RunRows, list: MessageList): Promise<readonly Outcome[]> {
  const here = run.open.flatMap(id => list.find(id) ?? [])
  if (here.length === 0) return []
  const { messages } = await store.read(threadIdOf(list), { ids: here.map(({ id }) => id) })
  const stored = new MessageList().add(messages, 'memory')
  const before = stored.getMessages()
  const ids = new Set(before.map(({ id }) => id))
  stored.add(
    here.filter(({ id }) => ids.has(id)),
    'input',
  )
  return stored.getMessages().flatMap((after, index) => (after === before[index] ? [] : [{ after }]))
}

/** What a list holds of its run, in sequence: the input, and the response where it is wanted. */
export function rowsOfRun(list: MessageList, withResponse: boolean): readonly AgentMessage[] {
  const wanted = new Set([...list.get.input.db(), ...(withResponse ? list.get.response.db() : [])])
  const messages = list.getMessages()
  const rows: AgentMessage[] = []
  // What is remembered stands before it, and may be long.
  for (let index = messages.length - 1; rows.length < wanted.size; index--)
    if (wanted.has(messages[index]!)) rows.unshift(messages[index]!)
  return rows
}
