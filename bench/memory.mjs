// What a thread costs as it grows: reading its last 40 messages, appending a turn, and saving a step of a response.
// `node memory.mjs` measures SQLite, and PostgreSQL on LOCKSTEP_POSTGRES_URL or, without it, on a server of its own.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore } from '../packages/memory/dist/postgres.js'
import { sqliteStore } from '../packages/memory/dist/sqlite.js'

const sizes = [100, 1_000, 10_000, 100_000]
const folder = mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
// The server runs as its own user, and has to get to its folder.
chmodSync(folder, 0o755)

const message = (id, role, text) => ({
  id,
  role,
  createdAt: '2026-11-21T10:00:00.000Z',
  content: { format: 2, parts: [{ type: 'text', text }] },
})

/** A question and an answer of about the size that chats have. */
const turn = number => [
  message(`u${number}`, 'user', `question ${number} ${'words '.repeat(20)}`),
  message(`a${number}`, 'assistant', `answer ${number} ${'words '.repeat(100)}`),
]

async function medianMicroseconds(rounds, work) {
  const times = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work(round)
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[rounds >> 1] * 1000
}

/** A thread of so many messages, beside others, so that the tables are as large for all. */
async function fill(store, threadId, count) {
  let revision = (await store.read(threadId, { last: 0 })).thread?.revision ?? 0
  for (let from = 0; from < count / 2; from += 1_000) {
    const put = Array.from({ length: Math.min(1_000, count / 2 - from) }, (_, index) => turn(from + index)).flat()
    revision = (await store.commit(threadId, { expectedRevision: revision, put })).revision
  }
  return revision
}

async function measure(store, count) {
  const threadId = `thread-${count}`
  let revision = await fill(store, threadId, count)
  const commit = async put => {
    const outcome = await store.commit(threadId, { expectedRevision: revision, put })
    if (outcome.type !== 'committed') throw new Error(`Conflict at revision ${outcome.revision}`)
    revision = outcome.revision
  }
  const rounds = 400
  const read = await medianMicroseconds(rounds, async round => {
    const { messages } = await store.read(threadId, { last: 40, ids: [`new-${round}`] })
    if (messages.length !== 40) throw new Error(`Read ${messages.length} messages`)
  })
  const append = await medianMicroseconds(rounds, round => commit(turn(`new-${round}`)))
  const growing = message('growing', 'assistant', 'step 0')
  const step = await medianMicroseconds(50, round => {
    growing.content.parts.push({ type: 'step-start' }, { type: 'text', text: `step ${round} ${'words '.repeat(100)}` })
    return commit([growing])
  })
  return { read, append, step }
}

const own = join(folder, 'postgres')
const address =
  process.env.LOCKSTEP_POSTGRES_URL ??
  execFileSync('bash', [join(import.meta.dirname, '../.ci/postgres'), 'start', own], {
    encoding: 'utf8',
    env: { ...process.env, LOCKSTEP_POSTGRES_FSYNC: 'on' },
  }).trim()
try {
  const stores = {
    SQLite: sqliteStore({ path: join(folder, 'threads.db') }),
    PostgreSQL: postgresStore({ connectionString: address }),
  }
  console.log('| store | messages | read the last 40 | append a turn | save a step |\n|---|---|---|---|---|')
  for (const [name, store] of Object.entries(stores)) {
    await store.deleteThread('warm-up')
    await measure(store, 20)
      .catch(() => {})
      .then(() => store.deleteThread('thread-20'))
    for (const count of sizes) await store.deleteThread(`thread-${count}`)
    for (const count of sizes) {
      const cost = await measure(store, count)
      const cells = [cost.read, cost.append, cost.step].map(value => `${value.toFixed(0)} µs`)
      console.log(`| ${name} | ${count.toLocaleString('en')} | ${cells.join(' | ')} |`)
    }
    await store.close()
  }
} finally {
  if (!process.env.LOCKSTEP_POSTGRES_URL)
    execFileSync('bash', [join(import.meta.dirname, '../.ci/postgres'), 'stop', own])
  rmSync(folder, { recursive: true, force: true })
}
