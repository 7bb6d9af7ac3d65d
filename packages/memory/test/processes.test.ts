import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ThreadStore } from '@lockstep/memory'
import { postgresStore } from '@lockstep/memory/postgres'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { isToolPart, MessageList } from '@lockstep/message-list'
import { afterAll, describe, expect, it } from 'vitest'
import { conversation, lineOf } from './conversation.ts'
import { hasServer, ownDatabase } from './postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-processes-'))
afterAll(() => rmSync(folder, { recursive: true }))

const rounds = Number(process.env['LOCKSTEP_KILL_ROUNDS'] ?? 4)
const flags = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

interface Writer {
  readonly name: string
  /** Kills it, some time after its first turn. */
  readonly kill: () => Promise<void>
  readonly done: Promise<number | null>
  /** The turns that it was told are stored. */
  readonly acknowledged: () => number
}

interface Place {
  readonly kind: 'sqlite' | 'postgres'
  readonly address: string
  readonly threadId: string
}

function writer(place: Place, name: string, count = 1_000_000): Writer {
  const args = [join(import.meta.dirname, 'writer-process.ts'), place.kind, place.address, place.threadId, name]
  const child = spawn(process.execPath, [...flags, ...args, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  let begun = () => {}
  const first = new Promise<void>(resolve => (begun = resolve))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    begun()
  })
  const done = new Promise<number | null>(resolve => child.on('close', resolve))
  return {
    name,
    done,
    acknowledged: () => said.split('\n').length - 1,
    kill: async () => {
      await Promise.race([first, done])
      await new Promise(resolve => setTimeout(resolve, Math.random() * 60))
      child.kill('SIGKILL')
      await done
    },
  }
}

/** Each line that a writer's turn leaves, in the order in which they come. */
const linesOf = (name: string, turn: number) => [
  `user: question ${name} ${turn}`,
  `assistant: ${name}-${turn}:output-available=sunny in ${name} answer ${name} ${turn}`,
]

/** Checks that a thread has what its writers were told it has, whole, once and in order. */
async function expectWhole(store: ThreadStore, threadId: string, writers: readonly Writer[]): Promise<void> {
  const { messages } = await store.read(threadId)
  expect(new MessageList().add(messages, 'memory').getMessages()).toHaveLength(messages.length)
  const lines = messages.map(lineOf)
  expect(new Set(lines).size).toBe(lines.length)
  for (const { name, acknowledged } of writers) {
    const own = lines.filter(line => new RegExp(`\\b${name}\\b`).test(line))
    const told = acknowledged()
    const expected = Array.from({ length: told }, (_, turn) => linesOf(name, turn)).flat()
    expect(own.slice(0, expected.length)).toEqual(expected)
    // What came after is a turn that nobody was told of: not begun, or some of its steps, none of them half.
    const [question = '', answer = ''] = linesOf(name, told)
    const rest = own.slice(expected.length)
    const step = answer.slice(0, answer.indexOf(' answer'))
    const next = linesOf(name, told + 1)[0]!
    const possible = [[], [question], [question, step], [question, answer], [question, answer, next]]
    expect(possible).toContainEqual(rest)
  }
  const open = messages
    .flatMap(({ content }) => content.parts.filter(isToolPart))
    .filter(part => part.state !== 'output-available')
  expect(open).toEqual([])
}

/** Several processes on one thread, killed at random points, round after round, and a run after each. */
async function survives(place: Place, open: () => ThreadStore): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const writers = ['a', 'b', 'c'].map(name => writer(place, `${name}${round}`))
    await Promise.all(writers.map(({ kill }) => kill()))
    expect(writers.some(({ acknowledged }) => acknowledged() > 0)).toBe(true)
    const store = open()
    await expectWhole(store, place.threadId, writers)
    const { agent, model } = conversation([`next ${round}`], { store, memory: { lastMessages: Infinity } })
    await agent.generate(`And? ${round}`, { threadId: place.threadId })
    const parts = model.doStreamCalls[0]!.prompt.flatMap(({ content }): readonly object[] =>
      typeof content === 'string' ? [] : content,
    ) as readonly { readonly type: string; readonly toolCallId?: string }[]
    const idsOf = (type: string) => parts.filter(part => part.type === type).map(part => part.toolCallId)
    expect(idsOf('tool-result')).toEqual(idsOf('tool-call'))
    expect(idsOf('tool-call').length).toBeGreaterThan(0)
    await store.close()
  }
}

async function shared(place: Place, open: () => ThreadStore): Promise<void> {
  const writers = ['x', 'y', 'z'].map(name => writer(place, name, 15))
  expect(await Promise.all(writers.map(({ done }) => done))).toEqual([0, 0, 0])
  expect(writers.map(({ acknowledged }) => acknowledged())).toEqual([15, 15, 15])
  const store = open()
  await expectWhole(store, place.threadId, writers)
  expect((await store.read(place.threadId)).messages).toHaveLength(90)
  await store.close()
}

describe('a thread in SQLite', () => {
  const path = join(folder, 'threads.db')
  const open = () => sqliteStore({ path })

  it('that three processes write at once loses and doubles nothing', async () => {
    await expect(shared({ kind: 'sqlite', address: path, threadId: 'shared' }, open)).resolves.toBeUndefined()
  }, 60_000)

  it(
    'has what was acknowledged when its writers are killed at any point',
    async () => {
      await expect(survives({ kind: 'sqlite', address: path, threadId: 'killed' }, open)).resolves.toBeUndefined()
    },
    20_000 + rounds * 10_000,
  )
})

describe.skipIf(!hasServer)('a thread in PostgreSQL', () => {
  const database = ownDatabase()
  const open = () => postgresStore({ connectionString: database.address() })
  const placeOf = (threadId: string): Place => ({ kind: 'postgres', address: database.address(), threadId })

  it('that three processes write at once loses and doubles nothing', async () => {
    await expect(shared(placeOf('shared'), open)).resolves.toBeUndefined()
  }, 60_000)

  it(
    'has what was acknowledged when its writers are killed at any point',
    async () => {
      await expect(survives(placeOf('killed'), open)).resolves.toBeUndefined()
    },
    20_000 + rounds * 10_000,
  )
})
