import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { AgentMessage } from '@lockstep/agent'
import { memory, type WindowOptions } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { isToolPart, MessageList } from '@lockstep/message-list'
import { ProcessorRunner, RequestContext } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'

const createdAt = '2026-11-21T10:00:00.000Z'
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')

function message(id: string, role: 'user' | 'assistant', parts: readonly object[]): AgentMessage {
  return { id, role, createdAt, content: { format: 2, parts: parts as AgentMessage['content']['parts'] } }
}

const text = (count: number) => ({ type: 'text', text: words(count) })
const step = (id: string, count: number) => [
  { type: 'step-start' },
  { type: 'tool-weather', toolCallId: id, state: 'output-available', input: {}, output: words(count) },
]

/** What a run on a thread with these messages remembers. */
async function remembered(messages: readonly AgentMessage[], window: WindowOptions): Promise<readonly AgentMessage[]> {
  const store = inMemoryStore()
  await store.commit('t', { expectedRevision: 0, put: messages })
  const list = new MessageList({ threadId: 't' }).add('new', 'input')
  const runner = new ProcessorRunner(memory({ store, ...window }).around({}), {
    runId: 'r',
    list,
    abortSignal: new AbortController().signal,
    requestContext: new RequestContext(),
    tracingContext: {},
    writeData: () => Promise.resolve(),
    callModel: () => Promise.reject(new Error('no model')),
    resolveModel: () => {
      throw new Error('no model')
    },
  })
  const position = { stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 }
  await runner.runProcessInput(position)
  // A message that steers the run passes processInput as well, and loads nothing again.
  await store.commit('t', { expectedRevision: 1, put: [message('later', 'user', [text(1)])] })
  await runner.runProcessInput(position)
  await store.commit('t', { expectedRevision: 2, remove: ['later'] })
  expect((await store.read('t')).messages).toEqual(messages)
  return list.get.remembered.db()
}

const countTokens = (given: string) => given.split(' ').length
const idsOf = (messages: readonly AgentMessage[]) => messages.map(({ id }) => id).join(' ')

describe('a window of tokens', () => {
  const thread = [
    message('a', 'user', [text(10)]),
    message('b', 'assistant', [text(10)]),
    message('c', 'user', [text(10)]),
    message('d', 'assistant', [...step('1', 20), ...step('2', 20), { type: 'step-start' }, text(10)]),
  ]

  it('has the newest messages that fit as a whole', async () => {
    expect(idsOf(await remembered(thread, { maxTokens: 1_000, countTokens }))).toBe('a b c d')
    expect(idsOf(await remembered(thread, { maxTokens: 75, countTokens }))).toBe('c d')
  })

  it('cuts a response between its steps, and leaves the store alone', async () => {
    const [cut, ...others] = await remembered(thread, { maxTokens: 40, countTokens })
    expect([cut?.id, others.length]).toEqual(['d', 0])
    expect(cut?.content.parts.filter(isToolPart).map(part => part.toolCallId)).toEqual(['2'])
  })

  it('is empty when not even the last step fits', async () => {
    expect(await remembered(thread, { maxTokens: 9, countTokens })).toEqual([])
  })

  it('knows that data in letters has more tokens than words, and that a file has as many as any other', async () => {
    const data = randomBytes(6_000).toString('base64')
    const question = message('a', 'user', [text(10)])
    const said = message('b', 'user', [{ type: 'text', text: `See ${data}` }])
    expect(idsOf(await remembered([question, said], { maxTokens: 4_000 }))).toBe('')
    expect(idsOf(await remembered([question, said], { maxTokens: 8_000 }))).toBe('a b')
    const shown = {
      type: 'tool-look',
      toolCallId: '1',
      state: 'output-available',
      input: {},
      output: 'seen',
      modelOutput: {
        type: 'content',
        value: [
          { type: 'text', text: 'A picture.' },
          { type: 'file', data: { type: 'data', data }, mediaType: 'image/png' },
        ],
      },
    }
    expect(idsOf(await remembered([question, message('b', 'assistant', [shown])], { maxTokens: 1_100 }))).toBe('a b')
    expect(idsOf(await remembered([question, message('b', 'assistant', [shown])], { maxTokens: 1_000 }))).toBe('')
  })

  it('counts by an estimate when nobody says how', async () => {
    const few = await remembered(thread, { maxTokens: 30 })
    expect(few.length).toBeLessThan(4)
    expect(idsOf(await remembered(thread, { maxTokens: 10_000 }))).toBe('a b c d')
  })
})

const parts = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string({ minLength: 1, maxLength: 40 }) }),
    fc.constant({ type: 'step-start' }),
    fc.record({
      type: fc.constant('tool-weather'),
      toolCallId: fc.uuid(),
      state: fc.constant('output-available'),
      input: fc.constant({}),
      output: fc.string({ maxLength: 40 }),
    }),
  ),
  { minLength: 1, maxLength: 8 },
)
const threads = fc
  .array(fc.tuple(fc.constantFrom('user' as const, 'assistant' as const), parts), { maxLength: 12 })
  .map(given => given.map(([role, own], index) => message(`m${index}`, role, own)))

describe('any window', () => {
  it('is an end of the thread, whole but for the steps at its beginning, and keeps calls with their results', async () => {
    await fc.assert(
      fc.asyncProperty(threads, fc.nat(12), fc.nat(120), async (thread, lastMessages, maxTokens) => {
        const found = await remembered(thread, { lastMessages, maxTokens, countTokens: given => given.length })
        expect(found.length).toBeLessThanOrEqual(lastMessages)
        const end = found.length === 0 ? [] : thread.slice(-found.length)
        expect(idsOf(found)).toBe(idsOf(end))
        for (const [index, { content }] of found.entries()) {
          const whole = end[index]!.content.parts
          const kept = whole.slice(whole.length - content.parts.length)
          expect(content.parts).toEqual(kept)
          expect(content.parts.length === whole.length || index === 0).toBe(true)
          expect(content.parts.length === whole.length || kept[0]!.type === 'step-start').toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })
})
