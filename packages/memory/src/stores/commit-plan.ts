// What a commit means for what is stored: decided here, without any store, so that all stores agree.
import type { AgentMessage } from '@lockstep/message-list'
import { MemoryError } from '../errors.ts'
import type { CommitOutcome, DocumentWrite, Thread, ThreadCommit } from './thread-store.ts'

/** A message as a row: its id and its JSON. */
export interface MessageRow {
  readonly id: string
  readonly body: string
}

/** What the store has. `bodies` has at least those of the ids that the commit names. */
export interface StoredState {
  readonly thread: Thread | undefined
  readonly bodies: ReadonlyMap<string, string>
}

/** What is to be written. */
export interface CommitWrite {
  readonly type: 'write'
  readonly thread: Thread
  readonly isNew: boolean
  readonly remove: readonly string[]
  readonly replace: readonly MessageRow[]
  readonly append: readonly MessageRow[]
  /** Some text that was stored is not any more, so that its traces have to go too. */
  readonly takesAway: boolean
}

/** What a commit leads to: rows to write, or an outcome at once. */
export type CommitPlan = CommitWrite | CommitOutcome

/** The ids whose stored bodies a plan needs. */
export function idsIn({ remove = [], put = [] }: ThreadCommit): readonly string[] {
  return [...new Set([...remove, ...put.map(({ id }) => id)])]
}

/** Decides what a commit writes. Throws: `wrong-thread`. */
export function planCommit(
  { thread, bodies }: StoredState,
  commit: ThreadCommit,
  at: { readonly threadId: string; readonly now: string },
): CommitPlan {
  const { expectedRevision } = commit
  const revision = thread?.revision ?? 0
  const known = commit.thread ?? {}
  const removed = new Set((commit.remove ?? []).filter(id => bodies.has(id)))
  const rows = rowsOf(commit.put ?? [], at.threadId)
  const replace = rows.filter(({ id, body }) => bodies.has(id) && !removed.has(id) && bodies.get(id) !== body)
  const append = rows.filter(({ id }) => !bodies.has(id) || removed.has(id))
  const changed = removed.size + replace.length + append.length > 0 || differs(thread, known)
  if (!changed) return { type: 'committed', revision }
  if (revision !== expectedRevision) return { type: 'conflict', expectedRevision, revision }
  return {
    type: 'write',
    thread: {
      createdAt: at.now,
      ...thread,
      ...defined(known),
      id: at.threadId,
      revision: revision + 1,
      updatedAt: at.now,
    },
    isNew: thread === undefined,
    remove: [...removed],
    replace,
    append,
    takesAway: removed.size > 0 || replace.some(({ id, body }) => !grew(bodies.get(id)!, body)),
  }
}

function rowsOf(messages: readonly AgentMessage[], threadId: string): readonly MessageRow[] {
  const rows = new Map<string, MessageRow>()
  for (const message of messages) {
    if (message.threadId !== undefined && message.threadId !== threadId)
      throw new MemoryError(
        'wrong-thread',
        `The message "${message.id}" is of the thread "${message.threadId}", and was put into "${threadId}". Put it into its own, or copy it without its threadId.`,
      )
    rows.set(message.id, { id: message.id, body: JSON.stringify(message) })
  }
  return [...rows.values()]
}

function differs(thread: Thread | undefined, known: NonNullable<ThreadCommit['thread']>): boolean {
  return (['resourceId', 'title', 'metadata'] as const).some(
    key => known[key] !== undefined && JSON.stringify(known[key]) !== JSON.stringify(thread?.[key]),
  )
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T
}

/** Whether a message has only become longer: the common case of a response, of which nothing has to be wiped. */
function grew(before: string, after: string): boolean {
  return before.endsWith(']}}') && after.startsWith(before.slice(0, -']}}'.length))
}

/** A document as a row. */
export interface DocumentRow {
  readonly value: string
  readonly revision: number
}

/** Decides what a write of a document leads to: a row, `null` for none any more, or an outcome at once. */
export function planDocument(
  row: DocumentRow | undefined,
  { value, expectedRevision }: DocumentWrite,
): { readonly type: 'write'; readonly row: DocumentRow | null } | CommitOutcome {
  const revision = row?.revision ?? 0
  const text = value === undefined ? undefined : JSON.stringify(value)
  if (text === row?.value) return { type: 'committed', revision }
  if (revision !== expectedRevision) return { type: 'conflict', expectedRevision, revision }
  return { type: 'write', row: text === undefined ? null : { value: text, revision: revision + 1 } }
}
