// The rows that a run has put into its thread: known to the process that put them, and kept for the one that resumes it.
import type { AgentMessage } from '@lockstep/message-list'
import type { OpenMessages } from './remembered-calls.ts'
import type { ThreadStore } from '../stores/thread-store.ts'

/** What a run knows of its rows. It is JSON, so that it survives a suspension. */
export interface RunRows {
  /** The name of the run among the documents of the store, should it be suspended. */
  readonly key: string
  /** The revision that the run has read or made. */
  revision: number
  /** The ids that the run has put, in sequence. */
  rows: readonly string[]
  /** The remembered messages whose calls were open. */
  open: OpenMessages
  /** Of those of which the run knows more than the store, because it was withheld: how many stored parts come before that. */
  withheld: OpenMessages
}

/** Rows by id, as they are in the store. */
export type Rows = ReadonlyMap<string, AgentMessage>

const known = new WeakMap<RunRows, Rows>()

/** Runs that were taken up in this process. */
const resumed = new WeakSet<RunRows>()

/** Notes the rows of a run as they are now. */
export function noteRows(run: RunRows, rows: readonly AgentMessage[]): void {
  run.rows = rows.map(({ id }) => id)
  known.set(run, new Map(rows.map(message => [message.id, message])))
}

/** The rows of a run as they are in the store; read from there by a process that has resumed it. */
export async function rowsInStore(store: ThreadStore, threadId: string, run: RunRows): Promise<Rows> {
  const here = known.get(run)
  if (here !== undefined) return here
  resumed.add(run)
  const kept = await store.readDocument(keyOf(run))
  const ids = (kept?.value as readonly string[] | undefined) ?? run.rows
  const { messages } = await store.read(threadId, { ids })
  noteRows(run, messages)
  return known.get(run)!
}

/**
 * Keeps what a suspended run has put, or forgets it when the run has ended. Its state does not say it: that is made before
 * the last rows are put.
 */
export async function keepRows(
  store: ThreadStore,
  threadId: string,
  { run, isSuspended }: { readonly run: RunRows; readonly isSuspended: boolean },
): Promise<void> {
  // Most runs are never suspended, and have nothing to be forgotten.
  if (!isSuspended && !resumed.has(run)) return
  if (!isSuspended) await forgetRun(store, threadId, run)
  const key = keyOf(run)
  const { revision = 0 } = (await store.readDocument(key)) ?? {}
  const value = isSuspended ? run.rows : undefined
  await store.writeDocument({ key, value, expectedRevision: revision, threadId })
}

/** Removes the suspended run that has ended: a state that was kept elsewhere too is resumed without being taken. */
async function forgetRun(store: ThreadStore, threadId: string, { key }: RunRows): Promise<void> {
  const runs = await store.listRuns(threadId)
  // The state is the loop's; the key in it is unlike any other text.
  const own = runs.filter(({ state }) => JSON.stringify(state).includes(key))
  await Promise.all(own.map(({ runId }) => store.removeRun(runId)))
}

function keyOf({ key }: RunRows): string {
  return `suspended-run/${key}`
}
