// An SQLite file: opened late, one transaction at a time, waiting for other processes without stopping this one.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { isBusy, sqliteError } from './sqlite-errors.ts'
import { closedStore } from './stored-message.ts'

/** How a file is opened. */
export interface SqliteFileOptions {
  readonly path: string
  readonly lockTimeoutMs: number
  /** Whether the file needs an extension of SQLite, which `prepare` loads. */
  readonly allowExtension?: boolean
  /** Makes the tables. */
  readonly prepare: (database: DatabaseSync) => void
}

/** A file with its connection, its prepared statements and its transactions. */
export class SqliteFile {
  /** Set by who takes something away: it may still stand in the write-ahead log. */
  leftTraces = false
  readonly #options: SqliteFileOptions
  readonly #statements = new Map<string, StatementSync>()
  #database: DatabaseSync | undefined
  #closed = false

  constructor(options: SqliteFileOptions) {
    this.#options = options
  }

  /** The rows of a query, within a transaction. */
  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#statement(sql).all(...values) as T[]
  }

  /** Runs a statement, within a transaction. */
  run(sql: string, ...values: SQLInputValue[]): void {
    this.#statement(sql).run(...values)
  }

  /** Reads as of one moment. */
  read<T>(work: () => T): Promise<T> {
    return this.#attempt(work, 'DEFERRED')
  }

  /** Writes all or nothing, and wipes what was taken away. */
  async write<T>(work: () => T): Promise<T> {
    const result = await this.#attempt(work, 'IMMEDIATE')
    if (this.leftTraces) await this.#wipe()
    return result
  }

  async close(): Promise<void> {
    if (this.#closed) return
    if (this.leftTraces) await this.#wipe()
    this.#closed = true
    this.#statements.clear()
    this.#database?.close()
    this.#database = undefined
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database!.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /**
   * Does some work in one transaction, and again while another process holds the lock. The waiting is asynchronous: a
   * busy timeout of the driver would stop this whole process.
   */
  async #attempt<T>(work: () => T, mode: 'IMMEDIATE' | 'DEFERRED'): Promise<T> {
    const deadline = performance.now() + this.#options.lockTimeoutMs
    for (;;) {
      if (this.#closed) throw closedStore()
      try {
        this.#database ??= this.#open()
        return inTransaction(this.#database, mode, work)
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw sqliteError(error, this.#options.path)
        await aMoment()
      }
    }
  }

  #open(): DatabaseSync {
    const { path, allowExtension = false, prepare } = this.#options
    const database = new DatabaseSync(path, { timeout: 0, allowExtension })
    try {
      // Deleted text is overwritten, and a commit survives the process; a loss of power may take the last ones.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;')
      prepare(database)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** Moves everything from the write-ahead log into the file, so that what was overwritten is nowhere any more. */
  async #wipe(): Promise<void> {
    for (let tries = 0; tries < 20 && this.#database; tries++) {
      try {
        const { busy } = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number }
        this.leftTraces = busy === 1
        if (!this.leftTraces) return
      } catch (error) {
        if (!isBusy(error)) throw sqliteError(error, this.#options.path)
      }
      await aMoment()
    }
  }
}

/** All of some work, or nothing of it. */
export function inTransaction<T>(database: DatabaseSync, mode: string, work: () => T): T {
  database.exec(`BEGIN ${mode}`)
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back itself, as it does when the disk is full.
    }
    throw error
  }
}

/** Long enough for another process to end its transaction, and never as long as that of a rival. */
function aMoment(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 1 + Math.random() * 9))
}
