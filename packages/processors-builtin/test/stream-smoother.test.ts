import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MockLanguageModelV4 } from 'ai/test'
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { finishPart, streamOf, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { redactor } from '@lockstep/processors-builtin/redactor'
import { streamSmoother, type StreamSmootherOptions } from '@lockstep/processors-builtin/stream-smoother'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { runCount } from './redactor-run.ts'

processorContract(() => streamSmoother())
describe('by words', () => {
  processorContract(() => streamSmoother({ chunking: 'word', delayMs: 0 }))
})
describe('by sentences, with a delay', () => {
  processorContract(() => streamSmoother({ chunking: 'sentence', delayMs: 1 }), { cutCount: 3 })
})

type ProviderPart = Extract<ScriptedTurn, { readonly parts: unknown }>['parts'][number]

const textPart = (delta: string, id = 't'): ProviderPart => ({ type: 'text-delta', id, delta })
const begin = (id = 't'): ProviderPart => ({ type: 'text-start', id })
const end = (id = 't'): ProviderPart => ({ type: 'text-end', id })

/** What is shown, chunk by chunk: texts, and the types of the other chunks of the answer. */
const seen = (chunks: readonly Chunk[]): readonly string[] =>
  chunks.flatMap(chunk => {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return [chunk.payload.text]
    return /^(tool|text-end|reasoning-end|finish|abort|error)/.test(chunk.type) ? [`<${chunk.type}>`] : []
  })

/** A run whose model says what it is told to, when it is told to. */
function openRun(processors: readonly Processor[]) {
  const chunks: Chunk[] = []
  const abort = new AbortController()
  let controller!: ReadableStreamDefaultController<ProviderPart>
  const stream = new ReadableStream<ProviderPart>({ start: given => void (controller = given) })
  const model = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream }) })
  const messageList = new MessageList().add('Hello', 'input')
  const loop = runLoop({ model, messageList, outputProcessors: processors, abortSignal: abort.signal })
  const read = async (): Promise<LoopResult> => {
    for (;;) {
      const next = await loop.next()
      if (next.done) return next.value
      chunks.push(next.value)
    }
  }
  const result = read()
  const told = { count: 0 }
  return {
    abort,
    result,
    async says(...parts: readonly ProviderPart[]) {
      for (const part of parts) controller.enqueue(part)
      await vi.advanceTimersByTimeAsync(0)
    },
    ends: () => controller.close(),
    /** What is new on the screen after so many milliseconds. */
    async after(ms: number): Promise<readonly string[]> {
      await vi.advanceTimersByTimeAsync(ms)
      const all = seen(chunks)
      const fresh = all.slice(told.count)
      told.count = all.length
      return fresh
    },
  }
}

const opened = async (options: StreamSmootherOptions, ...others: readonly Processor[]) => {
  const run = openRun([streamSmoother(options), ...others])
  await run.says(begin())
  return run
}

describe('the stream smoother', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('shows what comes within a time as one chunk', async () => {
    const run = await opened({ delayMs: 50 })
    for (const text of ['One', ' two', ' three']) await run.says(textPart(text))
    expect(await run.after(49)).toEqual([])
    expect(await run.after(1)).toEqual(['One two three'])
    expect(vi.getTimerCount()).toBe(0)
    await run.says(textPart(' four'))
    expect(await run.after(50)).toEqual([' four'])
  })

  it('shows what waits when the time has come, though the model says no more', async () => {
    const run = await opened({ chunking: 'line', maxWaitMs: 100 })
    await run.says(textPart('one\ntwo'))
    expect(await run.after(0)).toEqual(['one\n'])
    expect(await run.after(109)).toEqual([])
    expect(await run.after(1)).toEqual(['two'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('shows a word at a time, with a delay between them', async () => {
    const run = await opened({ chunking: 'word', delayMs: 10 })
    await run.says(textPart('one two three fo'))
    expect(await run.after(0)).toEqual(['one '])
    expect(await run.after(10)).toEqual(['two '])
    await run.says(textPart('ur five'))
    expect(await run.after(9)).toEqual([])
    expect(await run.after(1)).toEqual(['three '])
    expect(await run.after(10)).toEqual(['four '])
    await run.says(end())
    expect(await run.after(0)).toEqual(['five', '<text-end>'])
  })

  it('goes on with its delay when the model has ended, and the end waits', async () => {
    const run = await opened({ chunking: 'word', delayMs: 10 })
    await run.says(textPart('one two three four'), end(), finishPart('stop'))
    run.ends()
    expect(await run.after(5)).toEqual(['one ', 'two '])
    expect(await run.after(10)).toEqual(['three '])
    expect(await run.after(10)).toEqual(['four', '<text-end>', '<finish>'])
    expect((await run.result).text).toBe('one two three four')
  })

  it('shows the rest at once before a call, and nothing of it after', async () => {
    const run = await opened({ chunking: 'word', delayMs: 10 })
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'lookup', input: '{}' } as const
    await run.says(textPart('Let me look it up.'), call)
    expect(await run.after(0)).toEqual(['Let ', 'me look it up.', '<tool-call>'])
    await run.says(end(), finishPart('stop'))
    expect((await run.after(0)).filter(one => !one.startsWith('<'))).toEqual([])
  })

  it('lets nothing overtake what waits, the end of another block neither', async () => {
    const run = await opened({ chunking: 'word', delayMs: 10 })
    await run.says(begin('other'), textPart('one two three', 'other'), end())
    expect(await run.after(0)).toEqual(['one ', 'two three', '<text-end>'])
  })

  it('ends at once when the run is aborted, with what the model had said', async () => {
    for (const delayMs of [0, 10, 10_000]) {
      const run = await opened({ chunking: 'word', delayMs })
      await run.says(textPart('one two three'), ...(delayMs === 10 ? [end()] : []))
      run.result.catch(() => {})
      run.abort.abort()
      const shown = await run.after(0)
      expect(shown.filter(one => !one.startsWith('<')).join('')).toBe('one two three')
      expect(shown.at(-1)).toBe('<finish>')
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  it('leaves no timer when the model fails', async () => {
    const run = await opened({ chunking: 'word', delayMs: 10 })
    await run.says(textPart('one two three'), { type: 'error', error: new Error('down') })
    run.result.catch(() => {})
    expect((await run.after(0)).at(-1)).toBe('<finish>')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('makes nobody after it show the beginning of a match', async () => {
    const run = await opened({ chunking: 5, delayMs: 10 }, redactor())
    await run.says(textPart('Mail joe@example.com now.'), end(), finishPart('stop'))
    expect((await run.after(200)).filter(one => !one.startsWith('<')).join('')).toBe('Mail [redacted email] now.')
  })

  it('leaves signatures with the pieces that they came with', async () => {
    const run = await opened({ delayMs: 50 })
    const signed = { providerMetadata: { anthropic: { signature: 'abc' } } }
    await run.says(
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'reasoning-delta', id: 'r', delta: ', well' },
      { type: 'reasoning-delta', id: 'r', delta: '', ...signed },
      { type: 'reasoning-end', id: 'r' },
      finishPart('stop'),
    )
    run.ends()
    expect(await run.after(0)).toEqual(['Hm, well', '', '<reasoning-end>', '<text-end>', '<finish>'])
    const { messageList } = await run.result
    expect(JSON.stringify(messageList.get.response.db())).toContain('"signature":"abc"')
  })
})

describe('the pieces', () => {
  const shown = async (chunking: StreamSmootherOptions['chunking'], text: string) => {
    const { chunks } = await runWith(streamSmoother({ chunking, delayMs: 0 } as StreamSmootherOptions), {
      model: [{ text: text.split('') }],
    })
    const pieces = seen(chunks).filter(one => !one.startsWith('<'))
    expect(pieces.join('')).toBe(text)
    return pieces
  }

  it('are fewer than the chunks that came', async () => {
    expect(await shown('word', 'one  two three')).toEqual(['one ', ' two ', 'three'])
    expect(await shown('line', 'one\ntwo\n\nthree')).toEqual(['one\n', 'two\n', '\n', 'three'])
    expect(await shown('sentence', 'One. Two 2.5! "Three." Four。五')).toEqual([
      'One. ',
      'Two 2.5! ',
      '"Three." ',
      'Four。',
      '五',
    ])
    expect(await shown(4, '😀😀😀ab')).toEqual(['😀😀', '😀ab'])
    expect(await shown(1, '😀a')).toEqual(['😀', 'a'])
    expect(await shown(/[,;]/g, 'a,b;c')).toEqual(['a,', 'b;', 'c'])
    expect(await shown(new Intl.Segmenter('ja', { granularity: 'word' }), '今日は')).toEqual(['今日', 'は'])
    expect(await shown('word', '你好 you')).toEqual(['你', '好', ' you'])
  })

  it('are joined when they come together', async () => {
    const { chunks } = await runWith(streamSmoother({ chunking: 'word', delayMs: 0 }), {
      model: [{ text: ['one two three fo', 'ur'] }],
    })
    expect(seen(chunks).slice(0, 2)).toEqual(['one two three ', 'four'])
  })

  it('are refused when they are none', () => {
    expect(() => streamSmoother({ chunking: 0 })).toThrow('A piece cannot have 0 characters.')
    expect(() => streamSmoother({ chunking: 'page' as never })).toThrow("'page' is no kind of piece.")
    expect(() => streamSmoother({ delayMs: -1 })).toThrow('A delay is not -1 ms.')
    expect(() => streamSmoother({ maxWaitMs: 0 })).toThrow('Pieces cannot wait 0 ms.')
  })

  it('find no end in an expression that matches nothing', async () => {
    expect(await shown(/x*/, 'abc')).toEqual(['abc'])
  })

  it('take a text without any end at the cost of any other', async () => {
    const pieces = await shown('word', 'a'.repeat(50_000))
    expect(pieces).toHaveLength(50)
  })

  it('give the same text, in order, whatever the pieces, the blocks and the cuts', async () => {
    const chunking = fc.constantFrom<StreamSmootherOptions['chunking']>(undefined, 'word', 'line', 'sentence', 3, /\d/)
    const delta = fc.record({
      id: fc.constantFrom('a', 'b'),
      delta: fc.string({ unit: fc.constantFrom('a', '1', ' ', '\n', '. ', '😀', '\uD83D', '你'), maxLength: 8 }),
      isSigned: fc.boolean(),
    })
    vi.useFakeTimers()
    try {
      await fc.assert(
        fc.asyncProperty(chunking, fc.nat(20), fc.array(delta, { maxLength: 15 }), async (kind, delayMs, deltas) => {
          const parts = deltas.map((given): ProviderPart => ({
            ...textPart(given.delta, given.id),
            ...(given.isSigned ? { providerMetadata: { x: { y: 1 } } } : {}),
          }))
          const all = [begin('a'), begin('b'), ...parts, end('a'), end('b'), finishPart('stop')]
          const model = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream: streamOf(all) }) })
          const options = { ...(kind === undefined ? {} : { chunking: kind }), delayMs, maxWaitMs: 5 }
          const run = runWith(streamSmoother(options), { model })
          await vi.advanceTimersByTimeAsync(20 * 400)
          const { chunks } = await run
          const ids = chunks.flatMap(chunk => (chunk.type === 'text-start' ? [chunk.payload.id] : []))
          for (const [index, id] of ['a', 'b'].entries()) {
            const said = deltas.flatMap(given => (given.id === id ? [given.delta] : [])).join('')
            const texts = chunks.flatMap(chunk =>
              chunk.type === 'text-delta' && chunk.payload.id === ids[index] ? [chunk.payload.text] : [],
            )
            expect(texts.join('')).toBe(said)
          }
          expect(vi.getTimerCount()).toBe(0)
        }),
        { numRuns: runCount(100) },
      )
    } finally {
      vi.useRealTimers()
    }
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['stream-smoother', { chunking: 'line' }])).id).toBe('stream-smoother')
  })
})
