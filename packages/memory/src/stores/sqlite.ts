// The embedded store: one file, nothing to install or start, several processes at once.
import type { DatabaseSync } from 'node:sqlite'
import { idsIn, planCommit, planDocument, type CommitWrite, type DocumentRow, type MessageRow } from './commit-plan.ts'
import { MemoryError } from '../errors.ts'
import { inTransaction, SqliteFile } from './sqlite-file.ts'
import { sqliteMigrations } from './sqlite-schema.ts'
import { storedMessageOf, unknownMessage } from './stored-message.ts'
import { documentOfRow, runOfRow, threadOfRow, type RunRow, type ThreadRow } from './stored-row.ts'
import type {
  CommitOutcome,
  DocumentWrite,
  ListThreadsOptions,
  ReadOptions,
  StoredDocument,
  SuspendedRun,
  Thread,
  ThreadCommit,
  ThreadPage,
  ThreadStore,
} from './thread-store.ts'

/** How the store is made. */
export interface SqliteStoreOptions {
  /** The file; it is made when it is not there. `:memory:` keeps everything in this process. */
  readonly path: string
  /** How long a lock that another process holds is waited for, without blocking this one; 5,000 when absent. */
  readonly lockTimeoutMs?: number
}

/**
 * Makes a store in an SQLite file. Nothing is opened before the first call.
 *
 * Threads are safe from other processes and from a process that is killed. What a commit takes away is wiped from the
 * file and its write-ahead log, as far as no other connection is just then reading.
 *
 * *Throws*: `invalid-option` without a path.
 */
export function sqliteStore(options: SqliteStoreOptions): ThreadStore {
  return new SqliteStore(options)
}

const columns = 'id, resource_id, title, metadata, revision, created_at, updated_at'

class SqliteStore implements ThreadStore {
  readonly #file: SqliteFile

  constructor(options: SqliteStoreOptions) {
    const { path, lockTimeoutMs = 5_000 } = options
    if (typeof path !== 'string')
      throw new MemoryError(
        'invalid-option',
        `The path of the database is ${String(path)}. Give sqliteStore({ path: ${JSON.stringify(typeof options === 'string' ? options : 'threads.db')} }).`,
      )
    this.#file = new SqliteFile({ path, lockTimeoutMs, prepare: database => migrate(database, path) })
  }

  read(threadId: string, options: ReadOptions = {}): Promise<ThreadPage> {
    return this.#file.read(() => {
      const { last, before, ids } = options
      const thread = this.#thread(threadId)
      const end = before === undefined ? Number.MAX_SAFE_INTEGER : this.#sequenceOf(threadId, before)
      const count = last ?? (ids === undefined ? -1 : 0)
      const rows = this.#file.all<MessageRow>(
        `SELECT id, body FROM lockstep_messages WHERE seq IN (
           SELECT seq FROM (SELECT seq FROM lockstep_messages WHERE thread_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3)
           UNION
           SELECT m.seq FROM json_each(?4) AS wanted CROSS JOIN lockstep_messages AS m
             ON m.thread_id = ?1 AND m.id = wanted.value WHERE m.seq < ?2
         ) ORDER BY seq`,
        threadId,
        end,
        count,
        JSON.stringify(ids ?? []),
      )
      return { thread, messages: rows.map(storedMessageOf) }
    })
  }

  commit(threadId: string, commit: ThreadCommit): Promise<CommitOutcome> {
    return this.#file.write(() => {
      const bodies = new Map(
        this.#file
          .all<MessageRow>(
            `SELECT m.id, m.body FROM json_each(?2) AS wanted CROSS JOIN lockstep_messages AS m
             ON m.thread_id = ?1 AND m.id = wanted.value`,
            threadId,
            JSON.stringify(idsIn(commit)),
          )
          .map(({ id, body }) => [id, body]),
      )
      const at = { threadId, now: new Date().toISOString() }
      const plan = planCommit({ thread: this.#thread(threadId), bodies }, commit, at)
      if (plan.type !== 'write') return plan
      this.#write(plan)
      return { type: 'committed', revision: plan.thread.revision } as const
    })
  }

  #write({ thread, remove, replace, append, takesAway }: CommitWrite): void {
    const { id, resourceId, title, metadata, revision, createdAt, updatedAt } = thread
    this.#file.run(
      `INSERT INTO lockstep_threads (${columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET resource_id = ?2, title = ?3, metadata = ?4, revision = ?5, updated_at = ?7`,
      id,
      resourceId ?? null,
      title ?? null,
      metadata === undefined ? null : JSON.stringify(metadata),
      revision,
      createdAt,
      updatedAt,
    )
    for (const gone of remove) this.#file.run('DELETE FROM lockstep_messages WHERE thread_id = ? AND id = ?', id, gone)
    for (const row of replace)
      this.#file.run('UPDATE lockstep_messages SET body = ? WHERE thread_id = ? AND id = ?', row.body, id, row.id)
    for (const row of append)
      this.#file.run('INSERT INTO lockstep_messages (thread_id, id, body) VALUES (?, ?, ?)', id, row.id, row.body)
    if (takesAway) this.#file.leftTraces = true
  }

  listThreads({ resourceId, limit = 100, after }: ListThreadsOptions = {}): Promise<readonly Thread[]> {
    return this.#file.read(() =>
      this.#file
        .all<ThreadRow>(
          `SELECT ${columns} FROM lockstep_threads
             WHERE ${resourceId === undefined ? '?1 IS NULL' : 'resource_id = ?1'} AND (updated_at, id) < (?2, ?3)
             ORDER BY updated_at DESC, id DESC LIMIT ?4`,
          resourceId ?? null,
          after?.updatedAt ?? '~',
          after?.id ?? '',
          limit,
        )
        .map(threadOfRow),
    )
  }

  readDocument(key: string): Promise<StoredDocument | undefined> {
    return this.#file.read(() => this.#document(key).map(row => documentOfRow(key, row))[0])
  }

  writeDocument(write: DocumentWrite): Promise<CommitOutcome> {
    return this.#file.write(() => {
      const { key, threadId } = write
      const [row] = this.#document(key)
      const plan = planDocument(row, write)
      if (plan.type !== 'write') return plan
      if (row !== undefined) this.#file.leftTraces = true
      if (plan.row === null) this.#file.run('DELETE FROM lockstep_documents WHERE key = ?', key)
      else
        this.#file.run(
          `INSERT INTO lockstep_documents (key, thread_id, value, revision) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (key) DO UPDATE SET thread_id = ?2, value = ?3, revision = ?4`,
          key,
          threadId ?? null,
          plan.row.value,
          plan.row.revision,
        )
      return { type: 'committed', revision: plan.row?.revision ?? 0 } as const
    })
  }

  deleteThread(threadId: string): Promise<void> {
    return this.#file.write(() => {
      for (const [table, column] of [
        ['lockstep_messages', 'thread_id'],
        ['lockstep_runs', 'thread_id'],
        ['lockstep_documents', 'thread_id'],
        ['lockstep_threads', 'id'],
      ])
        this.#file.run(`DELETE FROM ${table} WHERE ${column} = ?`, threadId)
      this.#file.leftTraces = true
    })
  }

  saveRun({ runId, threadId, state }: Pick<SuspendedRun, 'runId' | 'threadId' | 'state'>): Promise<void> {
    return this.#file.write(() =>
      this.#file.run(
        `INSERT INTO lockstep_runs (id, thread_id, state, created_at) VALUES (?1, ?2, ?3, ?4)
           ON CONFLICT (id) DO UPDATE SET thread_id = ?2, state = ?3, created_at = ?4`,
        runId,
        threadId,
        JSON.stringify(state),
        new Date().toISOString(),
      ),
    )
  }

  async readRun(runId: string): Promise<SuspendedRun | undefined> {
    const rows = await this.#file.read(() =>
      this.#file.all<RunRow>('SELECT id, thread_id, state, created_at FROM lockstep_runs WHERE id = ?', runId),
    )
    return rows.map(runOfRow)[0]
  }

  listRuns(threadId: string): Promise<readonly SuspendedRun[]> {
    return this.#file.read(() =>
      this.#file
        .all<RunRow>(
          'SELECT id, thread_id, state, created_at FROM lockstep_runs WHERE thread_id = ? ORDER BY created_at, id',
          threadId,
        )
        .map(runOfRow),
    )
  }

  removeRun(runId: string): Promise<boolean> {
    return this.#file.write(() => {
      const wasThere = this.#file.all('DELETE FROM lockstep_runs WHERE id = ? RETURNING id', runId).length > 0
      if (wasThere) this.#file.leftTraces = true
      return wasThere
    })
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  #thread(threadId: string): Thread | undefined {
    return this.#file
      .all<ThreadRow>(`SELECT ${columns} FROM lockstep_threads WHERE id = ?`, threadId)
      .map(threadOfRow)[0]
  }

  #document(key: string): readonly DocumentRow[] {
    return this.#file.all<DocumentRow>('SELECT value, revision FROM lockstep_documents WHERE key = ?', key)
  }

  #sequenceOf(threadId: string, id: string): number {
    const [row] = this.#file.all<{ readonly seq: number }>(
      'SELECT seq FROM lockstep_messages WHERE thread_id = ? AND id = ?',
      threadId,
      id,
    )
    if (row === undefined) throw unknownMessage(threadId, id)
    return row.seq
  }
}

/** Brings the tables up to date. Throws: `newer-schema`. */
function migrate(database: DatabaseSync, path: string): void {
  const version = () =>
    (
      database.prepare('SELECT coalesce(max(version), 0) AS version FROM lockstep_migrations').get() as {
        readonly version: number
      }
    ).version
  const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lockstep_migrations'").get()
  if (isThere && version() === sqliteMigrations.length) return
  inTransaction(database, 'IMMEDIATE', () => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS lockstep_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL) STRICT',
    )
    const from = version()
    if (from > sqliteMigrations.length)
      throw new MemoryError(
        'newer-schema',
        `The database ${path} has version ${from} of the tables, and this package knows ${sqliteMigrations.length}. Update @lockstep/memory.`,
      )
    for (const [index, step] of sqliteMigrations.slice(from).entries()) {
      database.exec(step)
      database
        .prepare('INSERT INTO lockstep_migrations (version, applied_at) VALUES (?, ?)')
        .run(from + index + 1, new Date().toISOString())
    }
  })
}
