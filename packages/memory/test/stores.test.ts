import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { postgresStore } from '@lockstep/memory/postgres'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { threadStoreContract } from '@lockstep/memory/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { hasServer, ownDatabase } from './postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-stores-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the store in memory', () => {
  it.each(threadStoreContract(() => ({ store: inMemoryStore() })))('$law', ({ check }) =>
    expect(check()).resolves.toBeUndefined(),
  )
})

describe('the store in SQLite', () => {
  const open = () => sqliteStore({ path: join(folder, 'contract.db') })
  it.each(threadStoreContract(() => ({ store: open(), reopen: open })))('$law', ({ check }) =>
    expect(check()).resolves.toBeUndefined(),
  )
})

describe('the store in SQLite, without a file', () => {
  it.each(threadStoreContract(() => ({ store: sqliteStore({ path: ':memory:' }) })))('$law', ({ check }) =>
    expect(check()).resolves.toBeUndefined(),
  )
})

describe.skipIf(!hasServer)('the store in PostgreSQL', () => {
  const database = ownDatabase()
  const open = () => postgresStore({ connectionString: database.address() })
  it.each(threadStoreContract(() => ({ store: open(), reopen: open })))('$law', ({ check }) =>
    expect(check()).resolves.toBeUndefined(),
  )
})
