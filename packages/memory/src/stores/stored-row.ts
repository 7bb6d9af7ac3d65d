// The rows of a database as threads and runs. SQLite and PostgreSQL name their columns alike.
import type { DocumentRow } from './commit-plan.ts'
import { parsed } from './stored-message.ts'
import type { StoredDocument, SuspendedRun, Thread } from './thread-store.ts'

/** A row of `lockstep_threads`. */
export interface ThreadRow {
  readonly id: string
  readonly resource_id: string | null
  readonly title: string | null
  /** JSON. */
  readonly metadata: string | null
  /** A text where the database has larger numbers than JavaScript. */
  readonly revision: number | string
  readonly created_at: string
  readonly updated_at: string
}

/** A row of `lockstep_runs`. */
export interface RunRow {
  readonly id: string
  readonly thread_id: string
  /** JSON. */
  readonly state: string
  readonly created_at: string
}

export function threadOfRow(row: ThreadRow): Thread {
  return {
    id: row.id,
    ...(row.resource_id === null ? {} : { resourceId: row.resource_id }),
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.metadata === null ? {} : { metadata: parsed<object>(row.metadata, `The thread "${row.id}"`) }),
    revision: Number(row.revision),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  } as Thread
}

export function runOfRow(row: RunRow): SuspendedRun {
  return {
    runId: row.id,
    threadId: row.thread_id,
    state: parsed(row.state, `The run "${row.id}"`),
    createdAt: row.created_at,
  }
}

export function documentOfRow(key: string, { value, revision }: DocumentRow): StoredDocument {
  return { key, value: parsed(value, `The document "${key}"`), revision: Number(revision) }
}
