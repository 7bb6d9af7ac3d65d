import type { Chunk, Processor } from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MessageList } from '@lockstep/message-list'
import { runLoop } from '@lockstep/agent-loop'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A model that says one word and then nothing, for ever. */
const stuck = () =>
  new MockLanguageModelV4({
    doStream: () =>
      Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: '1' })
            controller.enqueue({ type: 'text-delta', id: '1', delta: 'word' })
          },
        }),
      }),
  })

/** Keeps each text for ten milliseconds. */
const waiting = (onHold: () => void, onFlush: () => void): Processor => ({
  id: 'waiting',
  processOutputStream({ part, state, flushAfter }) {
    if (part.type !== 'text-delta') return part
    state['held'] = part
    flushAfter(10)
    onHold()
    return null
  },
  flush({ state }) {
    onFlush()
    const held = state['held'] as Chunk | undefined
    delete state['held']
    return held
  },
})

async function reading(onFlush: () => void = () => {}) {
  const abort = new AbortController()
  const shown: string[] = []
  let onHold!: () => void
  const isHeld = new Promise<void>(resolve => (onHold = resolve))
  const outputProcessors = [waiting(onHold, onFlush)]
  const messageList = new MessageList().add('Hello', 'input')
  const loop = runLoop({ model: stuck(), messageList, outputProcessors, abortSignal: abort.signal })
  const read = async () => {
    for (;;) {
      const next = await loop.next()
      if (next.done) return next.value
      if (next.value.type === 'text-delta') shown.push(next.value.payload.text)
    }
  }
  const result = read()
  await isHeld
  return { abort, shown, result }
}

it('what waits is shown when its time has come, while the model is silent', async () => {
  const { abort, shown, result } = await reading()
  await vi.advanceTimersByTimeAsync(9)
  expect(shown).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(shown).toEqual(['word'])
  abort.abort()
  expect((await result).stopReason).toBe('aborted')
  expect(shown).toEqual(['word'])
  expect(vi.getTimerCount()).toBe(0)
})

it('an abort before that shows it once', async () => {
  const { abort, shown, result } = await reading()
  await vi.advanceTimersByTimeAsync(9)
  abort.abort()
  expect((await result).stopReason).toBe('aborted')
  expect(shown).toEqual(['word'])
  expect(vi.getTimerCount()).toBe(0)
})

it('what fails meanwhile is the error of the run', async () => {
  const fails = () => {
    throw new Error('no room')
  }
  const { result } = await reading(fails)
  await vi.advanceTimersByTimeAsync(10)
  expect(await result).toMatchObject({ stopReason: 'error', error: { code: 'hook-failed', hook: 'flush' } })
  expect(vi.getTimerCount()).toBe(0)
})

describe('a wish whose time comes while a processor is still busy', () => {
  /** Is busy with each text for twenty milliseconds, and wants to be flushed after ten. */
  const busy = (onFlush: () => Promise<never>): Processor => ({
    id: 'busy',
    async processOutputStream({ part, flushAfter }) {
      if (part.type !== 'text-delta') return part
      flushAfter(10)
      await new Promise(resolve => setTimeout(resolve, 20))
      return null
    },
    flush: ({ reason }) => (reason === 'elapsed' ? onFlush() : undefined),
  })

  /** Ends the run while it is flushed; an answer that fails then is nobody's to hear. */
  async function endedBy(onFlush: (abort: AbortController) => Promise<never>) {
    const abort = new AbortController()
    const outputProcessors = [busy(() => onFlush(abort))]
    const messageList = new MessageList().add('Hello', 'input')
    const loop = runLoop({ model: stuck(), messageList, outputProcessors, abortSignal: abort.signal })
    const types: string[] = []
    const read = async () => {
      for (;;) {
        const next = await loop.next()
        if (next.done) return next.value
        types.push(next.value.type)
      }
    }
    const result = read()
    while (!types.includes('text-start')) await vi.advanceTimersByTimeAsync(1)
    await vi.advanceTimersByTimeAsync(20)
    await vi.advanceTimersByTimeAsync(5)
    return result
  }

  it('ends with an abort, though its flush never does', async () => {
    const result = await endedBy(abort => {
      setTimeout(() => abort.abort(new Error('enough')), 5)
      return new Promise<never>(() => {})
    })
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'enough' } })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fails with what its flush throws', async () => {
    const result = await endedBy(async () => {
      await new Promise(resolve => setTimeout(resolve, 5))
      throw new Error('no room')
    })
    expect(result).toMatchObject({ stopReason: 'error', error: { code: 'hook-failed', hook: 'flush' } })
    expect(vi.getTimerCount()).toBe(0)
  })
})
