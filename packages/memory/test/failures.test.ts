import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AgentMessage } from '@lockstep/agent'
import type { MemoryErrorCode, ThreadStore } from '@lockstep/memory'
import { postgresStore } from '@lockstep/memory/postgres'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { conversation, storedLines } from './conversation.ts'
import { databaseAt, hasServer, onServer, ownDatabase } from './postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-failures-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
const newPath = () => join(folder, `${count++}.db`)

function message(id: string, text = id): AgentMessage {
  const createdAt = '2026-11-21T10:00:00.000Z'
  return { id, role: 'user', createdAt, content: { format: 2, parts: [{ type: 'text', text }] } }
}

/** The error of a store that cannot do what it is asked. */
async function failureOf(work: Promise<unknown>, code: MemoryErrorCode): Promise<string> {
  const error: unknown = await work.then(
    () => 'it worked',
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ name: 'MemoryError', code })
  return (error as Error).message
}

const write = (store: ThreadStore, id = 'a') => store.commit('t', { expectedRevision: 0, put: [message(id)] })

describe('SQLite', () => {
  it('says that the disk is full, and has what it acknowledged', async () => {
    const path = newPath()
    await write(sqliteStore({ path }))
    const database = new DatabaseSync(path)
    const { page_count: pageCount } = database.prepare('PRAGMA page_count').get() as { page_count: number }
    database.close()
    // The limit is one of the connection, so it is set where the store opens its own.
    const own = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec')!
    DatabaseSync.prototype.exec = function (sql) {
      ;(own.value as DatabaseSync['exec']).call(
        this,
        sql.startsWith('PRAGMA journal_mode') ? `${sql}; PRAGMA max_page_count = ${pageCount + 4}` : sql,
      )
    }
    const store = sqliteStore({ path })
    try {
      let revision = 1
      const fill = async () => {
        for (;;) {
          const put = [message(`m${revision}`, 'x'.repeat(3_000))]
          const outcome = await store.commit('t', { expectedRevision: revision, put })
          revision = outcome.revision
        }
      }
      expect(await failureOf(fill(), 'store-full')).toMatch(/is full.*Free some space/)
      const ids = (await store.read('t')).messages.map(({ id }) => id)
      expect(ids).toEqual(['a', ...Array.from({ length: revision - 1 }, (_, index) => `m${index + 1}`)])
      expect(revision).toBeGreaterThan(1)
    } finally {
      Object.defineProperty(DatabaseSync.prototype, 'exec', own)
      await store.close()
    }
  })

  it('waits for a lock without stopping this process, and says so when it takes too long', async () => {
    const path = newPath()
    const store = sqliteStore({ path, lockTimeoutMs: 300 })
    await write(store)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    let ticks = 0
    const clock = setInterval(() => ticks++, 5)
    const late = store.commit('t', { expectedRevision: 1, put: [message('b')] })
    expect(await failureOf(late, 'store-locked')).toMatch(/locked.*lockTimeoutMs/)
    clearInterval(clock)
    expect(ticks).toBeGreaterThan(5)
    const soon = sqliteStore({ path }).commit('t', { expectedRevision: 1, put: [message('b')] })
    setTimeout(() => other.exec('ROLLBACK'), 30)
    expect(await soon).toEqual({ type: 'committed', revision: 2 })
    other.close()
    expect((await store.read('t')).messages.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('names a table that somebody dropped', async () => {
    const path = newPath()
    const store = sqliteStore({ path })
    await write(store)
    const other = new DatabaseSync(path)
    other.exec('DROP TABLE lockstep_messages')
    other.close()
    expect(await failureOf(store.read('t'), 'missing-table')).toContain('lockstep_messages')
    expect(await failureOf(write(sqliteStore({ path }), 'b'), 'missing-table')).toContain('Restore it')
  })

  it('refuses what is no database, what cannot be opened, and tables of a newer version', async () => {
    const text = newPath()
    writeFileSync(text, 'This is a letter to my landlord, and no database at all. '.repeat(50))
    expect(await failureOf(write(sqliteStore({ path: text })), 'damaged')).toContain('not an SQLite database')
    const nowhere = join(folder, 'no', 'such', 'folder', 'x.db')
    expect(await failureOf(write(sqliteStore({ path: nowhere })), 'store-unreachable')).toContain(nowhere)
    const newer = newPath()
    await write(sqliteStore({ path: newer }))
    const database = new DatabaseSync(newer)
    database.exec("INSERT INTO lockstep_migrations VALUES (99, 'tomorrow')")
    database.close()
    expect(await failureOf(write(sqliteStore({ path: newer })), 'newer-schema')).toMatch(/version 99.*Update/)
  })

  it('brings tables of an older version up to date, and keeps what is in them', async () => {
    const path = newPath()
    await write(sqliteStore({ path }))
    const database = new DatabaseSync(path)
    database.exec('DROP TABLE lockstep_documents; DELETE FROM lockstep_migrations WHERE version = 2')
    database.close()
    const stores = [sqliteStore({ path }), sqliteStore({ path })]
    const reads = await Promise.all(stores.map(store => storedLines(store)))
    expect(reads).toEqual([['user: a'], ['user: a']])
    expect(await stores[0]!.writeDocument({ key: 'k', value: 1, expectedRevision: 0 })).toMatchObject({ revision: 1 })
  })

  it('opens a second time what failed the first time', async () => {
    const path = join(folder, 'later', 'x.db')
    const store = sqliteStore({ path })
    await failureOf(write(store), 'store-unreachable')
    execFileSync('mkdir', [join(folder, 'later')])
    expect(await write(store)).toEqual({ type: 'committed', revision: 1 })
  })

  it('says that it may not write', async () => {
    const path = newPath()
    const store = sqliteStore({ path })
    await write(store)
    await store.close()
    chmodSync(path, 0o444)
    const script = `
      const { sqliteStore } = await import('@lockstep/memory/sqlite')
      process.seteuid?.(65534)
      const store = sqliteStore({ path: ${JSON.stringify(path)} })
      await store.commit('t', { expectedRevision: 1, put: [], thread: { title: 'x' } }).catch(error => console.log(error.code))
    `
    chmodSync(folder, 0o755)
    const isBuilt = process.env['LOCKSTEP_BUILT'] === '1'
    const flags = isBuilt ? [] : ['--conditions=@lockstep/source']
    const options = { encoding: 'utf8', cwd: import.meta.dirname } as const
    expect(execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], options)).toMatch(
      /^(access-denied|store-unreachable)\n$/,
    )
  })

  it('names a row that was damaged', async () => {
    const path = newPath()
    const store = sqliteStore({ path })
    await write(store)
    const database = new DatabaseSync(path)
    database.exec('UPDATE lockstep_messages SET body = substr(body, 1, 20)')
    database.close()
    expect(await failureOf(store.read('t'), 'damaged')).toContain('The message "a"')
  })

  it('fails the run that it cannot save, with the code', async () => {
    const { agent } = conversation(['Hello.'], { store: sqliteStore({ path: join(folder, 'missing', 'x.db') }) })
    const failed = agent.generate('Hi', { threadId: 't' })
    await expect(failed).rejects.toMatchObject({ code: 'hook-failed', cause: { code: 'store-unreachable' } })
  })
})

describe('PostgreSQL', () => {
  it('says that nobody listens', async () => {
    const store = postgresStore({ connectionString: 'postgres://somebody:secret@127.0.0.1:1/none' })
    const text = await failureOf(store.read('t'), 'store-unreachable')
    expect(text).toContain('ECONNREFUSED')
    expect(text).not.toContain('secret')
    await store.close()
  })
})

describe.skipIf(!hasServer)('PostgreSQL, on a server', () => {
  const database = ownDatabase()
  const nameOf = () => new URL(database.address()).pathname.slice(1)

  it('says that the password is wrong, and does not repeat it', async () => {
    const store = postgresStore({ connectionString: databaseAt(nameOf(), { password: 'wr0ng-passw0rd' }) })
    const text = await failureOf(write(store), 'access-denied')
    expect(text).toContain('password')
    expect(text).not.toContain('wr0ng')
    await store.close()
  })

  it('says that there is no such database, and works once there is', async () => {
    const name = `${nameOf()}_later`
    const store = postgresStore({ connectionString: databaseAt(name) })
    expect(await failureOf(write(store), 'store-unreachable')).toContain(name)
    await onServer(`CREATE DATABASE ${name}`)
    expect(await write(store)).toEqual({ type: 'committed', revision: 1 })
    await store.close()
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`)
  })

  it('says that it may not make its tables', async () => {
    await onServer("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    const guest = databaseAt(nameOf(), { username: 'guest', password: 'guest' })
    const store = postgresStore({ connectionString: guest })
    expect(await failureOf(write(store), 'access-denied')).toContain('permission denied')
    await store.close()
    await onServer('DROP ROLE guest')
  })

  it('names a table that somebody dropped, and refuses tables of a newer version', async () => {
    const store = postgresStore({ connectionString: database.address() })
    await write(store)
    await onServer('ALTER TABLE lockstep_messages RENAME TO hidden', database.address())
    expect(await failureOf(store.read('t'), 'missing-table')).toContain('lockstep_messages')
    await onServer('ALTER TABLE hidden RENAME TO lockstep_messages', database.address())
    await onServer("INSERT INTO lockstep_migrations VALUES (99, 'tomorrow')", database.address())
    const late = postgresStore({ connectionString: database.address() })
    expect(await failureOf(late.read('t'), 'newer-schema')).toContain('version 99')
    await onServer('DELETE FROM lockstep_migrations WHERE version = 99', database.address())
    expect(await storedLines(late)).toEqual(['user: a'])
    await Promise.all([store.close(), late.close()])
  })

  it('brings tables of an older version up to date, and keeps what is in them', async () => {
    await write(postgresStore({ connectionString: database.address() }), 'a')
    const older = 'DROP TABLE lockstep_documents; DELETE FROM lockstep_migrations WHERE version = 2'
    await onServer(older, database.address())
    const stores = [1, 2, 3].map(() => postgresStore({ connectionString: database.address() }))
    const reads = await Promise.all(stores.map(store => storedLines(store)))
    expect(reads).toEqual([['user: a'], ['user: a'], ['user: a']])
    expect(await stores[0]!.writeDocument({ key: 'k', value: 1, expectedRevision: 0 })).toMatchObject({ revision: 1 })
    await Promise.all(stores.map(store => store.close()))
  })

  it('survives that its connections are cut', async () => {
    const store = postgresStore({ connectionString: database.address() })
    await store.commit('cut', { expectedRevision: 0, put: [message('a')] })
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockstep'`)
    await store.read('cut').catch(() => {})
    expect(await storedLines(store, 'cut')).toEqual(['user: a'])
    await store.close()
  })

  it('gives up on a lock that is not let go', async () => {
    const store = postgresStore({ connectionString: database.address(), lockTimeoutMs: 100 })
    await store.commit('held', { expectedRevision: 0, put: [message('a')] })
    const { Client } = await import('pg')
    const other = new Client({ connectionString: database.address() })
    await other.connect()
    await other.query("BEGIN; UPDATE lockstep_threads SET title = 'mine' WHERE id = 'held'")
    const late = store.commit('held', { expectedRevision: 1, put: [message('b')] })
    expect(await failureOf(late, 'store-locked')).toContain('pg_stat_activity')
    await other.query('ROLLBACK')
    await other.end()
    expect(await store.commit('held', { expectedRevision: 1, put: [message('b')] })).toMatchObject({ revision: 2 })
    await store.close()
  })
})
