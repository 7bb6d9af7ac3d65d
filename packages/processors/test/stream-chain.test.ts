import type { Chunk, DataChunk, Processor, ProcessOutputStreamArgs } from '@lockstep/processors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { atStart, chunkOf, hooked, said, stepResult, testRun, text, textsOf } from './run-host.ts'

type Stream = NonNullable<Processor['processOutputStream']>

const chainOf = (...outputProcessors: Processor[]) => {
  const run = testRun({ outputProcessors })
  return { run, chain: run.runner.streamChain(atStart) }
}

const streaming = (id: string, processOutputStream: Stream, more: Partial<Processor> = {}): Processor => ({
  id,
  processOutputStream,
  ...more,
})

const mapText = (id: string, map: (words: string) => string): Processor =>
  streaming(id, ({ part }) => (part.type === 'text-delta' ? text(map(part.payload.text), part.payload.id) : part))

const note = (data: unknown): DataChunk => ({ type: 'data-note', data })

describe('a chunk on its way through the chain', () => {
  it('passes the processors in the order of the array', async () => {
    const { chain } = chainOf(
      mapText('a', words => `${words}a`),
      mapText('b', words => `${words}b`),
    )
    expect(said(await chain.pass(text('x')))).toEqual(['xab'])
  })

  it('stays the same object when nobody changes it', () => {
    const { chain } = chainOf(
      streaming('a', ({ part }) => part),
      streaming('b', ({ part }) => part),
    )
    const chunk = text('x')
    expect(chain.pass(chunk)).toBe(chunk)
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['an empty array', []],
  ] as const)('is dropped by %s, and nobody after sees it', async (_, nothing) => {
    const seen: string[] = []
    const { chain, run } = chainOf(
      streaming('drop', ({ part }) => (part.type === 'text-delta' && part.payload.text === 'no' ? nothing : part)),
      streaming('see', ({ part }) => (seen.push(...said(part)), part)),
    )
    expect(said(await chain.pass(text('no')))).toEqual([])
    expect(said(await chain.pass(text('yes')))).toEqual(['yes'])
    expect(seen).toEqual(['yes'])
    chain.close()
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'chunks', text: 'changed' } }])
  })

  it('is dropped when a method falls off its end', async () => {
    const { chain } = chainOf(streaming('a', () => {}))
    expect(await chain.pass(text('x'))).toBeUndefined()
  })

  it('may become several, each of which the processors after see', async () => {
    const twice = streaming('twice', ({ part }) => [part, part])
    const { chain } = chainOf(
      twice,
      mapText('mark', words => `${words}!`),
    )
    expect(said(await chain.pass(text('x')))).toEqual(['x!', 'x!'])
  })

  it('may become several by a promise, in order', async () => {
    const slow = streaming('slow', async ({ part }) => (await Promise.resolve(), [part, text('+')]))
    const slower = streaming('slower', async ({ part }) => (await Promise.resolve(), part))
    const { chain } = chainOf(
      slow,
      slower,
      streaming('drop', ({ part }) => (said(part)[0] === '+' ? null : part)),
    )
    expect(said(await chain.pass(text('x')))).toEqual(['x'])
  })

  it('may be changed into a chunk of another type', async () => {
    const { chain } = chainOf(
      streaming('a', ({ part }) => (part.type === 'text-delta' ? note(part.payload.text) : part)),
    )
    expect(await chain.pass(text('x'))).toEqual(note('x'))
  })

  it.each([[5], ['x'], [{}], [[text('x'), 5]]])('cannot become %j', returned => {
    const { chain } = chainOf(streaming('a', () => returned as never))
    expect(() => chain.pass(text('x'))).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'a', hook: 'processOutputStream' }),
    )
  })

  it('is not a promise when no processor returned one', () => {
    const { chain } = chainOf(
      mapText('a', words => words),
      streaming('b', ({ part }) => [part]),
      mapText('c', words => words),
    )
    expect(chain.pass(text('x'))).not.toBeInstanceOf(Promise)
  })

  it('costs nothing where no processor streams', () => {
    const { chain } = chainOf(hooked('guard', { processOutputStep: () => {} }))
    const chunk = text('x')
    expect(chain.pass(chunk)).toBe(chunk)
  })
})

describe('what processOutputStream is given', () => {
  it('is the chunk, the chunks of this attempt, the state and the context of every hook', async () => {
    let args: ProcessOutputStreamArgs | undefined
    const { chain, run } = chainOf(streaming('p', given => ((args = given), given.part)))
    await chain.pass(text('x'))
    expect(args!.part).toEqual(text('x'))
    expect(textsOf(args!.messages)).toEqual(['one', 'two'])
    expect(args!.systemMessages).toEqual([])
    expect(args!.messageList.isSameAs(run.list)).toBe(true)
    expect(args).toMatchObject({ stepNumber: 0, steps: [], retryCount: 0, state: {}, tracingContext: {} })
    expect([typeof args!.abort, typeof args!.callModel, typeof args!.writer.custom]).toEqual(
      Array.from({ length: 3 }, () => 'function'),
    )
    expect([args!.abortSignal, args!.requestContext]).toEqual([run.controller.signal, run.requestContext])
  })

  it('is where the run is', async () => {
    const seen: unknown[] = []
    const run = testRun({
      outputProcessors: [
        streaming(
          'p',
          ({ part, stepNumber, steps, retryCount }) => (seen.push(stepNumber, steps.length, retryCount), part),
        ),
      ],
    })
    await run.runner
      .streamChain({ stepNumber: 2, attemptNumber: 1, steps: [stepResult(), stepResult()], retryCount: 1 })
      .pass(text('x'))
    expect(seen).toEqual([2, 2, 1])
  })

  it('are in streamParts the chunks as they came to this processor, this one included', async () => {
    const seen: Record<string, readonly string[]> = {}
    const see =
      (id: string): Stream =>
      ({ part, streamParts }) => ((seen[id] = said(streamParts)), part)
    const { chain } = chainOf(
      streaming('first', see('first')),
      streaming('drop-b', ({ part }) => (said(part)[0] === 'b' ? null : part)),
      mapText('upper', words => words.toUpperCase()),
      streaming('last', see('last')),
    )
    for (const words of ['a', 'b', 'c']) await chain.pass(text(words))
    expect(seen).toEqual({ first: ['a', 'b', 'c'], last: ['A', 'C'] })
  })

  it('are no chunks of an attempt before', async () => {
    let parts: readonly Chunk[] = []
    const run = testRun({
      outputProcessors: [streaming('p', ({ part, streamParts }) => ((parts = streamParts), part))],
    })
    await run.runner.streamChain(atStart).pass(text('first try'))
    await run.runner.streamChain({ ...atStart, attemptNumber: 1 }).pass(text('second try'))
    expect(said(parts)).toEqual(['second try'])
  })
})

describe('data chunks', () => {
  const collect = (id: string, seen: unknown[], more: Partial<Processor> = {}) =>
    streaming(id, ({ part }) => (part.type.startsWith('data-') && seen.push((part as DataChunk).data), part), more)

  it('pass only processors that ask for them', async () => {
    const blind: unknown[] = []
    const seeing: unknown[] = []
    const { chain } = chainOf(collect('blind', blind), collect('seeing', seeing, { processDataParts: true }))
    expect(await chain.pass(note(1))).toEqual(note(1))
    expect([blind, seeing]).toEqual([[], [1]])
  })

  it('can be changed and dropped by them like any other', async () => {
    const censor = streaming(
      'censor',
      ({ part }) => (part.type !== 'data-note' ? part : part.data === 'secret' ? null : note('changed')),
      { processDataParts: true },
    )
    const { chain } = chainOf(censor)
    expect(await chain.pass(note('secret'))).toBeUndefined()
    expect(await chain.pass(note('x'))).toEqual(note('changed'))
  })

  it('do not come back to their own writer', async () => {
    const own: unknown[] = []
    const others: unknown[] = []
    const { chain } = chainOf(
      collect('writer', own, { processDataParts: true }),
      collect('other', others, { processDataParts: true }),
    )
    await chain.pass(note(1), 'writer')
    expect([own, others]).toEqual([[], [1]])
  })

  it('are written by processors in their name, and only under their own names', async () => {
    const { chain, run } = chainOf(
      streaming('p', async ({ part, writer }) => {
        await writer.custom({ type: 'data-note', data: 1, transient: true })
        return part
      }),
    )
    await chain.pass(text('x'))
    expect(run.written).toEqual([{ chunk: { type: 'data-note', data: 1, transient: true }, processorId: 'p' }])
    const { chain: wrong } = chainOf(
      streaming('p', async ({ part, writer }) => (await writer.custom({ type: 'text-delta', data: 1 } as never), part)),
    )
    await expect(wrong.pass(text('x'))).rejects.toMatchObject({
      code: 'invalid-data-chunk',
      message: expect.stringContaining("'data-…'"),
    })
  })

  it.each<[string, Stream]>([
    ['by a promise', async ({ part }) => (await Promise.resolve(), part)],
    ['in a list', ({ part }) => [part]],
    ['in a list, by a promise', async ({ part }) => (await Promise.resolve(), [part])],
  ])('do not come back to their own writer either when the processor before passes them on %s', async (_, before) => {
    const own: unknown[] = []
    const { chain } = chainOf(
      streaming('before', before, { processDataParts: true }),
      collect('writer', own, { processDataParts: true }),
    )
    expect(await chain.pass(note(1), 'writer')).toBeDefined()
    expect(own).toEqual([])
  })
})

describe('flushAfter', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Holds texts, and gives one of them back each time. */
  const pacer = (id: string, ms: number, reasons: unknown[] = []): Processor => ({
    id,
    processOutputStream({ part, state, flushAfter }) {
      if (part.type !== 'text-delta') return part
      state['held'] = [...((state['held'] as string[] | undefined) ?? []), part.payload.text]
      flushAfter(ms)
      return null
    },
    flush({ state, reason, flushAfter }) {
      reasons.push(reason)
      const [first, ...rest] = (state['held'] as string[] | undefined) ?? []
      state['held'] = rest
      if (first === undefined) return
      flushAfter(ms)
      return text(first)
    },
  })
  const collected = async (released: AsyncIterable<Chunk> | undefined, into: Chunk[] = []) => {
    for await (const chunk of released ?? []) into.push(chunk)
    return said(into)
  }

  it('asks a processor alone, when its time has come, and the others after it see what it gives', async () => {
    const { chain } = chainOf(
      pacer('slow', 50),
      pacer('quick', 10),
      mapText('mark', words => `<${words}>`),
    )
    expect(chain.hasWishes).toBe(false)
    await chain.pass(chunkOf('text-start'))
    await chain.pass(text('a'))
    await vi.advanceTimersByTimeAsync(49)
    expect(await chain.isDueBefore(Promise.resolve())).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await chain.isDueBefore(new Promise(() => {}))).toBe(true)
    expect(await collected(chain.releaseDue())).toEqual([])
    await vi.advanceTimersByTimeAsync(10)
    expect(await chain.isDueBefore(new Promise(() => {}))).toBe(true)
    expect(await collected(chain.releaseDue())).toEqual(['<a>'])
  })

  it('counts the newest wish', async () => {
    const { chain } = chainOf(pacer('p', 10))
    await chain.pass(chunkOf('text-start'))
    for (const words of ['a', 'b']) {
      await chain.pass(text(words))
      await vi.advanceTimersByTimeAsync(9)
    }
    expect(await chain.isDueBefore(Promise.resolve())).toBe(false)
    expect(vi.getTimerCount()).toBe(1)
  })

  it('lets an end wait until a processor has given all, and those after it are asked then', async () => {
    const reasons: unknown[] = []
    const { chain } = chainOf(pacer('p', 10, reasons), hooked('after', { flush: () => text('the end') }))
    await chain.pass(chunkOf('text-start'))
    for (const words of ['a', 'b']) await chain.pass(text(words))
    const shown: Chunk[] = []
    const all = collected(chain.release('block-end', '0'), shown)
    await vi.advanceTimersByTimeAsync(0)
    expect(said(shown)).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(10)
    expect(said(shown)).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(10)
    expect(await all).toEqual(['a', 'b', 'the end'])
    expect(reasons).toEqual(['block-end', 'block-end', 'block-end'])
  })

  it('is not waited for when the run is aborted', async () => {
    const { run, chain } = chainOf(pacer('p', 10))
    await chain.pass(chunkOf('text-start'))
    for (const words of ['a', 'b', 'c']) await chain.pass(text(words))
    const ended = collected(chain.release('finish')).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(0)
    run.controller.abort('enough')
    expect(await ended).toBe('enough')
    expect(said(await chain.flush('abort'))).toEqual(['b'])
    chain.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('comes to nothing when the chain has ended', async () => {
    const wishes: ((ms: number) => void)[] = []
    const { chain } = chainOf(streaming('p', ({ part, flushAfter }) => (wishes.push(flushAfter), part)))
    await chain.pass(text('a'))
    chain.close()
    wishes[0]!(1)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('flush', () => {
  /** Keeps all text until it is asked for it. */
  const holder = (id: string, mark = ''): Processor => ({
    id,
    processOutputStream({ part, state }) {
      if (part.type !== 'text-delta') return part
      state['held'] = `${(state['held'] as string | undefined) ?? ''}${part.payload.text}`
      return null
    },
    flush({ state, reason, blockId }) {
      const held = state['held'] as string | undefined
      state['held'] = ''
      return held ? text(`${held}${mark}`, blockId ?? reason) : null
    },
  })

  it('is called in chain order, and what it gives back runs through the processors after it', async () => {
    const { chain } = chainOf(
      holder('first', '1'),
      holder('second', '2'),
      mapText('mark', words => `<${words}>`),
    )
    for (const chunk of [chunkOf('text-start'), text('a'), text('b')]) await chain.pass(chunk)
    expect(said(await chain.flush('block-end', '0'))).toEqual(['<ab12>'])
    expect(said(await chain.flush('finish'))).toEqual([])
  })

  it('is told why, and which block ends', async () => {
    const seen: unknown[] = []
    const { chain } = chainOf(
      hooked('p', { flush: ({ reason, blockId, runId }) => void seen.push([reason, blockId, runId]) }),
    )
    await chain.flush('block-end', 'b')
    await chain.flush('finish')
    await chain.flush('abort')
    expect(seen).toEqual([
      ['block-end', 'b', 'run-1'],
      ['finish', undefined, 'run-1'],
      ['abort', undefined, 'run-1'],
    ])
  })

  it('may give back several chunks', async () => {
    const { chain } = chainOf(
      hooked('p', { flush: () => [text('a'), text('b')] }),
      mapText('mark', words => `${words}!`),
    )
    await chain.pass(chunkOf('text-start'))
    expect(said(await chain.flush('finish'))).toEqual(['a!', 'b!'])
  })

  it('drops what a processor still holds of an attempt that was withdrawn', async () => {
    const run = testRun({ outputProcessors: [holder('p')] })
    const withdrawn = run.runner.streamChain(atStart)
    for (const chunk of [chunkOf('text-start', { id: '0.0.0' }), text('secret', '0.0.0')]) await withdrawn.pass(chunk)
    withdrawn.close()
    const next = run.runner.streamChain({ ...atStart, attemptNumber: 1 })
    await next.pass(chunkOf('text-start', { id: '0.1.0' }))
    expect(said(await next.flush('block-end', '0.0.0'))).toEqual([])
  })

  it('may open a block of its own', async () => {
    const own = [chunkOf('text-start', { id: 'own' }), text('by the way', 'own'), chunkOf('text-end', { id: 'own' })]
    const { chain } = chainOf(hooked('p', { flush: () => own }))
    expect(said(await chain.flush('finish'))).toEqual(['text-start', 'by the way', 'text-end'])
  })

  it('keeps the order of the array for a processor that only flushes', async () => {
    const order: string[] = []
    const flushing = (id: string): Processor => ({ id, flush: () => void order.push(id) })
    const { chain } = chainOf(
      flushing('a'),
      { ...flushing('b'), processOutputStream: ({ part }) => part },
      flushing('c'),
    )
    await chain.flush('finish')
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('is not called on processors that have none, and costs no promise then', () => {
    const { chain } = chainOf(mapText('a', words => words))
    expect(chain.flush('finish')).toEqual([])
  })

  it('runs after an abort of the run, so that what was held can still be told', async () => {
    const { chain, run } = chainOf(hooked('p', { flush: async () => (await Promise.resolve(), text('the end')) }))
    await chain.pass(chunkOf('text-start'))
    run.controller.abort(new Error('enough'))
    expect(said(await chain.flush('abort'))).toEqual(['the end'])
  })

  it('leaves text that was only cut elsewhere unchanged in the account', async () => {
    const { chain, run } = chainOf(holder('p'))
    await chain.pass(text('a'))
    await chain.pass(text('b'))
    await chain.flush('block-end', '0')
    chain.close()
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'p', effect: { type: 'chunks', text: 'regrouped', changed: 0, dropped: 0, added: 0 } },
    ])
  })
})

describe('a hook that throws in the chain', () => {
  const broken = (onError?: 'skip'): Processor => ({
    ...streaming('broken', () => {
      throw new Error('no dictionary')
    }),
    ...(onError && { onError }),
  })

  it('fails the run: nothing is emitted that it did not pass', () => {
    const { chain } = chainOf(broken())
    expect(() => chain.pass(text('x'))).toThrow(
      expect.objectContaining({ code: 'hook-failed', processorId: 'broken', hook: 'processOutputStream' }),
    )
  })

  it('is passed over with onError skip: the chunk goes on as the ones before it left it', async () => {
    const { chain, run } = chainOf(
      mapText('redact', () => '***'),
      broken('skip'),
      mapText('mark', words => `${words}!`),
    )
    expect(said(await chain.pass(text('secret')))).toEqual(['***!'])
    expect(run.runner.ledger.events).toMatchObject([{ processorId: 'broken', effect: { type: 'skipped' } }])
  })

  it('is passed over the same way when it rejects', async () => {
    const late: Processor = { id: 'late', onError: 'skip', processOutputStream: () => Promise.reject(new Error('x')) }
    const { chain } = chainOf(
      mapText('redact', () => '***'),
      late,
    )
    expect(said(await chain.pass(text('secret')))).toEqual(['***'])
  })

  it('is not passed over when it refused: skip is for errors', async () => {
    const guard: Processor = { id: 'guard', onError: 'skip', processOutputStream: ({ abort }) => abort('no') }
    const { chain } = chainOf(guard)
    expect(() => chain.pass(text('x'))).toThrow(expect.objectContaining({ name: 'TripWire', reason: 'no' }))
  })
})

describe('a refusal of one chunk', () => {
  it('is not a refusal of the next', () => {
    const { chain } = chainOf(streaming('p', ({ part, abort }) => (part.type === 'raw' ? abort('no') : part)))
    const raw = { type: 'raw', runId: 'run-1', from: 'AGENT', payload: { rawValue: 1 } } as const
    expect(() => chain.pass(raw)).toThrow(expect.objectContaining({ reason: 'no' }))
    expect(chain.pass(text('x'))).toMatchObject({ payload: { text: 'x' } })
  })
})

describe('the account of the chain', () => {
  it('counts what became of chunks, apart from text', async () => {
    const { chain, run } = chainOf(
      streaming('p', ({ part }) => {
        if (part.type === 'text-start') return null
        if (part.type === 'text-end') return [part, note('end')]
        return part.type === 'text-delta' ? text(part.payload.text) : chunkOf('text-start')
      }),
    )
    const raw = { type: 'raw', runId: 'run-1', from: 'AGENT', payload: { rawValue: 1 } } as const
    for (const chunk of [chunkOf('text-start'), text('same'), raw, chunkOf('text-end')]) await chain.pass(chunk)
    chain.close()
    expect(run.runner.ledger.events.map(({ effect }) => effect)).toEqual([
      { type: 'chunks', text: 'same', held: 0, changed: 1, dropped: 1, added: 1 },
    ])
  })

  it('counts the text chunks for which nothing left at once', async () => {
    const { chain, run } = chainOf(
      streaming('p', ({ part, streamParts }) =>
        part.type === 'text-delta' && streamParts.length < 3 ? null : text('abc'),
      ),
    )
    for (const words of ['a', 'b', 'c']) await chain.pass(text(words))
    chain.close()
    expect(run.runner.ledger.events).toMatchObject([{ effect: { text: 'regrouped', held: 2, dropped: 0 } }])
  })

  it('compares the input of a tool as it compares text', async () => {
    const delta = (words: string) =>
      ({ type: 'tool-input-delta', runId: 'run-1', from: 'AGENT', payload: { id: 'c', delta: words } }) as const
    const { chain, run } = chainOf(
      streaming('p', ({ part }) =>
        part.type === 'tool-input-delta' && part.payload.delta === '{'
          ? null
          : part.type === 'tool-input-delta'
            ? delta(`{${part.payload.delta}`)
            : part,
      ),
    )
    for (const words of ['{', '}']) await chain.pass(delta(words))
    chain.close()
    expect(run.runner.ledger.events).toMatchObject([{ effect: { text: 'regrouped', held: 1, changed: 0 } }])
  })

  it('counts every call, and looks at the clock for every sixteenth', async () => {
    const { chain, run } = chainOf(streaming('p', ({ part }) => part))
    const clock = vi.spyOn(performance, 'now')
    for (let index = 0; index < 160; index++) await chain.pass(text('x'))
    expect(clock).toHaveBeenCalledTimes(20)
    clock.mockRestore()
    expect(run.runner.ledger.totals).toMatchObject([{ processorId: 'p', callCount: 160 }])
  })

  it('says nothing about a chain that changed nothing', async () => {
    const { chain, run } = chainOf(streaming('p', ({ part }) => part))
    await chain.pass(text('x'))
    chain.close()
    expect(run.runner.ledger.events).toEqual([])
    expect(run.runner.ledger.totals).toMatchObject([{ processorId: 'p', hook: 'processOutputStream', callCount: 1 }])
  })

  it('says changed when the text is another, however it was cut', async () => {
    const { chain, run } = chainOf(mapText('p', words => words.replace('a', 'b')))
    for (const words of ['x', 'a']) await chain.pass(text(words))
    chain.close()
    expect(run.runner.ledger.events).toMatchObject([{ effect: { text: 'changed' } }])
  })
})
