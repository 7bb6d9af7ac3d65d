// Tools as the AI SDK defines them.
import { finishPart, scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { dynamicTool, jsonSchema, tool, type Tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

const call = (toolName: string, input: unknown = {}) => ({ toolCalls: [{ toolName, input }] })
const echo = z.object({ n: z.number() })

/** The parts in which a model writes the input of a call piece by piece. */
const written = (toolName: string, pieces: readonly string[]) => ({
  parts: [
    { type: 'tool-input-start' as const, id: 'c1', toolName },
    ...pieces.map(delta => ({ type: 'tool-input-delta' as const, id: 'c1', delta })),
    { type: 'tool-input-end' as const, id: 'c1' },
    { type: 'tool-call' as const, toolCallId: 'c1', toolName, input: pieces.join('') },
    finishPart('tool-calls'),
  ],
})

function fail(isTime: boolean): void {
  if (isTime) throw new Error('A bad day.')
}

describe('a tool', () => {
  it.each<[string, Tool<never, never>]>([
    ['zod', tool({ inputSchema: echo, execute: ({ n }) => n }) as never],
    [
      'JSON schema',
      tool({ inputSchema: jsonSchema<{ n: number }>({ type: 'object' }), execute: ({ n }) => n }) as never,
    ],
    ['no static type', dynamicTool({ inputSchema: echo, execute: input => (input as { n: number }).n }) as never],
    ['a promise', tool({ inputSchema: echo, execute: async ({ n }) => (await Promise.resolve(), n) }) as never],
  ])('with %s is run, and the model hears of it', async (_, any) => {
    const model = scriptedModel([call('any', { n: 3 }), 'Three.'])
    const { result } = await drain({ model, tools: { any } as never })
    expect(result.toolResults).toMatchObject([{ toolName: 'any', input: { n: 3 }, output: 3 }])
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({ content: [{ output: { type: 'json', value: 3 } }] })
  })

  it('that gives values on the way shows each, and keeps the last', async () => {
    const grow = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'a'
        await Promise.resolve()
        yield 'ab'
        yield 'abc'
      },
    })
    const { result, chunks } = await drain({ model: scriptedModel([call('grow'), 'ok']), tools: { grow } })
    const shown = chunks.flatMap(chunk => (chunk.type === 'tool-result' ? [chunk.payload] : []))
    expect(shown.map(({ output, preliminary }) => [output, preliminary === true])).toEqual([
      ['a', true],
      ['ab', true],
      ['abc', false],
    ])
    expect(result.toolResults).toMatchObject([{ output: 'abc' }])
  })

  it('has failed when a processor says so: readers, the model and the conversation get the error alone', async () => {
    const grow = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield await Promise.resolve('secret half')
        yield 'secret'
      },
    })
    const unfit: Processor = { id: 'unfit', processToolResult: () => ({ error: new Error('unfit to be read') }) }
    const model = scriptedModel([call('grow'), 'ok'])
    const { result, chunks } = await drain({ model, tools: { grow }, outputProcessors: [unfit] })
    expect(chunks.flatMap(chunk => (chunk.type === 'tool-error' ? [chunk.payload.error] : []))).toEqual([
      new Error('unfit to be read'),
    ])
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'Error: unfit to be read' } }],
    })
    expect(JSON.stringify([chunks, result.messages, model.doStreamCalls[1]!.prompt])).not.toContain('secret')
    expect(result.stopReason).toBe('completed')
  })

  it.each(['processToolResult', 'processOutputStream'] as const)(
    'fails the run, and is no failure of the tool, when %s throws over a value on the way',
    async hook => {
      let isClosed = false
      const grow = tool({
        inputSchema: z.object({}),
        async *execute() {
          try {
            yield await Promise.resolve('half')
            yield 'all'
          } finally {
            isClosed = true
          }
        },
      })
      const throwing: Processor = {
        id: 'throwing',
        ...(hook === 'processToolResult'
          ? { processToolResult: ({ preliminary }) => fail(preliminary) }
          : { processOutputStream: ({ part }) => (fail(part.type === 'tool-result'), part) }),
      }
      const model = scriptedModel([call('grow'), 'ok'])
      const { result } = await drain({ model, tools: { grow }, outputProcessors: [throwing] })
      expect(result).toMatchObject({
        stopReason: 'error',
        error: { code: 'hook-failed', processorId: 'throwing', hook },
      })
      expect([model.doStreamCalls.length, isClosed]).toEqual([1, true])
    },
  )

  it('decides what the model reads of its output', async () => {
    const page = tool({
      inputSchema: z.object({}),
      execute: () => ({ html: '<b>hi</b>', size: 9 }),
      toModelOutput: ({ output }) => ({ type: 'text', value: output.html }),
    })
    const model = scriptedModel([call('page'), 'ok'])
    const { result } = await drain({ model, tools: { page } })
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'text', value: '<b>hi</b>' } }],
    })
    expect(result.toolResults).toMatchObject([{ output: { size: 9 } }])
  })

  it('is told of its input while the model writes it, and of all of it when the guards have let it pass', async () => {
    const told: unknown[] = []
    const typed = tool({
      inputSchema: echo,
      onInputStart: ({ toolCallId }) => void told.push(['start', toolCallId]),
      onInputDelta: ({ inputTextDelta }) => void told.push(['delta', inputTextDelta]),
      onInputAvailable: ({ input }) => void told.push(['available', input]),
      execute: ({ n }) => (told.push(['run', n]), n),
    })
    await drain({ model: scriptedModel([written('typed', ['{"n"', ':7}']), 'ok']), tools: { typed } })
    expect(told.splice(0)).toEqual([
      ['start', 'c1'],
      ['delta', '{"n"'],
      ['delta', ':7}'],
      ['available', { n: 7 }],
      ['run', 7],
    ])
    const guard: Processor = { id: 'guard', processToolCall: () => ({ deny: 'no' }) }
    await drain({
      model: scriptedModel([written('typed', ['{"n":7}']), 'ok']),
      tools: { typed },
      outputProcessors: [guard],
    })
    expect(told).toEqual([
      ['start', 'c1'],
      ['delta', '{"n":7}'],
    ])
  })

  it('is not told of input that a processor keeps from the stream', async () => {
    const told: unknown[] = []
    const typed = tool({ inputSchema: echo, onInputDelta: delta => void told.push(delta), execute: ({ n }) => n })
    const drop: Processor = {
      id: 'drop',
      processOutputStream: ({ part }) => (part.type === 'tool-input-delta' ? null : part),
    }
    const { result } = await drain({
      model: scriptedModel([written('typed', ['{"n":7}']), 'ok']),
      tools: { typed },
      outputProcessors: [drop],
    })
    expect(told).toEqual([])
    expect(result.toolResults).toMatchObject([{ output: 7 }])
  })

  it('gets its context, checked by its schema, and may describe itself by it', async () => {
    const seen: unknown[] = []
    const shop = tool({
      description: ({ context }) => `Sells in ${(context as { city: string }).city}.`,
      inputSchema: z.object({}),
      contextSchema: z.object({ city: z.string() }),
      execute: (_, { context }) => (seen.push(context), 'sold'),
    })
    const model = scriptedModel([call('shop'), 'ok', call('shop'), 'ok'])
    await drain({ model, tools: { shop }, toolsContext: { shop: { city: 'Rome' } } as never })
    expect(seen).toEqual([{ city: 'Rome' }])
    expect(model.doStreamCalls[0]!.tools).toMatchObject([{ description: 'Sells in Rome.' }])
    await drain({ model, tools: { shop }, toolsContext: { shop: { city: 'Oslo' } } as never })
    expect(model.doStreamCalls[2]!.tools).toMatchObject([{ description: 'Sells in Oslo.' }])
  })

  it('with a context that does not fit its schema is an error that the model reads', async () => {
    const shop = tool({
      inputSchema: z.object({}),
      contextSchema: z.object({ city: z.string() }),
      execute: () => 'sold',
    })
    const { result } = await drain({
      model: scriptedModel([call('shop'), 'ok']),
      tools: { shop },
      toolsContext: { shop: { city: 5 } } as never,
    })
    expect(result.steps[0]!.toolErrors).toMatchObject([
      { toolName: 'shop', error: expect.stringContaining('city') as string },
    ])
  })

  it('without execute ends the run, which waits for the client', async () => {
    const ask = tool({ inputSchema: echo })
    const { result } = await drain({ model: scriptedModel([call('ask', { n: 1 })]), tools: { ask } })
    expect(result).toMatchObject({ stopReason: 'completed', finishReason: 'tool-calls' })
    expect(result.messages[0]!.content.parts.at(-1)).toMatchObject({ state: 'input-available' })
  })

  it.each([
    ['that does not exist', call('missing'), "Model tried to call unavailable tool 'missing'"],
    ['with input that does not fit', call('echo', { n: 'x' }), 'Invalid input for tool echo'],
    ['with input that is no JSON', call('echo', '{"n":'), 'Invalid input for tool echo'],
  ])('%s is an error that the model reads', async (_, turn, message) => {
    const model = scriptedModel([turn, 'ok'])
    const tools = { echo: tool({ inputSchema: echo, execute: ({ n }) => n }) }
    const { result } = await drain({ model, tools })
    expect(result.stopReason).toBe('completed')
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt.at(-1))).toContain(message)
  })

  it('has its call repaired where the caller can', async () => {
    const tools = { echo: tool({ inputSchema: echo, execute: ({ n }) => n }) }
    const given: unknown[] = []
    const { result } = await drain({
      model: scriptedModel([call('echo', { n: '4' }), 'ok']),
      tools,
      repairToolCall: repair => {
        given.push(repair.tools.echo)
        return Promise.resolve({ ...repair.toolCall, input: '{"n":4}' })
      },
    })
    expect(result.toolResults).toMatchObject([{ output: 4 }])
    expect(given[0]).toBe(tools.echo)
  })

  it('runs beside others up to a bound, and results stand in the order of the calls', async () => {
    let running = 0
    let most = 0
    const gates: (() => void)[] = []
    const wait = tool({
      inputSchema: echo,
      async execute({ n }) {
        most = Math.max(most, ++running)
        await new Promise<void>(resolve => {
          gates.push(resolve)
          if (gates.length === 2) for (const open of gates.splice(0).toReversed()) open()
        })
        running--
        return n
      },
    })
    const calls = [1, 2, 3, 4].map(n => ({ toolName: 'wait', input: { n } }))
    const model = scriptedModel([{ toolCalls: calls }, 'ok'])
    const { result } = await drain({ model, tools: { wait }, toolConcurrency: 2 })
    expect(most).toBe(2)
    expect(result.toolResults.map(({ output }) => output)).toEqual([1, 2, 3, 4])
  })
})

describe('a call that comes twice', () => {
  it.each([
    ['as it was', '{"n":1}'],
    ['with another input', '{"n":2}'],
  ])('%s runs once: the first one counts, and the step says so', async (_, second) => {
    const ran: number[] = []
    const tools = { echo: tool({ inputSchema: echo, execute: ({ n }) => (ran.push(n), n) }) }
    const calls = ['{"n":1}', second].map(text => ({
      type: 'tool-call' as const,
      toolCallId: 'a',
      toolName: 'echo',
      input: text,
    }))
    const { result, types } = await drain({
      model: scriptedModel([{ parts: [...calls, finishPart('stop')] }, 'ok']),
      tools,
    })
    expect(result.stopReason).toBe('completed')
    expect(ran).toEqual([1])
    expect(types.filter(type => type === 'tool-call')).toHaveLength(1)
    expect(result.steps[0]!.warnings).toMatchObject([
      { message: expect.stringContaining("'a' (echo) came twice") as string },
    ])
  })
})

describe('a tool of the provider', () => {
  const search = {
    type: 'provider',
    id: 'acme.search',
    isProviderExecuted: true,
    args: {},
    inputSchema: z.object({}),
    supportsDeferredResults: true,
  } as unknown as Tool
  const called = {
    type: 'tool-call' as const,
    toolCallId: 'p1',
    toolName: 'search',
    input: '{}',
    providerExecuted: true,
  }
  const answered = (result: unknown) => ({ type: 'tool-result' as const, toolCallId: 'p1', toolName: 'search', result })
  const textOf = (text: string) => [{ type: 'text-delta' as const, id: 't', delta: text }, finishPart('stop')]

  it('has run: its result is in the step, and processToolResult sees it before anyone else', async () => {
    const seen: unknown[] = []
    const redact: Processor = {
      id: 'redact',
      processToolResult({ output, providerExecuted }) {
        seen.push([output, providerExecuted])
        return { output: 'redacted' }
      },
    }
    const model = scriptedModel([{ parts: [called, answered('secret') as never, ...textOf('Found.')] }])
    const { result, chunks } = await drain({ model, tools: { search }, outputProcessors: [redact] })
    expect(seen).toEqual([['secret', true]])
    expect(result.toolResults).toMatchObject([{ output: 'redacted', providerExecuted: true }])
    expect(JSON.stringify([chunks, result.messages])).not.toContain('secret')
  })

  it('has failed when a processor says so: nobody is shown what it gave', async () => {
    const unfit: Processor = { id: 'unfit', processToolResult: () => ({ error: 'unfit to be read' }) }
    const preliminary = { ...answered('secret half'), preliminary: true }
    const parts = [called, preliminary as never, answered('secret') as never, ...textOf('Found nothing.')]
    const { result, chunks } = await drain({
      model: scriptedModel([{ parts }]),
      tools: { search },
      outputProcessors: [unfit],
    })
    expect(chunks.filter(({ type }) => type.startsWith('tool-')).map(({ type }) => type)).toEqual([
      'tool-call',
      'tool-error',
    ])
    expect(result.steps[0]!.toolErrors).toMatchObject([{ error: 'unfit to be read', providerExecuted: true }])
    expect(JSON.stringify([chunks, result.messages])).not.toContain('secret')
  })

  it('may owe its result to a later step: the run goes on to hear it, and it stands with its call', async () => {
    const model = scriptedModel([
      { parts: [called, finishPart('stop')] },
      { parts: [answered('late') as never, ...textOf('Found.')] },
    ])
    const { result } = await drain({ model, tools: { search } })
    expect(result).toMatchObject({ text: 'Found.', stopReason: 'completed' })
    expect(model.doStreamCalls).toHaveLength(2)
    const parts = result.messages[0]!.content.parts.filter(part => part.type === 'tool-search')
    expect(parts).toMatchObject([{ state: 'output-available', output: 'late' }])
  })

  it('that never answers does not keep the run going for ever', async () => {
    const model = scriptedModel(
      Array.from({ length: 3 }, () => ({ parts: [{ ...called }, finishPart('stop' as const)] })),
    )
    const { result } = await drain({ model, tools: { search }, maxSteps: 3 })
    expect(result.stopReason).toBe('max-steps')
  })

  it('whose result is for a call that nobody made changes nothing', async () => {
    const model = scriptedModel([{ parts: [answered('stray') as never, ...textOf('Hi.')] }])
    const { result } = await drain({ model, tools: { search } })
    expect(result.text).toBe('Hi.')
    expect(JSON.stringify(result.messages)).not.toContain('stray')
  })
})
