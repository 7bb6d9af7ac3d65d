// What holds for every model, every tool and every processor: found by random scripts.
import { scriptedModel, finishPart, streamOf } from '@lockstep/agent-loop/testing'
import { runLoop } from '@lockstep/agent-loop'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'
import { tool } from 'ai'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, screenOf } from './drained.ts'

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

type Part = Parameters<typeof streamOf>[0][number]

const ids = fc.constantFrom('0', '1')
const callIds = fc.constantFrom('a', 'b', 'c')
const part: fc.Arbitrary<Part> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('text-delta' as const),
      id: ids,
      delta: fc.constantFrom('x', 'hello ', '', '\ud83d'),
    }),
  },
  fc.record({
    type: fc.constantFrom(
      'text-start' as const,
      'text-end' as const,
      'reasoning-start' as const,
      'reasoning-end' as const,
    ),
    id: ids,
  }),
  fc.record({ type: fc.constant('reasoning-delta' as const), id: ids, delta: fc.constant('hm') }),
  fc.record({
    type: fc.constant('tool-call' as const),
    toolCallId: callIds,
    toolName: fc.constantFrom('echo', 'throws', 'missing'),
    input: fc.constantFrom('{"n":1}', '{}', '{"n":', '', 'null', '[]'),
  }),
  fc.record({ type: fc.constant('tool-input-start' as const), id: callIds, toolName: fc.constant('echo') }),
  fc.record({ type: fc.constant('tool-input-delta' as const), id: callIds, delta: fc.constant('{') }),
  fc.record({
    type: fc.constant('tool-result' as const),
    toolCallId: callIds,
    toolName: fc.constant('echo'),
    result: fc.constant({ ok: true }),
  }),
  fc.constant({ type: 'stream-start', warnings: [] } as Part),
  fc.constant({ type: 'response-metadata', id: 'r' } as Part),
  fc.constant({ type: 'brand-new-part', anything: 1 } as unknown as Part),
  fc.constant({ type: 'raw', rawValue: 1 } as Part),
  { weight: 1, arbitrary: fc.constant({ type: 'error', error: new Error('mid-stream') } as Part) },
)
const ending = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom('stop' as const, 'tool-calls' as const, 'length' as const, 'other' as const, 'error' as const)
      .map(reason => [finishPart(reason)]),
  },
  { weight: 1, arbitrary: fc.constant<Part[]>([]) },
)
const turn = fc.tuple(fc.array(part, { maxLength: 10 }), ending).map(([parts, end]) => [...parts, ...end])
const turns = fc.array(turn, { minLength: 1, maxLength: 4 })

const tools = {
  echo: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n }),
  throws: tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error('tool broke')
    },
  }),
}

/** Plays the turns over and over. */
function playing(script: readonly (readonly Part[])[]): MockLanguageModelV4 {
  let call = 0
  return new MockLanguageModelV4({
    doStream: () => Promise.resolve({ stream: streamOf(script[call++ % script.length]!) }),
  })
}

const processors: fc.Arbitrary<Processor[]> = fc.uniqueArray(
  fc.constantFrom<Processor>(
    {
      id: 'upper',
      processOutputStream: ({ part: chunk }) =>
        chunk.type === 'text-delta'
          ? ({ ...chunk, payload: { ...chunk.payload, text: chunk.payload.text.toUpperCase() } } as Chunk)
          : chunk,
    },
    { id: 'late', processOutputStream: async ({ part: chunk }) => (await Promise.resolve(), chunk) },
    {
      id: 'drop-reasoning',
      processOutputStream: ({ part: chunk }) => (chunk.type.startsWith('reasoning') ? null : chunk),
    },
    { id: 'twice', processOutputStream: ({ part: chunk }) => (chunk.type === 'text-delta' ? [chunk, chunk] : chunk) },
    {
      id: 'picky',
      processOutputStep: ({ text, abort }) => void (text.length % 3 === 1 && abort('odd', { retry: true })),
    },
    { id: 'strict', processToolCall: ({ toolCallId }) => (toolCallId === 'a' ? { deny: 'not a' } : undefined) },
    {
      id: 'editor',
      processOutputResult({ messages, messageList }) {
        for (const { id } of messages) messageList.update(id, draft => void (draft.content.metadata = { seen: true }))
      },
    },
  ),
  { selector: processor => processor.id, maxLength: 4 },
)

const settled = (types: readonly Chunk['type'][], start: Chunk['type'], end: Chunk['type']) =>
  types.filter(type => type === start).length - types.filter(type => type === end).length

describe('every run', () => {
  it('ends in a documented way within its steps, with each start ended and one finish', async () => {
    await fc.assert(
      fc.asyncProperty(turns, processors, async (script, outputProcessors) => {
        const model = playing(script)
        const { result, types } = await drain({
          model,
          tools,
          outputProcessors,
          maxSteps: 5,
          maxProcessorRetries: 3,
        })
        expect(['completed', 'max-steps', 'tripwire', 'error']).toContain(result.stopReason)
        expect(model.doStreamCalls.length).toBeLessThanOrEqual(5 + 3)
        expect(types.filter(type => type === 'finish')).toHaveLength(1)
        expect(types.at(-1)).toBe('finish')
        expect(settled(types, 'step-start', 'step-finish')).toBe(
          result.stopReason === 'tripwire' || result.stopReason === 'error' ? 1 : 0,
        )
        const isWhole = !types.includes('step-reset') && result.stopReason !== 'error'
        expect(settled(types, 'text-start', 'text-end')).toBeLessThanOrEqual(isWhole ? 0 : Infinity)
        expect(() => result.messageList.get.all.prompt()).not.toThrow()
        expect(MessageList.fromJSON(JSON.parse(JSON.stringify(result.messageList.toJSON()))).get.all.db()).toEqual(
          result.messageList.get.all.db(),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('shows a reader who honours step-reset the text that the result has', async () => {
    await fc.assert(
      fc.asyncProperty(turns, processors, async (script, outputProcessors) => {
        const run = () =>
          drain({ model: playing(script), tools, outputProcessors, maxSteps: 4, maxProcessorRetries: 2 })
        const { result, chunks } = await run()
        const screen = screenOf(chunks).replaceAll('|', '')
        const text = result.steps.map(step => step.text).join('')
        expect(screen).toBe(result.stopReason === 'error' ? screen : text)
        const held = await drain({
          model: playing(script),
          tools,
          outputProcessors,
          maxSteps: 4,
          maxProcessorRetries: 2,
          hold: 'step',
        })
        expect(held.result.text).toBe(result.text)
        expect(held.types).not.toContain('step-reset')
      }),
      { numRuns: 200 },
    )
  })

  it('ends when its reader leaves at any chunk, with nothing left behind', async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.nat(20), async (script, leaveAt) => {
        const controller = new AbortController()
        const counts = countListeners(controller.signal)
        const messageList = new MessageList().add('Hello', 'input')
        let seen = 0
        for await (const _ of runLoop({
          model: playing(script),
          tools,
          messageList,
          maxSteps: 4,
          abortSignal: controller.signal,
        }))
          if (seen++ >= leaveAt) break
        expect(counts.added).toBe(counts.removed)
      }),
      { numRuns: 200 },
    )
  })

  it('ends when it is aborted at any chunk, with one abort and one finish', async () => {
    await fc.assert(
      fc.asyncProperty(turns, processors, fc.nat(20), async (script, outputProcessors, abortAt) => {
        const controller = new AbortController()
        let seen = 0
        const { result, types } = await drain({
          model: playing(script),
          tools,
          outputProcessors,
          maxSteps: 4,
          abortSignal: controller.signal,
          onChunk: () => void (seen++ === abortAt && controller.abort(new Error('enough'))),
        })
        expect(types.at(-2) === 'abort').toBe(result.stopReason === 'aborted')
        expect(types.filter(type => type === 'finish')).toHaveLength(1)
      }),
      { numRuns: 200 },
    )
  })

  it('is the same alone and beside others', async () => {
    const alone = async (name: string) => {
      const model = scriptedModel([
        { text: name, toolCalls: [{ toolName: 'echo', input: { n: name.length } }] },
        `${name}!`,
      ])
      return (await drain({ model, tools, outputProcessors: [counter] })).result
    }
    const counter: Processor<'counter', unknown, { count: number }> = {
      id: 'counter',
      processOutputStream: ({ part: chunk, state }) => ((state.count = (state.count ?? 0) + 1), chunk),
      processOutputResult: ({ messages, messageList, state }) =>
        void messageList.update(messages[0]!.id, draft => void (draft.content.metadata = { count: state.count! })),
    }
    const names = Array.from({ length: 1000 }, (_, index) => `run-${index}`)
    const results = await Promise.all(names.map(alone))
    expect(results.map(result => result.text)).toEqual(names.map(name => `${name}!`))
    expect(new Set(results.map(result => result.messages[0]!.content.metadata?.['count'])).size).toBe(1)
  })

  it('has left no rejection unhandled', async () => {
    await new Promise(resolve => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

function countListeners(signal: AbortSignal): { added: number; removed: number } {
  const counts = { added: 0, removed: 0 }
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args))
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (counts.removed++, remove(...args))
  return counts
}
