import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LoopError } from '@lockstep/agent-loop'
import { scriptedModel, finishPart, streamOf } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { APICallError, tool } from 'ai'
import { MockLanguageModelV3, MockLanguageModelV4, MockProviderV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

const say = (text: string) => [{ type: 'text-delta' as const, id: '1', delta: text }, finishPart('stop')]

describe('a model', () => {
  it('of the V3 or V2 specification is taken as it is', async () => {
    const v3 = new MockLanguageModelV3({ doStream: () => Promise.resolve({ stream: streamOf(say('three')) as never }) })
    expect((await drain({ model: v3 })).result.text).toBe('three')
    const v2 = {
      specificationVersion: 'v2',
      provider: 'mock',
      modelId: 'two',
      supportedUrls: {},
      doStream: () =>
        Promise.resolve({
          stream: streamOf([
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'two' },
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
          ] as never) as never,
        }),
    }
    expect((await drain({ model: v2 as never })).result).toMatchObject({ text: 'two', usage: { totalTokens: 3 } })
  })

  it('of the V1 specification is refused by name', async () => {
    const v1 = { specificationVersion: 'v1', provider: 'old', modelId: 'gpt-3' }
    const message = 'The model \'old/gpt-3\' has the specification version "v1".'
    await expect(drain({ model: v1 as never })).rejects.toThrow(message)
    await expect(drain({ model: undefined as never })).rejects.toThrow(LoopError)
  })

  it('may be an id of the registered provider', async () => {
    const registered = new MockProviderV4({ languageModels: { 'house/small': scriptedModel(['by id']) } })
    const before = globalThis.AI_SDK_DEFAULT_PROVIDER
    globalThis.AI_SDK_DEFAULT_PROVIDER = registered
    try {
      expect((await drain({ model: 'house/small' as never })).result.text).toBe('by id')
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = before
    }
  })

  it('may be an OpenAI-compatible server, as data', async () => {
    const server = createServer((request, response) => {
      expect(request.headers.authorization).toBe('Bearer key')
      response.setHeader('content-type', 'text/event-stream')
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      response.end(`${chunk({ content: 'over http' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { result } = await drain({ model: { id: 'small', url: `http://127.0.0.1:${port}/v1`, apiKey: 'key' } })
    server.close()
    expect(result).toMatchObject({
      text: 'over http',
      steps: [{ model: { provider: 'openai-compatible', modelId: 'small' } }],
    })
  })
})

describe('what is thrown and is no error', () => {
  const itself: { again?: unknown } = {}
  itself.again = itself
  const thrown = [undefined, null, 'text', 12n, Symbol('sign'), itself, Object.create(null) as object]

  it.each(thrown.map(value => [value]))('by a provider is the error of the run: %o', async value => {
    const { result } = await drain({ model: scriptedModel([{ error: value }]) })
    expect([result.stopReason, result.error === value || result.error instanceof Error]).toEqual(['error', true])
    expect(String(result.trace)).toContain('failed')
  })

  it.each(thrown.map(value => [value]))('by a tool is read by the model: %o', async value => {
    const broken = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw value
      },
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'broken', input: {} }] }, 'I see.'])
    const { result } = await drain({ model, tools: { broken } })
    expect([result.text, result.steps[0]!.toolErrors.length]).toEqual(['I see.', 1])
  })
})

describe('the transport', () => {
  const refusal = (statusCode: number, responseHeaders: Record<string, string> = {}) =>
    new APICallError({
      message: `HTTP ${statusCode}`,
      url: 'http://x',
      requestBodyValues: {},
      statusCode,
      responseHeaders,
    })

  it('waits as Retry-After says and calls again, before any processor hears of it', async () => {
    const heard: unknown[] = []
    const listener: Processor = { id: 'listener', processAPIError: ({ error }) => void heard.push(error) }
    const model = scriptedModel([{ error: refusal(429, { 'retry-after-ms': '1' }) }, 'finally'])
    expect((await drain({ model, errorProcessors: [listener] })).result.text).toBe('finally')
    expect(heard).toEqual([])
  })

  it('gives up with the last error, unwrapped', async () => {
    const last = refusal(503, { 'retry-after-ms': '1' })
    const model = scriptedModel([{ error: refusal(503, { 'retry-after-ms': '1' }) }, { error: last }])
    const { result } = await drain({ model, modelSettings: { maxRetries: 1 } })
    expect(result.error).toBe(last)
  })

  it('does not repeat what cannot help', async () => {
    const model = scriptedModel([{ error: refusal(400) }, 'never'])
    const { result } = await drain({ model })
    expect([result.stopReason, model.doStreamCalls.length]).toEqual(['error', 1])
  })
})

describe('a detached call', () => {
  const judge: Processor = {
    id: 'judge',
    async processOutputStep({ text, callModel, abort, state }) {
      const verdict = await callModel({
        instructions: 'Answer yes or no.',
        prompt: `Is this polite? ${text}`,
        temperature: 0,
      })
      state['verdict'] = verdict.text
      if (verdict.text === 'no') abort('impolite')
    },
  }

  it('uses the model of the run, is booked to the processor, and never reaches the reader', async () => {
    const model = scriptedModel(['Good day.', { text: 'yes', usage: { input: 100, output: 1 } }])
    const { result, chunks } = await drain({ model, outputProcessors: [judge] })
    expect(result).toMatchObject({ text: 'Good day.', usage: { totalTokens: 15 }, totalUsage: { totalTokens: 116 } })
    expect(result.trace.usageByProcessor.get('judge')?.totalTokens).toBe(101)
    expect(JSON.stringify(chunks)).not.toContain('"yes"')
    expect(result.messageList.get.all.db()).toHaveLength(2)
    expect(model.doStreamCalls[1]).toMatchObject({
      temperature: 0,
      prompt: [{ role: 'system' }, { role: 'user', content: [{ text: 'Is this polite? Good day.' }] }],
    })
  })

  it('may name another model; when it fails, the guard fails closed', async () => {
    const other: Processor = {
      id: 'judge',
      processOutputStep: async ({ callModel }) =>
        void (await callModel({ model: scriptedModel([{ error: new Error('down') }]), prompt: 'x' })),
    }
    const { result } = await drain({ model: scriptedModel(['Hi']), outputProcessors: [other] })
    expect(result).toMatchObject({
      stopReason: 'error',
      text: '',
      error: { code: 'hook-failed', processorId: 'judge' },
    })
  })
})

describe('the signal of a detached call', () => {
  it('ends the call and leaves the run to the processor', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const silent = new MockLanguageModelV4({
      doStream: ({ abortSignal }) => {
        signals.push(abortSignal)
        return new Promise(() => {})
      },
    })
    const patience = new AbortController()
    const impatient: Processor = {
      id: 'impatient',
      async processOutputStep({ callModel }) {
        const call = callModel({ model: silent, prompt: 'Good?', abortSignal: patience.signal })
        patience.abort(new Error('too long'))
        await expect(call).rejects.toThrow('too long')
      },
    }
    const { result } = await drain({ model: scriptedModel(['Hi']), outputProcessors: [impatient] })
    expect([result.text, result.stopReason]).toEqual(['Hi', 'completed'])
    expect(signals.every(signal => signal?.aborted)).toBe(true)
  })
})

describe('an answer from elsewhere', () => {
  it('passes the chain like a fresh one, and the model is not called', async () => {
    const model = new MockLanguageModelV4()
    const seen: string[] = []
    const { result } = await drain({
      model,
      inputProcessors: [{ id: 'cache', processLLMRequest: () => ({ response: { chunks: say('cached') } }) }],
      outputProcessors: [
        {
          id: 'watch',
          processOutputStream: ({ part }) => (seen.push(part.type), part),
          processLLMResponse: ({ fromCache }) => void seen.push(`fromCache ${fromCache}`),
        },
      ],
    })
    expect(result.text).toBe('cached')
    expect(model.doStreamCalls).toHaveLength(0)
    expect(seen).toEqual(['text-start', 'text-delta', 'text-end', 'fromCache true', 'step-finish', 'finish'])
  })

  it('can be what processLLMResponse recorded', async () => {
    let recorded: Parameters<NonNullable<Processor['processLLMResponse']>>[0]['chunks'] = []
    const cache: Processor = {
      id: 'cache',
      processLLMRequest: () => (recorded.length > 0 ? { response: { chunks: recorded } } : undefined),
      processLLMResponse: ({ chunks }) => void (recorded = chunks),
    }
    const model = scriptedModel([{ text: 'once', reasoning: 'hm' }])
    const [first, second] = [
      await drain({ model, inputProcessors: [cache] }),
      await drain({ model, inputProcessors: [cache] }),
    ]
    expect(second.result).toMatchObject({ text: first.result.text, reasoningText: 'hm' })
    expect(model.doStreamCalls).toHaveLength(1)
  })
})
