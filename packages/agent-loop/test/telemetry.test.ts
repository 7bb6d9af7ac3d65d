import { resumeLoop, Steering, type LoopResult } from '@lockstep/agent-loop'
import { finishPart, scriptedModel, streamOf } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { RequestContext, type Chunk, type Processor } from '@lockstep/processors'
import { registerTelemetry, tool, type Telemetry } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'
import { disorderIn, recording } from './recording.ts'

const echo = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n })
const tools = { echo }
const callEcho = { toolCalls: [{ toolName: 'echo', input: { n: 1 } }] }

const usual = [
  'onStart',
  'onStepStart',
  'onLanguageModelCallStart',
  'onLanguageModelCallEnd',
  'onToolExecutionStart',
  'onToolExecutionEnd',
  'onStepEnd',
  'onStepStart',
  'onLanguageModelCallStart',
  'onLanguageModelCallEnd',
  'onStepEnd',
  'onEnd',
]

/** A run with a recording integration. */
async function told(options: DrainOptions, telemetry: object = {}) {
  const recorder = recording()
  const drained = await drain({ ...options, telemetry: { integrations: recorder.integration, ...telemetry } })
  return { ...drained, ...recorder }
}

const refusing = (hook: string, options: object = {}): Processor =>
  ({
    id: 'guard',
    [hook]: ({ abort, retryCount }: { abort: (reason: string, options: object) => never; retryCount: number }) =>
      retryCount === 0 ? abort('no secrets', options) : undefined,
  }) as Processor

describe('a run', () => {
  it('is told as the AI SDK tells its own, with ids, models, inputs and outputs', async () => {
    const { names, of } = await told({ model: scriptedModel([callEcho, 'Done.']), tools }, { functionId: 'helper' })
    expect(names()).toEqual(usual)
    const { callId } = of('onStart')[0]!
    expect(of('onStart')).toMatchObject([
      { operationId: 'ai.streamText', provider: 'scripted', functionId: 'helper', messages: [{ role: 'user' }] },
    ])
    expect(of('onStepStart')).toMatchObject([
      { callId, stepNumber: 0, steps: [] },
      { callId, stepNumber: 1, steps: [{ stepNumber: 0 }], promptMessages: [{}, {}, { role: 'tool' }] },
    ])
    expect(of('onLanguageModelCallStart')).toMatchObject([{ callId, tools: [{ name: 'echo' }] }, { callId }])
    expect(of('onToolExecutionEnd')).toMatchObject([
      { callId, toolCall: { toolName: 'echo', input: { n: 1 } }, toolOutput: { type: 'tool-result', output: 1 } },
    ])
    expect(of('onStepEnd')).toMatchObject([
      { callId, stepNumber: 0, finishReason: 'tool-calls', toolResults: [{ output: 1 }] },
      { callId, stepNumber: 1, text: 'Done.', usage: { totalTokens: 15 } },
    ])
    expect(of('onEnd')).toMatchObject([
      { callId, text: 'Done.', finishReason: 'stop', usage: { totalTokens: 30 }, steps: [{}, {}], toolCalls: [{}] },
    ])
  })

  it('is told to be over before its terminal callback, which may flush', async () => {
    const recorder = recording()
    const seen: number[] = []
    const telemetry = { integrations: recorder.integration }
    await drain({
      model: scriptedModel(['Hi.']),
      telemetry,
      onFinish: () => void seen.push(recorder.of('onEnd').length),
    })
    expect(seen).toEqual([1])
  })

  it('is told to integrations that were registered, with no option set, and not when they are disabled', async () => {
    const recorder = recording()
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = []
    try {
      registerTelemetry(recorder.integration)
      await drain({ model: scriptedModel(['Hi.']), telemetry: { isEnabled: false } })
      expect(recorder.told).toEqual([])
      await drain({ model: scriptedModel(['Hi.']) })
      expect(recorder.names()).toHaveLength(6)
    } finally {
      globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined
    }
  })

  it('tells of the request and of tools what was let through, and its own id', async () => {
    const requestContext = new RequestContext({ tenant: 't1', token: 'secret' })
    const options = { model: scriptedModel([callEcho, 'Hi.']), tools, requestContext, runId: 'run-7' }
    const contexts = { toolsContext: { echo: { region: 'eu', key: 'secret' } } as never }
    const include = { includeRuntimeContext: { tenant: true }, includeToolsContext: { echo: { region: true } } }
    const { of, told: all } = await told({ ...options, ...contexts }, include)
    expect(of('onStart')[0]!.runtimeContext).toEqual({ tenant: 't1', runId: 'run-7' })
    expect(of('onToolExecutionStart')).toMatchObject([{ toolContext: { region: 'eu' } }])
    expect(JSON.stringify(all)).not.toContain('secret')
  })

  it.each([
    ['throws', () => { throw new Error('broken') }], // prettier-ignore
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['never begins the work', () => Promise.resolve('something else')],
  ])('is not touched by an integration that %s everywhere', async (_name, broken) => {
    const handler: ProxyHandler<Telemetry> = { get: () => broken }
    const integrations = [new Proxy({}, handler), recording().integration]
    const script = () => [callEcho, 'secret', 'Done.']
    const options = {
      tools,
      maxProcessorRetries: 1,
      outputProcessors: [refusing('processOutputStep', { retry: true })],
    }
    const alone = await drain({ model: scriptedModel(script()), ...options })
    const watched = await drain({ model: scriptedModel(script()), ...options, telemetry: { integrations } })
    expect(watched.chunks).toEqual(alone.chunks)
    expect(watched.result.text).toBe(alone.result.text)
  })

  it('runs tool and model call once, whatever an integration makes of them', async () => {
    const twice: Telemetry = {
      executeTool: async ({ execute }) => (await execute(), execute()),
      executeLanguageModelCall: async ({ execute }) => (await execute(), execute()),
    }
    const execute = vi.fn(() => 1)
    const model = scriptedModel([callEcho, 'Done.'])
    const { result } = await drain({ model, tools: { echo: { ...echo, execute } }, telemetry: { integrations: twice } })
    expect([execute.mock.calls.length, model.doStreamCalls.length, result.text]).toEqual([1, 2, 'Done.'])
  })
})

describe('what ends a run otherwise', () => {
  it('an error: its call, its step and the run end with it', async () => {
    const error = new Error('down')
    const { names, of } = await told({ model: scriptedModel([{ error }]) })
    expect(names()).toEqual([...usual.slice(0, 4), 'onStepError', 'onError'])
    expect(of('onLanguageModelCallEnd')).toMatchObject([{ finishReason: 'error', content: [] }])
    expect(of('onStepError')[0]!['error']).toBe(error)
    expect(of('onError')[0]!['error']).toBe(error)
  })

  it('an abort: the call and the step say nothing, and the reason is told', async () => {
    const abort = new AbortController()
    const model = scriptedModel([() => (abort.abort(new Error('gone')), 'never')])
    const { names, of } = await told({ model, abortSignal: abort.signal })
    expect(names()).toEqual([...usual.slice(0, 4), 'onStepEnd', 'onAbort'])
    expect(of('onStepEnd')).toMatchObject([{ finishReason: 'other', text: '' }])
    expect(of('onAbort')).toMatchObject([{ reason: new Error('gone'), steps: [] }])
  })

  it('an abort in a tool: the tool ends as an error', async () => {
    const abort = new AbortController()
    const hang = tool({ inputSchema: z.object({}), execute: () => (abort.abort(), new Promise(() => {})) })
    const script = [{ toolCalls: [{ toolName: 'hang', input: {} }] }]
    const { told: all, of } = await told({ model: scriptedModel(script), tools: { hang }, abortSignal: abort.signal })
    expect(of('onToolExecutionEnd')).toMatchObject([{ toolOutput: { type: 'tool-error' } }])
    expect(disorderIn(all)).toEqual([])
  })

  it.each(['processInput', 'processInputStep', 'processLLMRequest', 'processOutputStep', 'processOutputResult'])(
    'a refusal in %s: a step that said nothing, and an end with the reason',
    async hook => {
      const array = hook.startsWith('processOutput') ? 'outputProcessors' : 'inputProcessors'
      const model = scriptedModel(['My own words.'])
      const recorded = await told({ model, [array]: [refusing(hook)] })
      expect(recorded.result.stopReason).toBe('tripwire')
      expect(recorded.names().slice(-2)).toEqual(['onStepEnd', 'onEnd'])
      expect(recorded.of('onStepEnd').at(-1)).toMatchObject({
        text: '',
        content: [],
        finishReason: 'error',
        providerMetadata: { lockstep: { outcome: 'withdrawn', reason: 'no secrets' } },
      })
      const lockstep = { runId: 'id-2', stopReason: 'tripwire', reason: 'no secrets' }
      expect(recorded.of('onEnd').at(-1)).toMatchObject({
        text: '',
        finishReason: 'other',
        providerMetadata: { lockstep },
      })
      expect(recorded.processors()).toEqual([`guard.${hook}: tripwire`])
      expect(disorderIn(recorded.told)).toEqual([])
    },
  )

  it('a person who is waited for: the step ends with its calls, and the resumed run tells under the same run id', async () => {
    const ask = { inputSchema: z.object({}), needsApproval: true, execute: () => 'ran' }
    const both = { echo, ask: tool(ask) }
    const script = [{ toolCalls: [{ toolName: 'ask', input: {} }, ...callEcho.toolCalls] }]
    const first = await told({ model: scriptedModel(script), tools: both })
    expect(first.names()).toEqual([...usual.slice(0, 7), 'onEnd'])
    expect(first.of('onStepEnd')).toMatchObject([
      { finishReason: 'tool-calls', toolCalls: [{ toolName: 'ask' }, {}], toolResults: [{ output: 1 }] },
    ])
    expect(first.of('onEnd')).toMatchObject([
      { finishReason: 'tool-calls', toolCalls: [{}, {}], finalStep: { toolCalls: [{}, {}] } },
    ])

    const second = recording()
    const decisions = first.result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true }))
    const loop = resumeLoop(
      { state: first.result.loopState!, decisions },
      { model: scriptedModel(['Done.']), tools: both, telemetry: { integrations: second.integration } },
    )
    for await (const _ of loop);
    expect(second.names()).toEqual([
      'onStart',
      'onStepStart',
      'onToolExecutionStart',
      'onToolExecutionEnd',
      ...usual.slice(6),
    ])
    expect(second.of('onStepStart').map(({ stepNumber }) => stepNumber)).toEqual([0, 1])
    expect(second.of('onEnd')).toMatchObject([{ text: 'Done.', usage: { totalTokens: 15 } }])
    expect(second.of('onStart')[0]!.runtimeContext).toEqual(first.of('onStart')[0]!.runtimeContext)
    expect(second.of('onStart')[0]!.callId).not.toBe(first.of('onStart')[0]!.callId)
  })
})

describe('an attempt', () => {
  it('that is withdrawn ends its call without what it said, with its usage and why', async () => {
    const outputProcessors = [refusing('processOutputStep', { retry: true })]
    const recorded = await told({
      model: scriptedModel(['My own words.', 'Fine.']),
      outputProcessors,
      maxProcessorRetries: 1,
    })
    expect(recorded.of('onStepStart')).toHaveLength(1)
    expect(recorded.of('onLanguageModelCallEnd')).toMatchObject([
      {
        finishReason: 'error',
        content: [],
        usage: { totalTokens: 15 },
        providerMetadata: { lockstep: { outcome: 'withdrawn' } },
      },
      { finishReason: 'stop', content: [{ type: 'text', text: 'Fine.' }] },
    ])
    expect(recorded.of('onEnd')).toMatchObject([{ usage: { totalTokens: 30 } }])
    expect(JSON.stringify(recorded.told)).not.toContain('My own words')
  })

  it('that failed ends its call before the next begins, and transport retries are one call', async () => {
    const errorProcessors: Processor[] = [{ id: 'again', processAPIError: () => ({ retry: true }) }]
    const recorded = await told({ model: scriptedModel([{ error: new Error('down') }, 'Hi.']), errorProcessors })
    expect(recorded.names()).toEqual([
      ...usual.slice(0, 4),
      'onLanguageModelCallStart',
      'onLanguageModelCallEnd',
      'onStepEnd',
      'onEnd',
    ])
    expect(recorded.of('onLanguageModelCallEnd')[0]).toMatchObject({
      providerMetadata: { lockstep: { outcome: 'failed', reason: 'Error: down' } },
    })
    expect(recorded.processors()).toEqual(['again.processAPIError: decided'])
  })

  it('whose answer a processor had is no model call', async () => {
    const chunks = [{ type: 'text-delta' as const, id: '1', delta: 'Cached.' }, finishPart('stop')]
    const inputProcessors: Processor[] = [{ id: 'cache', processLLMRequest: () => ({ response: { chunks } }) }]
    const recorded = await told({ model: scriptedModel([]), inputProcessors })
    expect(recorded.names()).toEqual(['onStart', 'onStepStart', 'onStepEnd', 'onEnd'])
    expect(recorded.of('onStepEnd')).toMatchObject([{ text: 'Cached.' }])
  })

  it('is told as the processors left it', async () => {
    const outputProcessors: Processor[] = [
      { id: 'redactor', processOutputStream: ({ part }) => (part.type === 'text-delta' ? redacted(part) : part) },
      { id: 'hider', processToolResult: () => ({ output: 'hidden' }) },
    ]
    const model = scriptedModel([{ text: ['my pass', 'word'], ...callEcho }, 'Done.'])
    const recorded = await told({ model, tools, outputProcessors })
    expect(recorded.of('onLanguageModelCallEnd')[0]).toMatchObject({
      content: [{ text: '****' }, { toolName: 'echo' }],
    })
    expect(recorded.of('onToolExecutionEnd')).toMatchObject([{ toolOutput: { output: 'hidden' } }])
    expect(JSON.stringify(recorded.told)).not.toMatch(/pass/)
    expect(recorded.processors()).toEqual([
      'redactor.processOutputStream: chunks',
      'hider.processToolResult: changed',
      'redactor.processOutputStream: chunks',
    ])
  })

  const redacted = (part: Chunk) =>
    ({ ...part, payload: { ...(part as { payload: object }).payload, text: '**' } }) as Chunk
})

describe('inputs and outputs', () => {
  it('are not told when they are not to be recorded, reasons of refusals included', async () => {
    const outputProcessors = [
      refusing('processOutputStep', { retry: true }),
      { id: 'hider', processToolResult: () => ({ output: 'secret out' }) },
    ]
    const script = [{ text: 'secret text', ...callEcho }, { error: new Error('secret error') }]
    const run = { model: scriptedModel(['secret one', ...script]), tools, outputProcessors, maxProcessorRetries: 1 }
    const messageList = new MessageList().add('secret in', 'input')
    const recorded = await told({ ...run, messageList }, { recordInputs: false, recordOutputs: false })
    expect(recorded.result.stopReason).toBe('error')
    expect(recorded.processors()).toEqual(['guard.processOutputStep: tripwire', 'hider.processToolResult: changed'])
    for (const { event } of recorded.told) {
      expect(JSON.stringify(event)).not.toContain('secret')
      expect(String((event['error'] as Error | undefined)?.message)).not.toContain('secret')
    }
  })
})

describe('a processor', () => {
  it('is told for each hook that did something, as an operation; a stream for the answer, and once more for what came after', async () => {
    const processors: Processor[] = [
      { id: 'idle', processInput: () => {}, processOutputStep: () => {}, processOutputStream: ({ part }) => part },
      { id: 'failing', onError: 'skip', processOutputStream: () => { throw new Error('oops') } }, // prettier-ignore
      {
        id: 'editor',
        processOutputResult: ({ messages, messageList }) =>
          messageList.update(messages[0]!.id, draft => void (draft.content.metadata = {})),
      },
    ]
    const recorded = await told({
      model: scriptedModel([{ text: ['a', 'b'] }]),
      inputProcessors: [processors[0]!],
      outputProcessors: processors,
    })
    expect(recorded.processors()).toEqual([
      'failing.processOutputStream: skipped',
      'failing.processOutputStream: skipped',
      'editor.processOutputResult: changed',
    ])
    const operation = recorded.of('onStart').find(event => event.modelId === 'failing.processOutputStream')!
    expect(operation.runtimeContext).toEqual({
      runId: 'id-2',
      parentCallId: recorded.of('onStart')[0]!.callId,
      processorId: 'failing',
      hook: 'processOutputStream',
      effect: 'skipped',
    })
  })

  it('that was refused a steered message is told, after the step before has ended', async () => {
    const steering = new Steering()
    const rude: Processor = {
      id: 'manners',
      processInput: ({ messages, abort }) => void (JSON.stringify(messages).includes('rude') && abort('be nice')),
    }
    const speak = tool({ inputSchema: z.object({}), execute: () => void steering.steer('rude') })
    const script = [{ toolCalls: [{ toolName: 'speak', input: {} }] }]
    const recorded = await told({ model: scriptedModel(script), tools: { speak }, inputProcessors: [rude], steering })
    expect(recorded.result.stopReason).toBe('tripwire')
    expect(recorded.of('onStepEnd')).toMatchObject([
      { stepNumber: 0, finishReason: 'tool-calls' },
      { stepNumber: 1, finishReason: 'error' },
    ])
    expect(disorderIn(recorded.told)).toEqual([])
  })

  it('that calls a model of its own is told as an operation, also before the first step, and when that call fails', async () => {
    const judge = scriptedModel(['ok', 'fine', { error: new Error('judge down') }], { modelId: 'judge' })
    const ask = async ({ callModel }: { callModel: (request: never) => Promise<unknown> }) =>
      void (await callModel({ model: judge, prompt: 'Good?' } as never))
    const processor = {
      id: 'judge',
      processInput: ask,
      processOutputStep: ask,
      processOutputResult: ask,
    } as unknown as Processor
    const recorded = await told({
      model: scriptedModel(['Hi.']),
      inputProcessors: [processor],
      outputProcessors: [processor],
    })
    expect(recorded.result.stopReason).toBe('error')
    const calls = recorded.of('onStart').filter(event => event.modelId === 'judge')
    expect(calls).toMatchObject(
      Array.from({ length: 3 }, () => ({ functionId: 'judge', runtimeContext: { processorId: 'judge' } })),
    )
    expect(recorded.of('onStepStart').filter(({ modelId }) => modelId === 'scripted')).toHaveLength(1)
    expect(recorded.of('onEnd').map(event => event['text'])).toEqual(['ok', 'fine'])
    expect(recorded.result.totalUsage.totalTokens).toBe(45)
    expect(disorderIn(recorded.told)).toEqual([])
  })
})

describe('nobody listening', () => {
  afterEach(() => void Reflect.deleteProperty(globalThis, 'AI_SDK_TELEMETRY_INTEGRATIONS'))

  it.each([0, 5])('costs one look in a run of %i tools and 500 chunks, and nothing is built', async toolCount => {
    let looks = 0
    Object.defineProperty(globalThis, 'AI_SDK_TELEMETRY_INTEGRATIONS', { configurable: true, get: () => void looks++ })
    const requestContext = new RequestContext()
    const toJSON = vi.spyOn(requestContext, 'toJSON')
    const model = scriptedModel([
      ...Array.from({ length: toolCount }, () => callEcho),
      { text: Array.from({ length: 500 }, () => 'word ') },
    ])
    const outputProcessors = [{ id: 'p', processToolResult: () => ({ output: 1 }) }]
    const { result } = await drain({ model, tools, requestContext, outputProcessors })
    expect(result.stopReason).toBe('completed')
    expect([looks, toJSON.mock.calls.length]).toEqual([1, 0])
  })
})

describe('the diagnostics channel of the AI SDK', () => {
  it('has the run, its steps, its model calls and its tools, also without integrations', async () => {
    const channel = tracingChannel('ai:telemetry')
    const began: string[] = []
    const ended: string[] = []
    const start = (message: unknown) => void began.push((message as { type: string }).type)
    const asyncEnd = (message: unknown) => void ended.push((message as { type: string }).type)
    subscribe('tracing:ai:telemetry:start', start)
    subscribe('tracing:ai:telemetry:asyncEnd', asyncEnd)
    try {
      await drain({ model: scriptedModel([callEcho, 'Done.']), tools })
      await vi.waitFor(() => expect(ended).toHaveLength(6))
    } finally {
      unsubscribe('tracing:ai:telemetry:start', start)
      unsubscribe('tracing:ai:telemetry:asyncEnd', asyncEnd)
    }
    expect(began).toEqual(['streamText', 'step', 'languageModelCall', 'executeTool', 'step', 'languageModelCall'])
    expect(ended.toSorted()).toEqual(began.toSorted())
    expect(channel.hasSubscribers).toBe(false)
  })
})

describe('a stream that breaks', () => {
  it('after its usage was reported: the call that was withdrawn is billed', async () => {
    const parts = [finishPart('stop'), { type: 'error' as const, error: new Error('late') }]
    const model = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream: streamOf(parts) }) })
    const recorded = await told({ model })
    expect((recorded.result as LoopResult).stopReason).toBe('error')
    expect(recorded.of('onLanguageModelCallEnd')).toMatchObject([{ usage: { totalTokens: 15 }, finishReason: 'error' }])
  })
})
