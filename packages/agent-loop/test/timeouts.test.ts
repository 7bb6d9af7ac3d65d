import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'
import { tool } from 'ai'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'

// The first run loads the loop, which takes time of its own.
beforeAll(async () => void (await drain({ model: scriptedModel(['Hi.']) })))
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A model whose stream says one word and then nothing, for ever, whatever its signal says. */
const silent = (words: number) =>
  new MockLanguageModelV4({
    doStream: () =>
      Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            for (let word = 0; word < words; word++) controller.enqueue({ type: 'text-delta', id: '1', delta: 'word ' })
          },
        }),
      }),
  })

async function afterMs(ms: number, options: DrainOptions) {
  const run = drain(options)
  await vi.advanceTimersByTimeAsync(ms)
  const { result } = await run
  expect(vi.getTimerCount()).toBe(0)
  return result
}

describe('a time limit', () => {
  it('of the run aborts it', async () => {
    const result = await afterMs(100, { model: silent(1), timeout: 100 })
    expect(result).toMatchObject({
      stopReason: 'aborted',
      abortReason: { name: 'TimeoutError', message: 'The run took longer than 100 ms.' },
    })
  })

  it('of a step aborts the run', async () => {
    const result = await afterMs(50, { model: silent(1), timeout: { stepMs: 50 } })
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'Step 0 took longer than 50 ms.' } })
  })

  it.each([
    ['first', 0, { firstChunkMs: 30 }],
    ['next', 2, { chunkMs: 30 }],
  ] as const)(
    'of the %s chunk is a failure of the provider, which an error processor may mend',
    async (which, words, timeout) => {
      const message = `The model's ${which} chunk took longer than 30 ms.`
      expect(await afterMs(30, { model: silent(words), timeout })).toMatchObject({
        stopReason: 'error',
        error: { name: 'TimeoutError', message },
      })
      const fallback = { id: 'fallback', processAPIError: () => ({ retry: true, model: scriptedModel(['Here.']) }) }
      expect(await afterMs(30, { model: silent(words), timeout, errorProcessors: [fallback] })).toMatchObject({
        text: 'Here.',
      })
    },
  )

  it('of chunks is for the provider, not for processors that take their time', async () => {
    const slow: Processor = {
      id: 'slow',
      processOutputStream: async ({ part }) => {
        await new Promise(resolve => setTimeout(resolve, 100))
        return part
      },
    }
    const timeout = { firstChunkMs: 30, chunkMs: 30 }
    const result = await afterMs(5_000, { model: scriptedModel(['Here.']), timeout, outputProcessors: [slow] })
    expect(result).toMatchObject({ text: 'Here.', stopReason: 'completed' })
  })

  it('of a tool is an error that the model reads', async () => {
    let aborted = false
    const never = tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) => {
        abortSignal?.addEventListener('abort', () => (aborted = true))
        return new Promise<string>(() => {})
      },
    })
    const model = () => scriptedModel([{ toolCalls: [{ toolName: 'never', input: {} }] }, 'Too slow.'])
    const result = await afterMs(20, { model: model(), tools: { never }, timeout: { toolMs: 20 } })
    expect(result).toMatchObject({ text: 'Too slow.', stopReason: 'completed' })
    expect(result.steps[0]!.toolErrors).toMatchObject([
      { error: "TimeoutError: The tool 'never' took longer than 20 ms." },
    ])
    expect(aborted).toBe(true)
    const named = await afterMs(5, { model: model(), tools: { never }, timeout: { toolMs: 1000, tools: { never: 5 } } })
    expect(named.text).toBe('Too slow.')
  })

  it('that is kept leaves no timer behind', async () => {
    const timeout = { totalMs: 100, stepMs: 100, firstChunkMs: 100, chunkMs: 100, toolMs: 100 }
    expect(await afterMs(0, { model: scriptedModel(['Hi']), timeout })).toMatchObject({ text: 'Hi' })
  })
})
