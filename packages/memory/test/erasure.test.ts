// What was withdrawn or redacted, looked for in the files and tables themselves.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Processor } from '@lockstep/agent'
import type { ThreadStore } from '@lockstep/memory'
import { postgresStore } from '@lockstep/memory/postgres'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { conversation, type ConversationOptions } from './conversation.ts'
import { hasServer, onServer, ownDatabase } from './postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-erasure-'))
afterAll(() => rmSync(folder, { recursive: true }))

const secret = 'hunter2-hunter2'
/** Once in a row of its own page, once spread over many pages. */
const texts = [`It is ${secret}.`, `${'long '.repeat(5_000)}${secret}${' tail'.repeat(5_000)}`]

const rewriting = (hook: 'processInputStep' | 'processOutputResult', atStep = 0): Processor => ({
  id: 'redactor',
  [hook]: ({ messageList, stepNumber }: Parameters<NonNullable<Processor['processInputStep']>>[0]) => {
    if (hook === 'processInputStep' && stepNumber !== atStep) return
    for (const message of messageList.getMessages())
      messageList.update(message.id, draft => {
        for (const part of draft.content.parts)
          if ('text' in part) part.text = part.text.replaceAll(secret, '[redacted]')
          else if ('output' in part) part.output = String(part.output).replaceAll(secret, '[redacted]')
      })
  },
})
const refusing = (hook: string, atStep = 0): Processor => ({
  id: 'guard',
  [hook]: ({ abort, stepNumber }: Parameters<NonNullable<Processor['processInput']>>[0]) =>
    stepNumber === atStep ? abort(`It said ${secret}.`, { metadata: { secret } }) : undefined,
})
const weather = { toolCalls: [{ toolName: 'weather', input: { city: 'Rome' } }] }

/** Runs in which the secret was said and taken back: what the user says, what the model says, and who takes it back. */
const cases: Readonly<Record<string, (text: string) => readonly [string, readonly object[], ConversationOptions]>> = {
  'an answer that is refused': text => ['Hi', [{ text }], { outputProcessors: [refusing('processOutputStep')] }],
  'a response that is refused at the end': text => [
    'Hi',
    [{ text }],
    { outputProcessors: [refusing('processOutputResult')] },
  ],
  'an input that is refused': text => [text, [], { inputProcessors: [refusing('processInput')] }],
  'an input that is refused before the first step': text => [
    text,
    [],
    { inputProcessors: [refusing('processInputStep')] },
  ],
  'an input that is redacted': text => [text, [{ text: 'Hi' }], { inputProcessors: [rewriting('processInputStep')] }],
  'an input that is redacted late': text => [
    text,
    [weather, { text: 'Hi' }],
    { inputProcessors: [rewriting('processInputStep', 1)] },
  ],
  'a response that is redacted at the end': text => [
    'Hi',
    [{ text }],
    { outputProcessors: [rewriting('processOutputResult')] },
  ],
  'a step that is redacted after it was saved': text => [
    'Hi',
    [{ ...weather, text }, { text: 'Sunny.' }],
    { inputProcessors: [rewriting('processInputStep', 1)] },
  ],
  'a step that is removed after it was saved': text => [
    'Hi',
    [{ ...weather, text }, { text: 'Sunny.' }],
    {
      inputProcessors: [
        {
          id: 'remover',
          processInputStep: ({ messageList, stepNumber }) =>
            void (stepNumber === 1 && messageList.removeByIds(messageList.get.response.db().map(({ id }) => id))),
        },
      ],
    },
  ],
}

async function takeBack(
  store: ThreadStore,
  of: readonly [string, readonly object[], ConversationOptions],
): Promise<void> {
  const [input, turns, options] = of
  const kept = conversation(['You are welcome.'], { store })
  await kept.agent.generate('Thanks.', { threadId: 't' })
  const { agent } = conversation(turns as never, { ...options, store })
  await agent.generate(input, { threadId: 't' })
}

/** The bytes of a database and of all files beside it. */
function bytesOf(name: string): string {
  return readdirSync(folder)
    .filter(file => file.startsWith(name))
    .map(file => readFileSync(join(folder, file), 'latin1'))
    .join('')
}

describe('the files of SQLite', () => {
  let count = 0

  it.each(Object.entries(cases))('have nothing of %s', async (_, makeCase) => {
    for (const text of texts) {
      const name = `case-${count++}.db`
      const store = sqliteStore({ path: join(folder, name) })
      await takeBack(store, makeCase(text))
      expect(bytesOf(name)).toContain('You are welcome.')
      expect(bytesOf(name)).not.toContain('hunter2')
      await store.close()
      expect(bytesOf(name)).toContain('You are welcome.')
      expect(bytesOf(name)).not.toContain('hunter2')
    }
  })

  it('have it when nobody takes it back, so that these tests can fail', async () => {
    const store = sqliteStore({ path: join(folder, 'control.db') })
    await takeBack(store, ['Hi', [{ text: texts[1] }], {}])
    expect(bytesOf('control.db')).toContain('hunter2')
    await store.deleteThread('t')
    expect(bytesOf('control.db')).not.toContain('hunter2')
    expect(bytesOf('control.db')).not.toContain('You are welcome.')
    await store.saveRun({ runId: 'r', threadId: 't', state: { secret } })
    await store.removeRun('r')
    expect(bytesOf('control.db')).not.toContain('hunter2')
    await store.close()
  })
})

describe.skipIf(!hasServer)('the tables of PostgreSQL', () => {
  const database = ownDatabase()

  async function tables(): Promise<string> {
    const names = ['lockstep_threads', 'lockstep_messages', 'lockstep_runs']
    const rows = await Promise.all(names.map(name => onServer(`SELECT * FROM ${name}`, database.address())))
    return JSON.stringify(rows)
  }

  it.each(Object.entries(cases))('have nothing of %s', async (_, makeCase) => {
    const store = postgresStore({ connectionString: database.address() })
    await takeBack(store, makeCase(texts[0]!))
    expect(await tables()).toContain('You are welcome.')
    expect(await tables()).not.toContain('hunter2')
    await store.deleteThread('t')
    await store.close()
  })
})
