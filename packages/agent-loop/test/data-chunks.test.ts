import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

describe('application data', () => {
  const progress = tool({
    inputSchema: z.object({}),
    async execute(_, options) {
      const { writer } = options as unknown as { writer: { custom(chunk: object): Promise<void> } }
      await writer.custom({ type: 'data-progress', id: 'p', data: 1 })
      await writer.custom({ type: 'data-progress', id: 'p', data: 2 })
      await writer.custom({ type: 'data-note', data: 'gone', transient: true })
      return 'done'
    },
  })
  const run = (processors: Partial<Parameters<typeof drain>[0]> = {}) =>
    drain({
      model: scriptedModel([{ toolCalls: [{ toolName: 'progress', input: {} }] }, 'ok']),
      tools: { progress },
      ...processors,
    })

  it('is shown as it is written, and the last of an id is kept in the response', async () => {
    const { result, types } = await run()
    expect(types.filter(type => type.startsWith('data-'))).toEqual(['data-progress', 'data-progress', 'data-note'])
    expect(result.messages[0]!.content.parts.filter(part => part.type.startsWith('data-'))).toEqual([
      { type: 'data-progress', id: 'p', data: 2 },
    ])
  })

  it('passes only processors that want it, and never its own writer', async () => {
    const seen: string[] = []
    const watching = (id: string, processDataParts: boolean): Processor => ({
      id,
      processDataParts,
      processInput: async ({ writer }) => writer.custom({ type: 'data-hello', data: id }),
      processOutputStream({ part }) {
        if (part.type.startsWith('data-')) seen.push(`${id} saw ${part.type}`)
        return part
      },
    })
    const [blind, wanting] = [watching('blind', false), watching('wanting', true)]
    const { result } = await run({ inputProcessors: [wanting], outputProcessors: [blind, wanting] })
    expect(seen).toEqual(['wanting saw data-progress', 'wanting saw data-progress', 'wanting saw data-note'])
    expect(result.messages[0]!.content.parts[1]).toEqual({ type: 'data-hello', data: 'wanting' })
  })

  describe('that a processor has something against', () => {
    const against = (object: () => void): Processor => ({
      id: 'against',
      processDataParts: true,
      processOutputStream: ({ part }) => (part.type === 'data-x' ? object() : undefined, part),
    })
    const throwing = () =>
      against(() => {
        throw new Error('A bad day.')
      })
    const refusing = (options: { readonly retry?: boolean } = {}): Processor => ({
      id: 'against',
      processDataParts: true,
      processOutputStream: ({ part, abort }) => (part.type === 'data-x' ? abort('Not this.', options) : part),
    })
    interface Writing {
      readonly writer: { custom(chunk: object): Promise<void> }
    }
    const listeners = {
      'waits for it': (write: () => Promise<void>) => write(),
      'does not listen': (write: () => Promise<void>) => write().catch(() => {}),
      'does not wait': (write: () => Promise<void>) => void write(),
      'tells another error': (write: () => Promise<void>) => write().catch(() => Promise.reject(new Error('Other.'))),
    }
    const [waiting, ...deaf] = Object.entries(listeners)
    const writes = (listen: (write: () => Promise<void>) => unknown) =>
      tool({
        inputSchema: z.object({}),
        async execute(_, options) {
          await listen(() => (options as unknown as Writing).writer.custom({ type: 'data-x', data: 1 }))
          return 'done'
        },
      })
    const runTool = (listen: (write: () => Promise<void>) => unknown, processor: Processor) =>
      run({ tools: { progress: writes(listen) }, outputProcessors: [processor], maxProcessorRetries: 1 })

    it.each(Object.entries(listeners))('fails the run, when its tool %s', async (_, listen) => {
      const { result, types } = await runTool(listen, throwing())
      expect(result).toMatchObject({ stopReason: 'error', error: { code: 'hook-failed', processorId: 'against' } })
      expect(types).not.toContain('data-x')
    })

    it.each(Object.entries(listeners))('ends it with a tripwire, when its tool %s', async (_, listen) => {
      const { result, types } = await runTool(listen, refusing())
      expect(result).toMatchObject({
        stopReason: 'tripwire',
        tripwire: { reason: 'Not this.', processorId: 'against', hook: 'processOutputStream' },
        messages: [],
      })
      expect(types).not.toContain('data-x')
    })

    it('is an error of the tool, when the processor wants another try and the tool waits for it', async () => {
      const { result, chunks } = await runTool(waiting![1], refusing({ retry: true }))
      expect(result).toMatchObject({ stopReason: 'completed', text: 'ok' })
      expect(chunks.find(({ type }) => type === 'tool-error')).toMatchObject({
        payload: { error: { message: 'Not this.' } },
      })
    })

    it.each(deaf)('is no tool error, when its tool %s', async (_, listen) => {
      expect((await runTool(listen, refusing({ retry: true }))).result.stopReason).toBe('tripwire')
    })

    it.each(
      (
        ['processInput', 'processInputStep', 'processOutputStep', 'processOutputResult', 'processStepEnd'] as const
      ).flatMap(hook => Object.entries(listeners).map(([name, listen]) => [hook, name, listen] as const)),
    )('ends the run, when %s of another wrote it and %s', async (hook, _, listen) => {
      const writer: Processor = {
        id: 'writer',
        onError: 'skip',
        async [hook]({ writer: out }: Writing) {
          await listen(() => out.custom({ type: 'data-x', data: 1 }))
        },
      }
      for (const [processor, expected] of [
        [throwing(), { stopReason: 'error', error: { processorId: 'against' } }],
        [refusing(), { stopReason: 'tripwire', tripwire: { processorId: 'against' } }],
      ] as const) {
        const { result, types } = await run(
          hook.startsWith('processInput')
            ? { inputProcessors: [writer], outputProcessors: [processor] }
            : { outputProcessors: [writer, processor] },
        )
        expect(result).toMatchObject(expected)
        expect(types).not.toContain('data-x')
      }
    })
  })

  describe('that a processor refuses after a while', () => {
    interface Writing {
      readonly writer: { custom(chunk: object): Promise<void> }
    }
    const turnOfEvents = () => new Promise<void>(resolve => setImmediate(resolve))
    const write = ({ writer }: Writing) => writer.custom({ type: 'data-x', data: 1 })
    const refusing = (options: { readonly retry?: boolean; readonly once?: boolean } = {}): Processor => ({
      id: 'against',
      processDataParts: true,
      async processOutputStream({ part, state, abort }) {
        if (part.type !== 'data-x' || (options.once && state['refused'])) return part
        state['refused'] = true
        await turnOfEvents()
        return abort('Not this.', options)
      },
    })
    const refused = { stopReason: 'tripwire', tripwire: { reason: 'Not this.', processorId: 'against' } }
    const carelessly = (args: Writing) => void write(args).catch(() => {})

    it('ends the run, though its tool has not waited', async () => {
      const careless = tool({
        inputSchema: z.object({}),
        execute: (_, options) => (carelessly(options as never), 'done'),
      })
      const { result, types } = await run({ tools: { progress: careless }, outputProcessors: [refusing()] })
      expect(result).toMatchObject({ ...refused, messages: [], steps: [] })
      expect(types).not.toContain('data-x')
    })

    it.each([
      'processInput',
      'processInputStep',
      'processLLMRequest',
      'processOutputStep',
      'processToolCall',
      'processToolResult',
      'processStepEnd',
      'processOutputResult',
    ] as const)('ends the run, though %s of another has not waited', async hook => {
      const writer = { id: 'writer', [hook]: carelessly } as unknown as Processor
      const { result, types } = await run(
        hook.startsWith('processInput') || hook === 'processLLMRequest'
          ? { inputProcessors: [writer], outputProcessors: [refusing()] }
          : { outputProcessors: [writer, refusing()] },
      )
      expect(result).toMatchObject(refused)
      expect(types).not.toContain('data-x')
    })

    it('fails a run that would have been completed, when it was written at its end', async () => {
      const writer = { id: 'writer', processRunEnd: carelessly } as unknown as Processor
      const { result, types } = await run({ outputProcessors: [writer, refusing()] })
      expect(result.stopReason).toBe('error')
      expect(types).not.toContain('data-x')
    })

    it('ends the run also when the model fails and would be asked again', async () => {
      const { result } = await run({
        model: scriptedModel([{ error: new Error('down') }, 'ok']),
        inputProcessors: [{ id: 'writer', processLLMRequest: carelessly as never }],
        outputProcessors: [refusing()],
        errorProcessors: [{ id: 'again', processAPIError: () => ({ retry: true }) }],
      })
      expect(result).toMatchObject(refused)
    })

    it.each(['processToolResult', 'processOutputStep', 'processOutputResult'] as const)(
      'is forgotten, when the refusal of what %s wrote was answered with another try',
      async hook => {
        const writer = { id: 'writer', [hook]: write } as unknown as Processor
        const { result } = await run({
          model: scriptedModel([{ toolCalls: [{ toolName: 'progress', input: {} }] }, 'ok', 'ok']),
          outputProcessors: [writer, refusing({ retry: true, once: true })],
          maxProcessorRetries: 1,
        })
        expect(result).toMatchObject({ stopReason: 'completed', text: 'ok', error: undefined })
      },
    )

    it('takes the record of its step with it', async () => {
      const writer = { id: 'writer', processStepEnd: write } as unknown as Processor
      const { result } = await run({ outputProcessors: [writer, refusing()] })
      expect(result).toMatchObject({ ...refused, messages: [], steps: [], text: '' })
    })
  })

  it('that takes its time on the way is shown before the end of the run', async () => {
    const slow: Processor = {
      id: 'slow',
      processDataParts: true,
      processOutputStream: ({ part }) =>
        part.type === 'data-x' ? new Promise(resolve => setImmediate(() => resolve(part))) : part,
    }
    const last: Processor = {
      id: 'last',
      processRunEnd: ({ writer }) => void writer.custom({ type: 'data-x', data: 1 }),
    }
    const { types } = await run({ outputProcessors: [last, slow] })
    expect(types.slice(-2)).toEqual(['data-x', 'finish'])
  })

  it('comes to a processor piece by piece, though tools write side by side', async () => {
    let inside = 0
    const slow: Processor = {
      id: 'slow',
      processDataParts: true,
      async processOutputStream({ part }) {
        expect(++inside).toBe(1)
        await Promise.resolve()
        inside--
        return part
      },
    }
    const calls = Array.from({ length: 5 }, () => ({ toolName: 'progress', input: {} }))
    const model = scriptedModel([{ toolCalls: calls }, 'ok'])
    const { result, types } = await run({ model, outputProcessors: [slow] })
    expect(result.stopReason).toBe('completed')
    expect(types.filter(type => type.startsWith('data-'))).toHaveLength(15)
  })

  it('that is written after the run has ended is refused', async () => {
    let late: unknown
    const keeper: Processor = { id: 'keeper', processRunEnd: ({ writer }) => void (late = writer) }
    await run({ outputProcessors: [keeper] })
    await expect(
      (late as { custom(chunk: object): Promise<void> }).custom({ type: 'data-x', data: 1 }),
    ).rejects.toMatchObject({
      code: 'late-write',
    })
  })
})
