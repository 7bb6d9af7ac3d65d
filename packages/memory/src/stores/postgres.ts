// The store for several processes and machines, on a PostgreSQL server. `pg` is the user's to install.
import { Pool } from 'pg'
import { idsIn, planCommit, planDocument, type CommitWrite, type DocumentRow, type MessageRow } from './commit-plan.ts'
import { MemoryError } from '../errors.ts'
import { isPassing, postgresError } from './postgres-errors.ts'
import { postgresMigrations } from './postgres-schema.ts'
import { closedStore, storedMessageOf, unknownMessage } from './stored-message.ts'
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

/** What the store needs of a connection of `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>
  release(error?: boolean): void
}

/** What the store needs of a pool of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
}

/** How the store is made: with an address, or with a pool that is yours and that you close. */
export type PostgresStoreOptions = ({ readonly connectionString: string } | { readonly pool: PostgresPool }) & {
  /** How long a writer waits for others of the same thread; 5,000 when absent. */
  readonly lockTimeoutMs?: number
}

/**
 * Makes a store in a PostgreSQL database. Nothing is connected before the first call, which also makes the tables.
 *
 * Writers of one thread wait for each other; those of different threads do not.
 */
export function postgresStore(options: PostgresStoreOptions): ThreadStore {
  return new PostgresStore(options)
}

const columns = 'id, resource_id, title, metadata, revision, created_at, updated_at'
const runColumns = 'id, thread_id, state, created_at'
/** Any number that nobody else uses for an advisory lock. */
const migrationLock = 7_165_428_301
const migrationTimeoutMs = 60_000

class PostgresStore implements ThreadStore {
  readonly #pool: PostgresPool
  readonly #own: Pool | undefined
  readonly #lockTimeoutMs: number
  #ready: Promise<void> | undefined
  #closed = false

  constructor(options: PostgresStoreOptions) {
    this.#lockTimeoutMs = options.lockTimeoutMs ?? 5_000
    if ('connectionString' in options) {
      const { connectionString } = options
      this.#own = new Pool({ connectionString, connectionTimeoutMillis: 10_000, application_name: 'lockstep' })
      // An idle connection that breaks is replaced by the next call; unheard, its error would end the process.
      this.#own.on('error', () => {})
    }
    this.#pool = 'pool' in options ? options.pool : (this.#own as PostgresPool)
  }

  async read(threadId: string, { last, before, ids }: ReadOptions = {}): Promise<ThreadPage> {
    // One statement, so that the thread and its messages are of one moment.
    const rows = await this.#query<ThreadRow & { readonly before_seq: string | null; readonly messages: string }>(
      `WITH edge AS (SELECT seq FROM lockstep_messages WHERE thread_id = $1 AND id = $2)
       SELECT t.*, (SELECT seq FROM edge) AS before_seq, (
         SELECT coalesce(json_agg(json_build_array(m.id, m.body) ORDER BY m.seq), '[]'::json) FROM (
           (SELECT id, body, seq FROM lockstep_messages
              WHERE thread_id = $1 AND ($2::text IS NULL OR seq < (SELECT seq FROM edge)) ORDER BY seq DESC LIMIT $3)
           UNION
           SELECT id, body, seq FROM lockstep_messages
              WHERE thread_id = $1 AND id = ANY ($4) AND ($2::text IS NULL OR seq < (SELECT seq FROM edge))
         ) m
       )::text AS messages FROM (SELECT 1) one LEFT JOIN lockstep_threads t ON t.id = $1`,
      [threadId, before ?? null, last ?? (ids === undefined ? null : 0), ids ?? []],
    )
    const row = rows[0]!
    if (before !== undefined && row.before_seq === null) throw unknownMessage(threadId, before)
    const messages = (JSON.parse(row.messages) as readonly (readonly [string, string])[]).map(([id, body]) =>
      storedMessageOf({ id, body }),
    )
    return { thread: (row.id as string | null) === null ? undefined : threadOfRow(row), messages }
  }

  commit(threadId: string, commit: ThreadCommit): Promise<CommitOutcome> {
    return this.#transaction(async client => {
      const threads = await client.query(`SELECT ${columns} FROM lockstep_threads WHERE id = $1 FOR UPDATE`, [threadId])
      const stored = await client.query(
        'SELECT id, body FROM lockstep_messages WHERE thread_id = $1 AND id = ANY ($2)',
        [threadId, idsIn(commit)],
      )
      const bodies = new Map((stored.rows as MessageRow[]).map(({ id, body }) => [id, body]))
      const [thread] = (threads.rows as ThreadRow[]).map(threadOfRow)
      const plan = planCommit({ thread, bodies }, commit, { threadId, now: new Date().toISOString() })
      if (plan.type !== 'write') return plan
      await write(client, plan)
      return { type: 'committed', revision: plan.thread.revision }
    })
  }

  async listThreads({ resourceId, limit = 100, after }: ListThreadsOptions = {}): Promise<readonly Thread[]> {
    const rows = await this.#query<ThreadRow>(
      `SELECT ${columns} FROM lockstep_threads
         WHERE ${resourceId === undefined ? '$1::text IS NULL' : 'resource_id = $1'} AND (updated_at, id) < ($2, $3)
         ORDER BY updated_at DESC, id DESC LIMIT $4`,
      [resourceId ?? null, after?.updatedAt ?? '~', after?.id ?? '', limit],
    )
    return rows.map(threadOfRow)
  }

  async readDocument(key: string): Promise<StoredDocument | undefined> {
    const rows = await this.#query<DocumentRow>('SELECT value, revision FROM lockstep_documents WHERE key = $1', [key])
    return rows.map(row => documentOfRow(key, row))[0]
  }

  writeDocument(write: DocumentWrite): Promise<CommitOutcome> {
    return this.#transaction(async client => {
      const { key, threadId = null } = write
      const sql = 'SELECT value, revision::integer AS revision FROM lockstep_documents WHERE key = $1 FOR UPDATE'
      const [row] = (await client.query(sql, [key])).rows as DocumentRow[]
      const plan = planDocument(row, write)
      if (plan.type !== 'write') return plan
      if (plan.row === null) await client.query('DELETE FROM lockstep_documents WHERE key = $1', [key])
      else
        await client.query(
          row === undefined
            ? 'INSERT INTO lockstep_documents (key, thread_id, value, revision) VALUES ($1, $2, $3, $4)'
            : 'UPDATE lockstep_documents SET thread_id = $2, value = $3, revision = $4 WHERE key = $1',
          [key, threadId, plan.row.value, plan.row.revision],
        )
      return { type: 'committed', revision: plan.row?.revision ?? 0 }
    })
  }

  deleteThread(threadId: string): Promise<void> {
    return this.#transaction(async client => {
      await client.query('SELECT 1 FROM lockstep_threads WHERE id = $1 FOR UPDATE', [threadId])
      await client.query('DELETE FROM lockstep_messages WHERE thread_id = $1', [threadId])
      await client.query('DELETE FROM lockstep_runs WHERE thread_id = $1', [threadId])
      await client.query('DELETE FROM lockstep_documents WHERE thread_id = $1', [threadId])
      await client.query('DELETE FROM lockstep_threads WHERE id = $1', [threadId])
    })
  }

  async saveRun({ runId, threadId, state }: Pick<SuspendedRun, 'runId' | 'threadId' | 'state'>): Promise<void> {
    await this.#query(
      `INSERT INTO lockstep_runs (${runColumns}) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET thread_id = $2, state = $3, created_at = $4`,
      [runId, threadId, JSON.stringify(state), new Date().toISOString()],
    )
  }

  async readRun(runId: string): Promise<SuspendedRun | undefined> {
    const rows = await this.#query<RunRow>(`SELECT ${runColumns} FROM lockstep_runs WHERE id = $1`, [runId])
    return rows.map(runOfRow)[0]
  }

  async listRuns(threadId: string): Promise<readonly SuspendedRun[]> {
    const rows = await this.#query<RunRow>(
      `SELECT ${runColumns} FROM lockstep_runs WHERE thread_id = $1 ORDER BY created_at, id`,
      [threadId],
    )
    return rows.map(runOfRow)
  }

  async removeRun(runId: string): Promise<boolean> {
    return (await this.#query('DELETE FROM lockstep_runs WHERE id = $1 RETURNING id', [runId])).length > 0
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#own?.end()
  }

  async #query<T>(text: string, values: unknown[]): Promise<T[]> {
    await this.#migrated()
    return (await this.#withClient(client => client.query(text, values))).rows as T[]
  }

  /** Does some work in one transaction, and again when the server gave it up for the sake of another one. */
  async #transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T> {
    await this.#migrated()
    return this.#withClient(client => transaction(client, this.#lockTimeoutMs, () => work(client)))
  }

  /** Makes the tables once; tried again by the next call when it failed. */
  #migrated(): Promise<void> {
    this.#ready ??= this.#withClient(migrate).catch((error: unknown) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  async #withClient<T>(work: (client: PostgresClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.#closed) throw closedStore()
      try {
        return await withClient(this.#pool, work)
      } catch (error) {
        if (!isPassing(error) || tries === 10) throw postgresError(error)
      }
    }
  }
}

async function write(client: PostgresClient, plan: CommitWrite): Promise<void> {
  const { id, resourceId, title, metadata, revision, createdAt, updatedAt } = plan.thread
  const json = metadata === undefined ? null : JSON.stringify(metadata)
  const fields = [id, resourceId ?? null, title ?? null, json, revision, createdAt, updatedAt]
  // Two that make one thread at once: the second breaks the unique key, and begins anew.
  await client.query(
    plan.isNew
      ? `INSERT INTO lockstep_threads (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7)`
      : `UPDATE lockstep_threads SET resource_id = $2, title = $3, metadata = $4, revision = $5, created_at = $6,
           updated_at = $7 WHERE id = $1`,
    fields,
  )
  if (plan.remove.length > 0)
    await client.query('DELETE FROM lockstep_messages WHERE thread_id = $1 AND id = ANY ($2)', [id, plan.remove])
  if (plan.replace.length > 0)
    await client.query(
      `UPDATE lockstep_messages m SET body = row.body FROM unnest($2::text[], $3::text[]) AS row (id, body)
         WHERE m.thread_id = $1 AND m.id = row.id`,
      [id, plan.replace.map(row => row.id), plan.replace.map(row => row.body)],
    )
  if (plan.append.length > 0)
    await client.query(
      `INSERT INTO lockstep_messages (thread_id, id, body)
         SELECT $1, row.id, row.body FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS row (id, body, place)
         ORDER BY row.place`,
      [id, plan.append.map(row => row.id), plan.append.map(row => row.body)],
    )
}

async function withClient<T>(pool: PostgresPool, work: (client: PostgresClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let stuck = false
  try {
    return await work(client)
  } catch (error) {
    // Outside of a transaction this does nothing. Where it fails, the connection is given up.
    await client.query('ROLLBACK').catch(() => (stuck = true))
    throw error
  } finally {
    client.release(stuck)
  }
}

async function transaction<T>(client: PostgresClient, lockTimeoutMs: number, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${Math.max(Math.trunc(lockTimeoutMs), 1)}`)
  const result = await work()
  await client.query('COMMIT')
  return result
}

/** Brings the tables up to date; several processes that start at once wait for the first. Throws: `newer-schema`. */
async function migrate(client: PostgresClient): Promise<void> {
  const isThere = await client.query("SELECT to_regclass('lockstep_migrations') IS NOT NULL AS there")
  if ((isThere.rows[0] as { readonly there: boolean }).there && (await versionOf(client)) === postgresMigrations.length)
    return
  await transaction(client, migrationTimeoutMs, async () => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    await client.query(
      'CREATE TABLE IF NOT EXISTS lockstep_migrations (version integer PRIMARY KEY, applied_at text NOT NULL)',
    )
    const from = await versionOf(client)
    if (from > postgresMigrations.length)
      throw new MemoryError(
        'newer-schema',
        `The database has version ${from} of the tables, and this package knows ${postgresMigrations.length}. Update @lockstep/memory.`,
      )
    for (const [index, step] of postgresMigrations.slice(from).entries()) {
      await client.query(step)
      const values = [from + index + 1, new Date().toISOString()]
      await client.query('INSERT INTO lockstep_migrations (version, applied_at) VALUES ($1, $2)', values)
    }
  })
}

async function versionOf(client: PostgresClient): Promise<number> {
  const { rows } = await client.query('SELECT coalesce(max(version), 0) AS version FROM lockstep_migrations')
  return (rows[0] as { readonly version: number }).version
}
