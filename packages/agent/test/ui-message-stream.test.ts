import { Agent, type Chunk, type Processor } from '@lockstep/agent'
import { finishPart, scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { toUIMessageStream, toUIMessageStreamResponse, type UIMessageStreamOptions } from '@lockstep/agent/ui'
import { createUIMessageStreamResponse, tool, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { chatOf, chunksOf, messageFrom, plainParts, textOf } from './ui-client.ts'

/** A chunk of a run that nobody made. */
const chunk = (type: string, payload: object = {}): Chunk =>
  ({ type, runId: 'run', from: 'AGENT', payload }) as unknown as Chunk

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
const start = chunk('start', { messageId: 'm1' })
const stepStart = (stepNumber: number) => chunk('step-start', { stepNumber, messageId: 'm1' })
const stepFinish = (stepNumber: number, finishReason = 'stop') =>
  chunk('step-finish', { stepNumber, finishReason, usage, warnings: [] })
const stepReset = (stepNumber: number) => chunk('step-reset', { stepNumber, reason: 'no' })
const finish = (stopReason = 'completed', finishReason = 'stop') =>
  chunk('finish', { stopReason, finishReason, totalUsage: usage })
const text = (id: string, said: string): Chunk[] => [
  chunk('text-start', { id }),
  chunk('text-delta', { id, text: said }),
  chunk('text-end', { id }),
]
const call = (toolCallId: string, input: unknown = {}, toolName = 'look') =>
  chunk('tool-call', { toolCallId, toolName, input })
const result = (toolCallId: string, output: unknown, toolName = 'look') =>
  chunk('tool-result', { toolCallId, toolName, input: {}, output })

async function* from(chunks: readonly Chunk[]): AsyncGenerator<Chunk, void, void> {
  yield* await Promise.resolve(chunks)
}

/** A promise, and the function that keeps it. */
function signalled(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(keep => (resolve = keep))
  return { promise, resolve: () => resolve() }
}

const told = (chunks: readonly Chunk[], options?: UIMessageStreamOptions) =>
  chunksOf(toUIMessageStream(from(chunks), options))
const seen = async (chunks: readonly Chunk[], options?: UIMessageStreamOptions, before?: UIMessage) =>
  messageFrom(await told(chunks, options), before)

const serverTools = { look: tool({ inputSchema: z.object({}), execute: () => 'seen' }) }
const withTools: UIMessageStreamOptions = { plan: () => ({ tools: serverTools }) }

const agentOf = (turns: readonly ScriptedTurn[], config: Partial<ConstructorParameters<typeof Agent>[0]> = {}) => {
  const model = scriptedModel(turns)
  return { model, agent: new Agent({ name: 'test', model, ...config }) }
}

describe('what a client is told', () => {
  it('is the message of the run, with its id, its steps and the reason why it finished', async () => {
    expect(await told([start, stepStart(0), ...text('t', 'Hi'), stepFinish(0), finish()], withTools)).toEqual([
      { type: 'start', messageId: 'm1' },
      { type: 'start-step' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hi' },
      { type: 'text-end', id: 't' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('has reasoning, files and metadata of the provider, and sources when they are asked for', async () => {
    const providerMetadata = { acme: { signature: 's' } }
    const chunks = [
      start,
      stepStart(0),
      chunk('reasoning-start', { id: 'r' }),
      chunk('reasoning-delta', { id: 'r', text: 'Hm' }),
      chunk('reasoning-end', { id: 'r', providerMetadata }),
      chunk('file', { mediaType: 'image/png', url: 'data:image/png;base64,AA==' }),
      chunk('source', { source: { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.test', title: 'A' } }),
      stepFinish(0),
      finish(),
    ]
    const parts = async (options: UIMessageStreamOptions) => (await seen(chunks, options)).parts
    expect(await parts({ sendSources: true })).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm', providerMetadata },
      { type: 'file', url: 'data:image/png;base64,AA==' },
      { type: 'source-url', sourceId: 's1', url: 'https://a.test', title: 'A' },
    ])
    expect((await parts({ sendReasoning: false })).map(part => part.type)).toEqual(['step-start', 'file'])
  })

  it('carries the metadata that the option makes, merged', async () => {
    const message = await seen([start, stepStart(0), ...text('t', 'Hi'), stepFinish(0), finish()], {
      messageMetadata: ({ type, payload }) =>
        type === 'start'
          ? { model: 'm' }
          : { tokens: (payload as { totalUsage: typeof usage }).totalUsage.totalTokens },
    })
    expect(message.metadata).toEqual({ model: 'm', tokens: 3 })
  })

  it('is whole when a processor dropped the start or the end of a text', async () => {
    const half = [chunk('text-delta', { id: 't', text: 'Hi' })]
    const message = await seen([start, stepStart(0), ...half, stepFinish(0), finish()])
    expect(message.parts).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'Hi', state: 'done' }])
  })

  it('shows a step that was steered, and the object that was asked for', async () => {
    const message = {
      id: 'u2',
      role: 'user',
      createdAt: '2026-01-01T00:00:00.000Z',
      content: { format: 2, parts: [{ type: 'text', text: 'Faster!' }] },
    }
    const chunks = [
      start,
      stepStart(0),
      ...text('a', 'One'),
      stepFinish(0),
      chunk('steering-message', { message, stepNumber: 1 }),
      stepStart(1),
      ...text('b', 'Two'),
      stepFinish(1),
      chunk('object', { object: { n: 2 } }),
      finish(),
    ]
    for (const options of [withTools, {}])
      expect(plainParts((await seen(chunks, options)).parts)).toMatchObject([
        { type: 'step-start' },
        { type: 'text', text: 'One' },
        { type: 'steering-message', parts: [{ type: 'text', text: 'Faster!' }] },
        { type: 'step-start' },
        { type: 'text', text: 'Two' },
        { type: 'data-object', data: { n: 2 } },
      ])
  })

  it('masks errors of the run, and says errors of tools as the model read them', async () => {
    const failed = chunk('tool-error', {
      toolCallId: 'c1',
      toolName: 'look',
      input: {},
      error: new RangeError('too far'),
    })
    const chunks = [start, stepStart(0), call('c1'), failed, stepFinish(0, 'tool-calls')]
    const end = [chunk('error', { error: new Error('password is 123') }), finish('error', 'error')]
    const plain = JSON.stringify(await told([...chunks, ...end]))
    expect(plain).toContain('RangeError: too far')
    expect(plain).toContain('An error occurred.')
    expect(plain).not.toContain('password')
    const redacted = await told([...chunks, ...end], { onError: () => 'Sorry.' })
    expect(JSON.stringify(redacted)).not.toContain('too far')
    expect(redacted.filter(one => 'errorText' in one && one.errorText === 'Sorry.')).toHaveLength(2)
    const mixed = await told([...chunks, ...end], { onError: () => 'Sorry.', redactToolErrors: false })
    expect(JSON.stringify(mixed)).toContain('too far')
  })

  it('has the reason of an abort when it was written for people', async () => {
    const abortOf = async (reason: unknown) =>
      (await told([start, chunk('abort', { reason }), finish('aborted', 'other')])).find(one => one.type === 'abort')
    expect(await abortOf('stopped by the user')).toEqual({ type: 'abort', reason: 'stopped by the user' })
    expect(await abortOf(new Error('at /srv/secret.ts:3'))).toEqual({ type: 'abort' })
  })
})

describe('what is taken back', () => {
  it('leaves nothing of an attempt, and no second boundary', async () => {
    const message = await seen([
      start,
      stepStart(0),
      ...text('a', 'SECRET'),
      call('c1'),
      stepReset(0),
      ...text('b', 'Fine.'),
      stepFinish(0),
      finish(),
    ])
    expect(plainParts(message.parts)).toEqual([{ type: 'step-start' }, { type: 'text', text: 'Fine.', state: 'done' }])
  })

  it.each([
    ['known', { plan: () => ({ tools: serverTools }) }],
    ['unknown', {}],
  ])('keeps the steps before, with their boundaries, when the plan is %s', async (_, options) => {
    const message = await seen(
      [
        start,
        stepStart(0),
        ...text('a', 'First.'),
        call('c1'),
        result('c1', 'seen'),
        stepFinish(0, 'tool-calls'),
        stepStart(1),
        ...text('b', 'SECRET'),
        stepReset(1),
        ...text('c', 'Second.'),
        stepFinish(1),
        finish(),
      ],
      options,
    )
    expect(plainParts(message.parts)).toMatchObject([
      { type: 'step-start' },
      { text: 'First.' },
      { type: 'tool-look', state: 'output-available', output: 'seen' },
      { type: 'step-start' },
      { text: 'Second.' },
    ])
  })

  it('is the last step when the end of the run asks for another try', async () => {
    const message = await seen([
      start,
      stepStart(0),
      ...text('a', 'First.'),
      stepFinish(0),
      stepStart(1),
      ...text('b', 'SECRET'),
      stepFinish(1),
      stepReset(1),
      stepStart(1),
      ...text('c', 'Second.'),
      stepFinish(1),
      finish(),
    ])
    expect(plainParts(message.parts)).toMatchObject([
      { type: 'step-start' },
      { text: 'First.' },
      { type: 'step-start' },
      { text: 'Second.' },
    ])
  })

  it('is the whole response, and nothing of it stays in useChat', async () => {
    const chunks = [
      start,
      stepStart(0),
      ...text('a', 'SECRET one'),
      call('c1'),
      result('c1', 'SECRET two'),
      stepFinish(0, 'tool-calls'),
      stepStart(1),
      ...text('b', 'SECRET three'),
      stepFinish(1),
      stepReset(0),
      chunk('tripwire', { reason: 'Not that.', processorId: 'guard', retry: false, metadata: { rule: 4 } }),
      finish('tripwire', 'other'),
    ]
    const plan = () => ({ outputProcessors: [{ id: 'guard', processOutputResult: () => {} }] })
    const chat = chatOf(() => toUIMessageStream(from(chunks), { plan }))
    await chat.sendMessage({ text: 'Hi' })
    expect(chat.messages).toHaveLength(2)
    expect(plainParts(chat.messages[1]!.parts)).toEqual(
      [{ type: 'data-tripwire', data: { reason: 'Not that.', processorId: 'guard', metadata: { rule: 4 } } }]
        .map(part => expect.objectContaining(part) as never)
        .flatMap(part => [{ type: 'step-start' }, part]),
    )
    expect(JSON.stringify(chat.messages)).not.toContain('SECRET')
  })

  it('is never the business of a page when the run is held: clients that cannot take back read it too', async () => {
    const guard: Processor = {
      id: 'guard',
      hold: 'run',
      processOutputStep: ({ text: said, abort }) => {
        if (said?.includes('SECRET')) abort('no', { retry: true })
      },
      processOutputResult: () => {},
    }
    const plan = { tools: serverTools, outputProcessors: [guard] }
    const turns = [{ text: 'SECRET' }, { toolCalls: [{ toolName: 'look', input: {} }] }, 'Fine.']
    const { agent } = agentOf(turns, { ...plan, maxProcessorRetries: 1 })
    const chunks = await chunksOf(toUIMessageStream(agent.stream('Go').fullStream, { plan: () => plan }))
    expect(chunks.filter(one => one.type === 'reset-step')).toEqual([])
    expect(JSON.stringify(chunks)).not.toContain('SECRET')
    expect(plainParts((await messageFrom(chunks)).parts)).toMatchObject([
      { type: 'step-start' },
      { type: 'tool-look', state: 'output-available' },
      { type: 'step-start' },
      { type: 'text', text: 'Fine.' },
    ])
  })

  it('brings back the value of a data part that a withdrawn attempt had replaced', async () => {
    const data = (value: string): Chunk => ({ type: 'data-progress', id: 'p', data: value })
    const message = await seen(
      [
        start,
        stepStart(0),
        data('half'),
        ...text('a', 'One'),
        stepFinish(0),
        stepStart(1),
        data('SECRET'),
        stepReset(1),
        ...text('b', 'Two'),
        stepFinish(1),
        finish(),
      ],
      withTools,
    )
    expect(message.parts.filter(part => part.type === 'data-progress')).toMatchObject([{ data: 'half' }])
  })

  it('shows transient data and keeps none of it', async () => {
    const note: Chunk = { type: 'data-note', data: 1, transient: true }
    const chunks = [
      start,
      stepStart(0),
      note,
      ...text('a', 'One'),
      stepReset(0),
      ...text('b', 'Two'),
      stepFinish(0),
      finish(),
    ]
    expect((await told(chunks)).filter(one => one.type === 'data-note')).toHaveLength(1)
    expect((await seen(chunks)).parts.map(part => part.type)).toEqual(['step-start', 'text'])
  })

  it('is a call that a processor dropped after its input had been shown', async () => {
    const dropped: Processor = {
      id: 'dropper',
      processOutputStream: ({ part }) => (part.type === 'tool-call' ? null : part),
    }
    const { agent } = agentOf(
      [
        {
          parts: [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Hi' },
            { type: 'text-end', id: 't' },
            { type: 'tool-input-start', id: 'c1', toolName: 'look' },
            { type: 'tool-input-delta', id: 'c1', delta: '{}' },
            { type: 'tool-input-end', id: 'c1' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{}' },
            finishPart('stop'),
          ],
        },
      ],
      { tools: serverTools, outputProcessors: [dropped] },
    )
    const chunks = await chunksOf(toUIMessageStream(agent.stream('Go').fullStream, withTools))
    expect(chunks.map(one => one.type)).toContain('tool-input-start')
    expect(plainParts((await messageFrom(chunks)).parts)).toMatchObject([{ type: 'step-start' }, { text: 'Hi' }])
  })
})

describe('a refusal', () => {
  const guard: Processor = {
    id: 'guard',
    processOutputStep: ({ text: said, abort }) => {
      if (said?.includes('SECRET')) abort('That is secret.', { metadata: { rule: 7 } })
    },
  }

  it('leaves a typed part, and the next turn knows nothing of what was refused', async () => {
    const { agent, model } = agentOf(['The SECRET is 42.', 'Hello again.'], { outputProcessors: [guard] })
    const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream))
    await chat.sendMessage({ text: 'Tell me.' })
    expect(chat.error).toBeUndefined()
    expect(chat.messages[1]!.parts.at(-1)).toMatchObject({
      type: 'data-tripwire',
      data: { reason: 'That is secret.', processorId: 'guard', metadata: { rule: 7 } },
    })
    await chat.sendMessage({ text: 'Hi?' })
    expect(textOf(chat.messages.at(-1)!)).toBe('Hello again.')
    expect(JSON.stringify(chat.messages)).not.toContain('SECRET')
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt)).not.toMatch(/SECRET|secret/)
    expect(model.doStreamCalls[1]!.prompt.map(message => message.role)).not.toContain('assistant')
  })

  it('of the input says so in a message without a step', async () => {
    const { agent } = agentOf([], { inputProcessors: [{ id: 'gate', processInput: ({ abort }) => abort('Closed.') }] })
    const message = await messageFrom(await chunksOf(toUIMessageStream(agent.stream('Hi').fullStream)))
    expect(message.parts).toMatchObject([{ type: 'data-tripwire', data: { reason: 'Closed.', processorId: 'gate' } }])
  })
})

describe("a client's own tools", () => {
  const ask = tool({ inputSchema: z.object({ question: z.string() }) })
  const turn: ScriptedTurn = { toolCalls: [{ toolName: 'ask', input: { question: 'Tea?' } }] }

  it('run once, when the response was accepted, and the run goes on with what they gave', async () => {
    const { agent, model } = agentOf(
      [turn, { text: 'Wait. ', toolCalls: [{ toolName: 'ask', input: { question: 'Tea?' } }] }, 'Tea it is.'],
      {
        tools: { ask },
        maxProcessorRetries: 1,
        outputProcessors: [
          {
            id: 'once',
            processToolCall: ({ retryCount, abort }) =>
              retryCount === 0 ? abort('Say wait.', { retry: true }) : undefined,
            processOutputResult: () => {},
          },
        ],
      },
    )
    const onToolCall = vi.fn()
    const chat = chatOf(
      messages => {
        const stream = agent.stream(messages, onToolCall.mock.calls.length > 0 ? { outputProcessors: [] } : {})
        return toUIMessageStream(stream.fullStream, { originalMessages: messages })
      },
      { onToolCall },
    )
    await chat.sendMessage({ text: 'What shall I drink?' })
    expect(onToolCall).toHaveBeenCalledTimes(1)
    expect(onToolCall.mock.calls[0]![0]).toMatchObject({ toolCall: { toolName: 'ask', input: { question: 'Tea?' } } })
    expect(chat.messages[1]!.parts.at(-1)).toMatchObject({ type: 'tool-ask', state: 'input-available' })
    const { toolCallId } = chat.messages[1]!.parts.at(-1) as { toolCallId: string }
    await chat.addToolOutput({ tool: 'ask', toolCallId, output: 'Yes.' } as never)
    await chat.sendMessage()
    expect(chat.error).toBeUndefined()
    expect(model.doStreamCalls.at(-1)!.prompt.at(-1)).toMatchObject({ role: 'tool' })
    expect(chat.messages.map(message => message.role)).toEqual(['user', 'assistant'])
    expect(textOf(chat.messages[1]!)).toBe('Wait. Tea it is.')
  })

  it.each([
    ['denied', { deny: 'Not now.' }, 'output-denied'],
    ['answered', { output: 'Coffee.' }, 'output-available'],
  ])('do not run when the call was %s', async (_, verdict, state) => {
    const { agent } = agentOf([turn, 'Well.'], {
      tools: { ask },
      outputProcessors: [{ id: 'gate', processToolCall: () => verdict }],
    })
    const onToolCall = vi.fn()
    const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream), { onToolCall })
    await chat.sendMessage({ text: 'Hi' })
    expect(chat.error).toBeUndefined()
    expect(onToolCall).not.toHaveBeenCalled()
    expect(chat.messages[1]!.parts[1]).toMatchObject({ type: 'tool-ask', state, input: { question: 'Tea?' } })
  })

  it('do not run when the run was refused, failed, or the model was cut off', async () => {
    const endings: Chunk[][] = [
      [stepReset(0), chunk('tripwire', { reason: 'no', processorId: 'p' }), finish('tripwire', 'other')],
      [chunk('error', { error: new Error('x') }), finish('error', 'error')],
      [stepFinish(0, 'length'), finish('completed', 'length')],
    ]
    for (const ending of endings) {
      const chunks = await told([start, stepStart(0), call('c1'), ...ending])
      expect(chunks.map(one => one.type)).not.toContain('tool-input-available')
    }
  })

  it('are told apart from those of the server, whose calls are available at once', async () => {
    const chunks = await told([start, stepStart(0), call('c1'), call('c2', {}, 'ask')], withTools)
    expect(chunks.map(one => [one.type, 'toolCallId' in one ? one.toolCallId : ''].join(' '))).toEqual([
      'start ',
      'start-step ',
      'tool-input-available c1',
      'tool-input-start c2',
      'tool-input-delta c2',
    ])
  })
})

describe('an input that is streamed', () => {
  const streamed = (toolName: string, pieces: readonly string[]): ScriptedTurn => ({
    parts: [
      { type: 'tool-input-start', id: 'c1', toolName },
      ...pieces.map(delta => ({ type: 'tool-input-delta' as const, id: 'c1', delta })),
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName, input: pieces.join('') },
      finishPart('tool-calls'),
    ],
  })
  const tools = { add: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 }) }

  it('grows, and is one part with its result', async () => {
    const { agent } = agentOf([streamed('add', ['{"n"', ':4', '1}']), 'Done.'], { tools })
    const chunks = await chunksOf(toUIMessageStream(agent.stream('Go').fullStream, { plan: () => ({ tools }) }))
    const pieces = chunks.flatMap(one => (one.type === 'tool-input-delta' ? [one.inputTextDelta] : []))
    expect(pieces).toEqual(['{"n"', ':4', '1}'])
    const { parts } = await messageFrom(chunks)
    expect(parts.filter(part => 'toolCallId' in part)).toMatchObject([
      { type: 'tool-add', state: 'output-available', input: { n: 41 }, output: 42 },
    ])
  })

  it.each([
    ['does not fit', 'add', '{"n":"x"}', 'tool-add'],
    ['is no JSON', 'add', '{"n":', 'tool-add'],
    ['is of an unknown tool', 'subtract', '{"n":1}', undefined],
  ])('is one part with its error when it %s', async (_, toolName, input, type) => {
    for (const options of [{ plan: () => ({ tools }) }, {}]) {
      const { agent } = agentOf([streamed(toolName, [input]), 'Sorry.'], { tools })
      const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream, options))
      await chat.sendMessage({ text: 'Go' })
      expect(chat.error).toBeUndefined()
      const calls = chat.messages[1]!.parts.filter(part => 'toolCallId' in part)
      expect(calls).toMatchObject([{ state: 'output-error', ...(type === undefined ? {} : { type }) }])
    }
  })
})

describe('a call that a person has to decide about', () => {
  const asked = (input: unknown) =>
    chunk('tool-approval-request', {
      approvalId: 'a1',
      toolCallId: 'c1',
      toolName: 'look',
      input,
      reason: 'It costs.',
      signature: 's1',
    })
  const decided = (approved: boolean, input: unknown = { n: 1 }) =>
    chunk('tool-approval-response', {
      approvalId: 'a1',
      toolCallId: 'c1',
      toolName: 'look',
      input,
      approved,
      ...(approved ? {} : { reason: 'Too dear.' }),
    })
  const suspended = [
    start,
    stepStart(0),
    ...text('a', 'Looking.'),
    stepFinish(0, 'tool-calls'),
    stepStart(1),
    ...text('b', 'May I?'),
    call('c1', { n: 1 }),
    call('c2', { n: 2 }),
    asked({ n: 1 }),
    result('c2', 'two'),
    finish('suspended', 'tool-calls'),
  ]

  it.each([
    ['known', withTools],
    ['unknown', {}],
  ])('is shown with its reason and signature, and the step is closed, when the plan is %s', async (_, options) => {
    const chunks = await told(suspended, options)
    expect(chunks.slice(-2).map(one => one.type)).toEqual(['finish-step', 'finish'])
    const message = await messageFrom(chunks)
    expect(plainParts(message.parts)).toMatchObject([
      { type: 'step-start' },
      { text: 'Looking.' },
      { type: 'step-start' },
      { text: 'May I?' },
      {
        type: 'tool-look',
        state: 'approval-requested',
        input: { n: 1 },
        approval: { id: 'a1', requestReason: 'It costs.', signature: 's1' },
      },
      { type: 'tool-look', state: 'output-available', output: 'two' },
    ])
  })

  it('shows the input as it would run, when a processor has changed it', async () => {
    const message = await seen(
      [start, stepStart(0), call('c1', { n: 1 }), asked({ n: 5 }), finish('suspended', 'tool-calls')],
      withTools,
    )
    expect(message.parts[1]).toMatchObject({ state: 'approval-requested', input: { n: 5 } })
  })

  it.each([
    ['granted', true, { n: 1 }, result('c1', 'one'), { state: 'output-available', output: 'one', input: { n: 1 } }],
    [
      'granted with another input',
      true,
      { n: 9 },
      result('c1', 'nine'),
      { state: 'output-available', input: { n: 9 } },
    ],
    [
      'denied',
      false,
      { n: 1 },
      chunk('tool-output-denied', { toolCallId: 'c1', toolName: 'look', input: { n: 1 }, reason: 'Too dear.' }),
      { state: 'output-denied', approval: { id: 'a1', approved: false, reason: 'Too dear.' } },
    ],
  ])('goes on in the same message when it was %s', async (_, approved, input, outcome, expected) => {
    const resumed = [
      start,
      decided(approved, input),
      outcome,
      stepFinish(1, 'tool-calls'),
      stepStart(2),
      ...text('z', 'SECRET'),
      stepReset(2),
      ...text('y', 'Done.'),
      stepFinish(2),
      finish(),
    ]
    const streams = [suspended, resumed]
    const chat = chatOf(() => toUIMessageStream(from(streams.shift()!)))
    await chat.sendMessage({ text: 'Go' })
    await chat.addToolApprovalResponse({ id: 'a1', approved })
    await chat.sendMessage()
    expect(chat.error).toBeUndefined()
    expect(chat.messages).toHaveLength(2)
    expect(chat.messages[1]!.id).toBe('m1')
    const parts = plainParts(chat.messages[1]!.parts)
    expect(parts.filter(part => part['toolCallId'] === 'c1')).toMatchObject([expected])
    expect(parts.filter(part => part.type === 'step-start')).toHaveLength(3)
    expect(textOf(chat.messages[1]!)).toBe('Looking.May I?Done.')
  })

  it('is taken back with its step when the run is refused after it went on', async () => {
    const refused = [
      start,
      decided(true),
      stepReset(1),
      chunk('tripwire', { reason: 'No.', processorId: 'guard' }),
      finish('tripwire', 'other'),
    ]
    const streams = [suspended, refused]
    const chat = chatOf(() => toUIMessageStream(from(streams.shift()!)))
    await chat.sendMessage({ text: 'Go' })
    await chat.addToolApprovalResponse({ id: 'a1', approved: true })
    await chat.sendMessage()
    expect(plainParts(chat.messages[1]!.parts)).toMatchObject([
      { type: 'step-start' },
      { text: 'Looking.' },
      { type: 'step-start' },
      { type: 'data-tripwire' },
    ])
  })
})

describe('the stream', () => {
  it('starts nothing before somebody reads', async () => {
    const { agent, model } = agentOf(['Hi'])
    const stream = toUIMessageStream(agent.stream('Hi').fullStream)
    await new Promise(resolve => setImmediate(resolve))
    expect(model.doStreamCalls).toHaveLength(0)
    await stream.cancel()
    expect(model.doStreamCalls).toHaveLength(0)
  })

  it('aborts the run when its reader leaves in the middle of a wait', async () => {
    const events: string[] = []
    const started = signalled()
    const stopped = signalled()
    const wait = tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) => {
        started.resolve()
        return new Promise<string>((_resolve, reject) =>
          abortSignal!.addEventListener('abort', () => {
            events.push('aborted')
            stopped.resolve()
            reject(abortSignal!.reason as Error)
          }),
        )
      },
    })
    const { agent } = agentOf([{ toolCalls: [{ toolName: 'wait', input: {} }] }], { tools: { wait } })
    const reader = toUIMessageStream(agent.stream('Hi').fullStream, { plan: () => ({ tools: { wait } }) }).getReader()
    const drained = (async () => {
      while (!(await reader.read()).done);
    })()
    await started.promise
    await reader.cancel()
    await stopped.promise
    await drained
    expect(events).toEqual(['aborted'])
  })

  it('comes from the run itself too, which knows its plan', async () => {
    const turn = { toolCalls: [{ toolName: 'look', input: {} }] }
    const { agent, model } = agentOf([turn, 'Seen.', turn, 'Seen.'], { tools: serverTools })
    const types = (await chunksOf(agent.stream('Look').toUIMessageStream())).map(one => one.type)
    expect(types.slice(0, 4)).toEqual(['start', 'start-step', 'tool-input-available', 'tool-output-available'])
    expect(types).not.toContain('reset-step')
    const response = agent.stream('Look').toUIMessageStreamResponse({ status: 201 })
    expect(response.status).toBe(201)
    const theirs = createUIMessageStreamResponse({ stream: new ReadableStream() })
    expect([...response.headers]).toEqual([...theirs.headers])
    expect(await response.text()).toContain('Seen.')
    await agent.stream('Look').toUIMessageStream().cancel()
    expect(model.doStreamCalls).toHaveLength(4)
  })

  it('is a response of server-sent events', async () => {
    const { agent } = agentOf(['Hi'])
    const response = toUIMessageStreamResponse(agent.stream('Hi').fullStream, {
      status: 201,
      headers: { 'x-thread': 't1' },
      messageMetadata: ({ type }) => ({ at: type }),
    })
    expect(response.status).toBe(201)
    expect(response.headers.get('x-thread')).toBe('t1')
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const events = (await response.text()).trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(events.slice(0, -1).map(event => (JSON.parse(event.slice(6)) as UIMessageChunk).type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
  })

  it('ends in an error for a client whose run failed', async () => {
    const { agent } = agentOf([{ error: new Error('password is 123') }])
    const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream))
    await chat.sendMessage({ text: 'Hi' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toBe('An error occurred.')
  })
})
