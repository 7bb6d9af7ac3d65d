// A vector index in an SQLite file, by the extension `sqlite-vec`, which is the user's to install.
import type { DatabaseSync } from 'node:sqlite'
import { getLoadablePath } from 'sqlite-vec'
import { MemoryError } from '../errors.ts'
import { SqliteFile } from '../stores/sqlite-file.ts'
import type { VectorEntry, VectorHit, VectorIndex, VectorSearch } from './vector-index.ts'

/** How the index is made. */
export interface SqliteVectorIndexOptions {
  /** The file; it may be the store's. */
  readonly path: string
  /** How many numbers a vector of the embedder has. */
  readonly dimensions: number
  /** How long a lock that another process holds is waited for; 5,000 when absent. */
  readonly lockTimeoutMs?: number
}

/**
 * Makes an index in an SQLite file, that of a store or one of its own.
 *
 * *Cost*: a search compares with every entry; some milliseconds for ten thousand.
 * *Throws*: `invalid-vector` for another number of dimensions.
 */
export function sqliteVectorIndex(options: SqliteVectorIndexOptions): VectorIndex {
  return new SqliteVectorIndex(options)
}

interface HitRow {
  readonly thread_id: string
  readonly message_ids: string
  readonly distance: number
}

class SqliteVectorIndex implements VectorIndex {
  readonly #dimensions: number
  readonly #file: SqliteFile

  constructor({ path, dimensions, lockTimeoutMs = 5_000 }: SqliteVectorIndexOptions) {
    const prepare = (database: DatabaseSync) => makeTable(database, dimensions)
    this.#dimensions = dimensions
    this.#file = new SqliteFile({ path, lockTimeoutMs, allowExtension: true, prepare })
  }

  put(entries: readonly VectorEntry[]): Promise<void> {
    return this.#file.write(() => {
      for (const { id, threadId, resourceId = '', messageIds, vector } of entries) {
        this.#file.run('DELETE FROM lockstep_vectors WHERE id = ?', id)
        this.#file.run(
          'INSERT INTO lockstep_vectors (id, vector, thread_id, resource_id, message_ids) VALUES (?, ?, ?, ?, ?)',
          id,
          this.#bytesOf(vector),
          threadId,
          resourceId,
          JSON.stringify(messageIds),
        )
      }
    })
  }

  search({ vector, limit, threadId, resourceId }: VectorSearch): Promise<readonly VectorHit[]> {
    return this.#file.read(() => {
      const filters = [
        ...(threadId === undefined ? [] : [['thread_id', threadId] as const]),
        ...(resourceId === undefined ? [] : [['resource_id', resourceId] as const]),
      ]
      const rows = this.#file.all<HitRow>(
        `SELECT thread_id, message_ids, distance FROM lockstep_vectors
           WHERE vector MATCH ? AND k = ?${filters.map(([column]) => ` AND ${column} = ?`).join('')} ORDER BY distance`,
        this.#bytesOf(vector),
        limit,
        ...filters.map(([, value]) => value),
      )
      return rows.map(row => ({
        threadId: row.thread_id,
        messageIds: JSON.parse(row.message_ids) as string[],
        distance: row.distance,
      }))
    })
  }

  removeThread(threadId: string): Promise<void> {
    return this.#file.write(() => {
      this.#file.run('DELETE FROM lockstep_vectors WHERE thread_id = ?', threadId)
      this.#file.leftTraces = true
    })
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  #bytesOf(vector: readonly number[]): Uint8Array {
    if (vector.length === this.#dimensions) return new Uint8Array(new Float32Array(vector).buffer)
    throw wrongDimensions(`The vector has ${vector.length} dimensions`, this.#dimensions)
  }
}

function makeTable(database: DatabaseSync, dimensions: number): void {
  database.loadExtension(getLoadablePath())
  database.enableLoadExtension(false)
  database.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS lockstep_vectors USING vec0(
       id text primary key, vector float[${Math.trunc(dimensions)}] distance_metric=cosine,
       thread_id text, resource_id text, +message_ids text
     )`,
  )
  const { sql } = database.prepare("SELECT sql FROM sqlite_master WHERE name = 'lockstep_vectors'").get() as {
    readonly sql: string
  }
  const made = /float\[(\d+)\]/.exec(sql)?.[1]
  if (made !== String(dimensions)) throw wrongDimensions(`The index was made for ${made} dimensions`, dimensions)
}

function wrongDimensions(fact: string, dimensions: number): MemoryError {
  return new MemoryError(
    'invalid-vector',
    `${fact}, and ${dimensions} were said. Use the embedder that the index was made with, or another file.`,
  )
}
