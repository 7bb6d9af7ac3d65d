import {
  Agent,
  AgentError,
  ProcessorError,
  RequestContext,
  type Chunk,
  type Processor,
  type ToolRunOptions,
} from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

const agentOf = (
  turns: Parameters<typeof scriptedModel>[0],
  config: Partial<ConstructorParameters<typeof Agent>[0]> = {},
) => {
  const model = scriptedModel(turns)
  return { model, agent: new Agent({ name: 'test', model, ...config }) }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const hang = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  )

describe('an agent', () => {
  it('puts its instructions before what it is asked', async () => {
    const { agent, model } = agentOf(['Blue.'], { instructions: 'Be brief.' })
    expect((await agent.generate('Which colour?')).text).toBe('Blue.')
    expect(model.doStreamCalls[0]!.prompt).toMatchObject([{ role: 'system', content: 'Be brief.' }, { role: 'user' }])
  })

  it.each([
    ['a string', 'Hi'],
    ['strings', ['Hi', 'there']],
    ['a message', { role: 'user', content: 'Hi' }],
    ['messages', [{ role: 'user', content: 'Hi' }]],
    ['a prompt in an object', { prompt: 'Hi' }],
    ['messages in an object', { messages: [{ role: 'user', content: 'Hi' }] }],
  ] as const)('takes %s', async (_, input) => {
    const { agent, model } = agentOf(['Hello.'])
    expect((await agent.generate(input as never)).text).toBe('Hello.')
    expect(model.doStreamCalls[0]!.prompt[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  })

  it('refuses an object that asks nothing, and says what it may have', () => {
    const { agent } = agentOf(['x'])
    expect(() => agent.stream({ promt: 'Hi' } as never)).toThrow(
      'The input has the keys ["promt"]. Give exactly one of prompt and messages.',
    )
  })

  it.each([
    ['inputProcessors', { inputProcessors: 'budget' }, 'inputProcessors is "budget". Give an array: [processor].'],
    [
      'outputProcessors',
      { outputProcessors: { id: 'guard' } },
      'outputProcessors is an object with the keys ["id"]. Give an array: [processor].',
    ],
    [
      'requestContext',
      { requestContext: { tier: 'pro' } },
      'requestContext is an object with the keys ["tier"]. Give `new RequestContext({ … })` with what is to be in it.',
    ],
  ])('says what is wrong with %s', async (_name, options, message) => {
    const agent = new Agent({ name: 'a', model: scriptedModel([]) })
    await expect(agent.generate('Hi', options as object)).rejects.toMatchObject({ code: 'invalid-option', message })
  })

  it.each([
    [{ commit: () => {} }, 'That is a store'],
    [{ store: 1 }, 'Give `memory({ store })`'],
    [() => true, 'memory is true. Give `memory({ store })`'],
  ])('says what is wrong with a memory', async (memory, message) => {
    const agent = new Agent({ name: 'a', model: scriptedModel([]), memory: memory as never })
    await expect(agent.generate('Hi')).rejects.toThrow(message)
  })

  it('gives its tools the run: its id, the request context and a writer', async () => {
    const look = tool({
      inputSchema: z.object({}),
      execute: async (_input, options) => {
        const { runId, requestContext, writer } = options as ToolRunOptions<{ tier: string }>
        await writer.custom({ type: 'data-progress', data: { runId } })
        return requestContext.get('tier')
      },
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'look', input: {} }] }, 'Done.'])
    const agent = new Agent({ name: 'a', model, tools: { look } })
    const requestContext = new RequestContext<{ tier: string }>({ tier: 'pro' })
    const chunks: Chunk[] = []
    for await (const chunk of agent.stream('Hi', { requestContext, runId: 'r' }).fullStream) chunks.push(chunk)
    expect(chunks.find(({ type }) => type === 'data-progress')).toMatchObject({ data: { runId: 'r' } })
    expect(chunks.find(({ type }) => type === 'tool-result')).toMatchObject({ payload: { output: 'pro' } })
  })

  it('makes instructions, model, tools and processors for each request', async () => {
    const model = scriptedModel(['ok'])
    const seen: unknown[] = []
    const agent = new Agent({
      name: 'test',
      instructions: ({ requestContext }) => `You serve ${String(requestContext.get('tenant'))}.`,
      model: () => Promise.resolve(model),
      inputProcessors: ({ requestContext }) => [
        { id: 'p', processInput: () => void seen.push(requestContext.get('tenant')) },
      ],
    })
    const { RequestContext } = await import('@lockstep/agent')
    await agent.generate('Hi', { requestContext: new RequestContext({ tenant: 'acme' }) })
    expect(seen).toEqual(['acme'])
    expect(model.doStreamCalls[0]!.prompt[0]).toMatchObject({ content: 'You serve acme.' })
  })

  it('replaces its processors by those of the call', async () => {
    const calls: string[] = []
    const named = (id: string): Processor => ({ id, processInput: () => void calls.push(id) })
    const { agent } = agentOf(['one', 'two'], { inputProcessors: [named('own')] })
    await agent.generate('Hi')
    await agent.generate('Hi', { inputProcessors: [named('per-call')] })
    expect(calls).toEqual(['own', 'per-call'])
  })

  it('puts the processors of its memory around those of every call', async () => {
    const calls: string[] = []
    const named = (id: string): Processor => ({
      id,
      processInput: () => void calls.push(`${id} in`),
      processRunEnd: ({ stopReason }) => void calls.push(`${id} ${stopReason}`),
    })
    const { agent, model } = agentOf(['one'], {
      inputProcessors: [named('own')],
      memory: {
        around: ({ inputProcessors = [], outputProcessors = [] }) => ({
          inputProcessors: [named('load'), ...inputProcessors],
          outputProcessors: [...outputProcessors, named('save')],
        }),
      },
    })
    await agent.generate('Hi', { inputProcessors: [named('per-call')] })
    expect(calls).toEqual(['load in', 'per-call in', 'load completed', 'per-call completed', 'save completed'])
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('reads the thread from the call, or from the request context', async () => {
    const { agent } = agentOf(['one', 'two'])
    const { RequestContext } = await import('@lockstep/agent')
    const requestContext = new RequestContext<Record<string, unknown>>({
      threadId: 'from-context',
      resourceId: 'owner',
    })
    const fromContext = await agent.generate('Hi', { requestContext })
    expect(fromContext.messages[0]).toMatchObject({ threadId: 'from-context', resourceId: 'owner' })
    const fromCall = await agent.generate('Hi', { requestContext, threadId: 'from-call' })
    expect(fromCall.messageList.threadId).toBe('from-call')
  })

  it('takes builtins by name', async () => {
    const { agent } = agentOf([{ text: ['key sk-ant-', 'abcdefghij0123456789', ' end'] }], {
      outputProcessors: ['secret-redactor'],
    })
    expect((await agent.generate('Hi')).text).toBe('key [redacted anthropic-key] end')
  })
})

describe('a stream', () => {
  it('gives its text as it comes and everything else as promises, before, after and twice', async () => {
    const { agent, model } = agentOf([{ text: ['Hel', 'lo'] }])
    const stream = agent.stream('Hi')
    expect(model.doStreamCalls).toHaveLength(0)
    const early = stream.text
    expect(await collect(stream.textStream)).toEqual(['Hel', 'lo'])
    expect([await early, await stream.text, await stream.text]).toEqual(['Hello', 'Hello', 'Hello'])
    expect(await stream.finishReason).toBe('stop')
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('gives every view everything when all are taken before the first read', async () => {
    const { agent } = agentOf([{ text: ['a', 'b', 'c'] }])
    const stream = agent.stream('Hi')
    const [full, text] = [stream.fullStream, stream.textStream]
    expect(await collect(text)).toEqual(['a', 'b', 'c'])
    expect((await collect(full)).map(chunk => chunk.type)).toContain('finish')
  })

  it('refuses a view that would miss the beginning', async () => {
    const { agent } = agentOf(['Hi'])
    const stream = agent.stream('Hi')
    await stream.text
    expect(() => stream.fullStream).toThrow(AgentError)
  })

  it('shows a text reader only what was accepted', async () => {
    const guard: Processor = {
      id: 'guard',
      processOutputStep: ({ text, abort, retryCount }) => {
        if (retryCount === 0) abort(`no: ${text}`, { retry: true })
      },
    }
    const { agent } = agentOf(['bad', 'good'], { outputProcessors: [guard], maxProcessorRetries: 1 })
    expect((await collect(agent.stream('Hi').textStream)).join('')).toBe('good')
  })

  it('aborts the run when its only reader leaves', async () => {
    let cancelled = false
    const { agent } = agentOf([
      options => {
        options.abortSignal!.addEventListener('abort', () => (cancelled = true))
        return { text: Array.from({ length: 1000 }, () => 'x') }
      },
    ])
    const stream = agent.stream('Hi')
    for await (const _ of stream.textStream) break
    expect(cancelled).toBe(true)
    expect((await stream.result).stopReason).toBe('aborted')
  })

  it.each([0, 1, 2, 3, 5, 10])(
    'has a result when its only reader leaves while it waits, after %i turns',
    async turns => {
      const { agent } = agentOf([{ text: ['a', 'b', 'c'] }], {
        outputProcessors: [{ id: 'slow', processOutputStream: async ({ part }) => part }],
      })
      const stream = agent.stream('Hi')
      const view = stream.fullStream
      await view.next()
      const waiting = view.next()
      const left = view.return(undefined)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      expect((await stream.result).stopReason).toBe('aborted')
      expect(await Promise.all([waiting, left])).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ])
    },
  )

  it('gives chunks in the order in which they are asked for, also two at once and a third in between', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `${index} `)
    const { agent } = agentOf([{ text: words }])
    const stream = agent.stream('Hi')
    const [view, other] = [stream.fullStream, stream.textStream]
    const others = collect(other)
    const types: string[] = []
    const texts: string[] = []
    const ask = async () => {
      const read = await view.next()
      types.push(read.done ? 'done' : read.value.type)
      if (!read.done && read.value.type === 'text-delta') texts.push(read.value.payload.text)
    }
    while (!types.includes('done')) {
      const [first, second] = [ask(), ask()]
      await first
      await Promise.all([second, ask()])
    }
    expect(texts).toEqual(words)
    expect(types.slice(types.indexOf('done')).every(type => type === 'done')).toBe(true)
    expect((await others).join('')).toBe(words.join(''))
  })

  it.each([[Object.freeze(Object.create(null)), '{}'] as const, [null, 'null'] as const])(
    'fails with what it can say of a thing that is no error',
    async (thrown, text) => {
      const { agent } = agentOf([{ error: thrown as never }])
      await expect(agent.generate('Hi')).rejects.toMatchObject({
        code: 'run-failed',
        message: `The run failed with ${text}.`,
        cause: thrown,
        result: { stopReason: 'error', error: thrown },
      })
    },
  )

  it('says nothing about a failure that nobody looks at, and everything to who does', async () => {
    const unhandled = vi.fn<(reason: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    const { agent } = agentOf([{ error: new Error('no such model') }, { error: new Error('again') }])
    const quiet = agent.stream('Hi')
    expect((await collect(quiet.fullStream)).map(chunk => chunk.type)).toEqual([
      'start',
      'step-start',
      'error',
      'finish',
    ])
    const stream = agent.stream('Hi')
    await expect(stream.text).rejects.toThrow('again')
    await expect(stream.steps).rejects.toMatchObject({ result: { stopReason: 'error' } })
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('an abort', () => {
  it('rejects generate with the reason, wherever the run is', async () => {
    const controller = new AbortController()
    const { agent } = agentOf([{ toolCalls: [{ toolName: 'wait', input: {} }] }], {
      tools: {
        wait: tool({ inputSchema: z.object({}), execute: (_, { abortSignal }): Promise<string> => hang(abortSignal) }),
      },
    })
    const reason = new Error('changed my mind')
    const run = agent.generate('Hi', {
      abortSignal: controller.signal,
      onChunk: chunk => {
        if (chunk.type === 'tool-call') setImmediate(() => controller.abort(reason))
      },
    })
    await expect(run).rejects.toBe(reason)
  })

  it.each([
    'processInput',
    'processInputStep',
    'processOutputStep',
    'processToolResult',
    'processOutputResult',
  ] as const)('ends a hook that never returns: %s', async hook => {
    const controller = new AbortController()
    const forever = {
      id: 'slow',
      [hook]: () => (setImmediate(() => controller.abort(new Error('enough'))), new Promise(() => {})),
    } as Processor
    const { agent } = agentOf([{ toolCalls: [{ toolName: 'echo', input: {} }] }, 'done'], {
      tools: { echo: tool({ inputSchema: z.object({}), execute: () => 'echo' }) },
    })
    const arrays = hook.startsWith('processInput') ? { inputProcessors: [forever] } : { outputProcessors: [forever] }
    await expect(agent.generate('Hi', { abortSignal: controller.signal, ...arrays })).rejects.toThrow('enough')
  })

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    const counts = { added: 0, removed: 0 }
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args))
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (counts.removed++, remove(...args))
    await agentOf(['Hi']).agent.generate('Hi', { abortSignal: signal })
    expect(counts.added).toBe(counts.removed)
    expect(counts.added).toBeGreaterThan(0)
  })
})

describe('a guard that throws', () => {
  it('fails the run with its name, its hook and the cause', async () => {
    const cause = new Error('database down')
    const guard: Processor = {
      id: 'guard',
      processOutputStep() {
        throw cause
      },
    }
    const { agent } = agentOf(['Hi'], { outputProcessors: [guard] })
    const error: unknown = await agent.generate('Hi').catch((thrown: unknown) => thrown)
    expect(ProcessorError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ code: 'hook-failed', processorId: 'guard', hook: 'processOutputStep', cause })
  })

  it('is told the cure when it writes in place', async () => {
    const writer: Processor = {
      id: 'writer',
      processInput({ messages }) {
        ;(messages[0]!.content.parts as unknown as object[]).push({ type: 'text', text: 'sneaky' })
      },
    }
    const { agent } = agentOf(['Hi'], { inputProcessors: [writer] })
    await expect(agent.generate('Hi')).rejects.toMatchObject({
      code: 'frozen-write',
      message: expect.stringContaining('writer'),
    })
  })
})
