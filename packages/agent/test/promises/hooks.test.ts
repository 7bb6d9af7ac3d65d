// When each hook runs, what it is given, and what its answer means: in generate and in stream.
import { MessageList } from '@lockstep/message-list'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import { hookNames, type Processor, type ProcessorContext } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { agentOf, bothPaths, callLook, hooked, promptOf, textsOf } from './both-paths.ts'

type Seen = Record<string, Record<string, unknown>[]>

/** A processor with every hook, which keeps what each was given. */
function watcher(seen: Seen, order: string[]): Processor {
  const watch = (hook: string) => (args: Record<string, unknown>) => {
    ;(seen[hook] ??= []).push(args)
    if (order.at(-1) !== hook) order.push(hook)
    return hook === 'processOutputStream' ? args['part'] : hook === 'processAPIError' ? { retry: true } : undefined
  }
  return { id: 'watcher', ...Object.fromEntries(hookNames.map(hook => [hook, watch(hook)])) }
}

const failingFirst: readonly ScriptedTurn[] = [{ error: new Error('bad request') }, callLook, 'done']

describe.each(bothPaths)('the hooks of a run, by $path', ({ run }) => {
  const watched = async () => {
    const [seen, order]: [Seen, string[]] = [{}, []]
    const processor = watcher(seen, order)
    const arrays = { inputProcessors: [processor], outputProcessors: [processor], errorProcessors: [processor] }
    const { agent } = agentOf(failingFirst, { instructions: 'Be brief.', ...arrays })
    const { result } = await run(agent)
    return { seen, order, result }
  }

  it('come in order: once at the start, then step by step, once at the end', async () => {
    const { order, seen } = await watched()
    expect(order).toEqual([
      'processInput',
      'processInputStep',
      'processLLMRequest',
      'processAPIError',
      'processLLMRequest',
      'processOutputStream',
      'flush',
      'processLLMResponse',
      'processOutputStep',
      'processToolCall',
      'processToolResult',
      'processOutputStream',
      'processStepEnd',
      'processInputStep',
      'processLLMRequest',
      'processOutputStream',
      'flush',
      'processOutputStream',
      'flush',
      'processLLMResponse',
      'processOutputStep',
      'processOutputStream',
      'processStepEnd',
      'processOutputResult',
      'processOutputStream',
      'processRunEnd',
    ])
    for (const hook of ['processInput', 'processOutputResult', 'processRunEnd']) expect(seen[hook]).toHaveLength(1)
  })

  it('all have the whole context', async () => {
    const { seen } = await watched()
    const context: (keyof ProcessorContext)[] = [
      'messages',
      'messageList',
      'systemMessages',
      'stepNumber',
      'steps',
      'state',
      'retryCount',
      'totalUsage',
      'abort',
      'abortSignal',
      'requestContext',
      'writer',
      'tracingContext',
      'callModel',
    ]
    for (const hook of hookNames)
      for (const args of seen[hook]!)
        for (const key of context) expect([hook, key, args[key] !== undefined]).toEqual([hook, key, true])
  })

  it('share one state, and no state with another run', async () => {
    const states = (await watched()).seen
    const all = hookNames.flatMap(hook => states[hook]!.map(args => args['state']))
    expect(new Set(all).size).toBe(1)
    expect((await watched()).seen['processInput']![0]!['state']).not.toBe(all[0])
  })

  it('never have system messages among the messages', async () => {
    const { seen } = await watched()
    for (const args of Object.values(seen).flat()) {
      expect((args['messages'] as { role: string }[]).map(({ role }) => role)).not.toContain('system')
      expect(args['systemMessages']).toEqual([{ role: 'system', content: 'Be brief.' }])
    }
  })

  it('have the messages of their stage', async () => {
    const stages: string[] = []
    const note = (hook: string) => (args: Pick<ProcessorContext, 'messages'>) =>
      void stages.push(`${hook}: ${args.messages.map(({ role }) => role).join(' ')}`)
    const { agent } = agentOf([{ error: new Error('x') }, callLook, 'done'], {
      inputProcessors: [hooked('in', { processInput: note('input'), processInputStep: note('input step') })],
      outputProcessors: [
        hooked('out', {
          processOutputStream: args => {
            if (args.part.type === 'text-delta') note('stream')(args)
            return args.part
          },
          processOutputStep: note('output step'),
          processToolCall: note('tool call'),
          processToolResult: note('tool result'),
          processStepEnd: note('step end'),
          processOutputResult: note('output result'),
          processRunEnd: note('run end'),
        }),
      ],
      errorProcessors: [hooked('err', { processAPIError: args => (note('API error')(args), { retry: true }) })],
    })
    await run(agent)
    expect(stages).toEqual([
      'input: user',
      'input step: user',
      'API error: user',
      'output step: user assistant',
      'tool call: user assistant',
      'tool result: user assistant',
      'step end: user assistant',
      'input step: user assistant',
      'stream: user assistant',
      'output step: user assistant',
      'step end: user assistant',
      'output result: assistant',
      'run end: user assistant',
    ])
  })

  it('see in processOutputStep the answer of this step, and this step among the steps', async () => {
    const { seen, result } = await watched()
    expect(seen['processOutputStep']).toMatchObject([
      {
        stepNumber: 0,
        finishReason: 'tool-calls',
        text: '',
        toolCalls: [{ toolCallId: 'call-1', toolName: 'look', input: {} }],
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        steps: [{ stepNumber: 0 }],
      },
      {
        stepNumber: 1,
        finishReason: 'stop',
        text: 'done',
        toolCalls: [],
        steps: [{ stepNumber: 0 }, { stepNumber: 1 }],
      },
    ])
    expect(result.steps).toHaveLength(2)
  })

  it('see in processOutputResult the accumulated text, the usage, the reason and all steps', async () => {
    const { agent } = agentOf([{ text: 'Let me look. ', ...callLook }, 'Blue.'])
    let result: unknown
    await run(agent, 'Hello', {
      outputProcessors: [hooked('p', { processOutputResult: args => void (result = args.result) })],
    })
    expect(result).toMatchObject({
      text: 'Let me look. Blue.',
      usage: { totalTokens: 30 },
      finishReason: 'stop',
      steps: [
        { text: 'Let me look. ', toolCalls: [{ toolName: 'look' }], toolResults: [{ output: 'saw it' }] },
        { text: 'Blue.' },
      ],
    })
  })

  it('see in processAPIError the raw error, the step and the retries so far', async () => {
    const error = new Error('bad request')
    const seen: unknown[] = []
    const { agent } = agentOf([{ error }, { error }, 'fine'])
    await run(agent, 'Hello', {
      errorProcessors: [
        hooked('p', {
          processAPIError: args => {
            seen.push([
              args.error === error,
              args.stepNumber,
              args.steps.length,
              args.retryCount,
              textsOf(args.messages),
            ])
            return { retry: true }
          },
        }),
      ],
    })
    expect(seen).toEqual([
      [true, 0, 0, 0, ['Hello']],
      [true, 0, 0, 1, ['Hello']],
    ])
  })
})

describe.each(bothPaths)('what hooks write, by $path', ({ run }) => {
  it('is in the conversation for the processors after, for the model and for the result', async () => {
    const editing = hooked('editing', {
      processInput: ({ messages, messageList }) =>
        void messageList.update(
          messages[0]!.id,
          draft => void (draft.content.parts = [{ type: 'text', text: 'edited' }]),
        ),
      processOutputStep: ({ messages, messageList }) => {
        messageList.update(messages.at(-1)!.id, draft => {
          for (const part of draft.content.parts) if (part.type === 'text') part.text = part.text.toUpperCase()
        })
        return messageList
      },
    })
    const seen: unknown[] = []
    const reading = hooked('reading', {
      processInput: ({ messages }) => void seen.push(textsOf(messages)),
      processOutputStep: ({ messages, text }) => void seen.push(textsOf(messages), text),
    })
    const { agent, model } = agentOf(['quiet'], {
      inputProcessors: [editing, reading],
      outputProcessors: [editing, reading],
    })
    const { result } = await run(agent)
    expect(seen).toEqual([['edited'], ['edited', 'QUIET'], 'QUIET'])
    expect(promptOf(model, 0)).toEqual(['user: edited'])
    expect([result.text, textsOf(result.messages), result.steps[0]!.text]).toEqual(['QUIET', ['QUIET'], 'QUIET'])
  })

  it('is what would be stored, by the list or by a returned array alike', async () => {
    const byList = hooked('p', {
      processOutputResult: ({ messages, messageList }) =>
        void messageList.update(
          messages[0]!.id,
          draft => void (draft.content.parts = [{ type: 'text', text: 'redacted' }]),
        ),
    })
    const byArray = hooked('p', {
      processOutputResult: ({ messages }) => [
        { ...messages[0]!, content: { ...messages[0]!.content, parts: [{ type: 'text' as const, text: 'redacted' }] } },
      ],
    })
    for (const processor of [byList, byArray]) {
      const { agent } = agentOf(['secret'])
      const { result } = await run(agent, 'Hello', { outputProcessors: [processor] })
      expect(textsOf(result.messageList.getMessages())).toEqual(['Hello', 'redacted'])
      expect(JSON.stringify([result.messageList.toJSON(), result.messages])).not.toContain('secret')
    }
  })

  it('can reach messages of another stage through the list', async () => {
    let asked: readonly string[] = []
    const { agent } = agentOf(['Blue.'])
    await run(agent, 'Which colour?', {
      outputProcessors: [
        hooked('p', { processOutputResult: ({ messageList }) => void (asked = textsOf(messageList.get.input.db())) }),
      ],
    })
    expect(asked).toEqual(['Which colour?'])
  })

  it('cannot be another list', async () => {
    for (const hook of ['processInput', 'processInputStep'] as const) {
      const { agent } = agentOf(['never'], { inputProcessors: [hooked('p', { [hook]: () => new MessageList() })] })
      await expect(run(agent)).rejects.toMatchObject({ code: 'external-message-list', processorId: 'p', hook })
    }
  })

  it('by a V1 model is refused by name', async () => {
    const old = { specificationVersion: 'v1', provider: 'old', modelId: 'davinci' } as never
    const { agent } = agentOf(['never'])
    await expect(run(agent, 'Hello', { prepareStep: () => ({ model: old }) })).rejects.toMatchObject({
      code: 'unsupported-model',
      message: expect.stringMatching(
        /'prepare-step' returned a model .*'old\/davinci' has the specification version "v1"/s,
      ),
    })
  })
})

describe.each(bothPaths)('chunks, by $path', ({ run }) => {
  it('that are changed are what the client, the text and the conversation have', async () => {
    const upper = hooked('upper', {
      processOutputStream: ({ part }) =>
        part.type === 'text-delta'
          ? { ...part, payload: { ...part.payload, text: part.payload.text.toUpperCase() } }
          : part,
    } satisfies Partial<Processor>)
    const { agent } = agentOf([{ text: ['qui', 'et'] }], { outputProcessors: [upper] })
    const { result, chunks } = await run(agent)
    const shown = chunks.flatMap(chunk => (chunk.type === 'text-delta' ? [chunk.payload.text] : []))
    expect([shown, result.text, textsOf(result.messages)]).toEqual([['QUI', 'ET'], 'QUIET', ['QUIET']])
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
  ])('are dropped by %s one by one: the stream goes on', async (_, nothing) => {
    const seen: string[] = []
    const { agent } = agentOf([{ text: ['a', 'b', 'c'] }], {
      outputProcessors: [
        hooked('drop', {
          processOutputStream: ({ part }) => (part.type === 'text-delta' && part.payload.text === 'b' ? nothing : part),
        }),
        hooked('see', {
          processOutputStream: ({ part }) => (part.type === 'text-delta' && seen.push(part.payload.text), part),
        }),
      ],
    })
    const { result, chunks } = await run(agent)
    expect([result.text, seen, chunks.filter(chunk => chunk.type === 'text-delta').length]).toEqual([
      'ac',
      ['a', 'c'],
      2,
    ])
  })

  it('carry the run and its sender', async () => {
    const { agent } = agentOf([callLook, 'done'])
    const { result, chunks } = await run(agent, 'Hello', { runId: 'run-7' })
    expect(result.runId).toBe('run-7')
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ runId: 'run-7', from: 'AGENT', payload: expect.any(Object) })
  })

  it('may come from elsewhere than the model: a cached answer passes the same hooks', async () => {
    const recorded: unknown[] = []
    const cache = hooked('cache', {
      processLLMRequest: ({ state }) =>
        state['chunks'] === undefined ? undefined : { response: { chunks: state['chunks'] as never } },
      processLLMResponse: ({ chunks, state, fromCache }) => {
        state['chunks'] = chunks
        recorded.push(fromCache)
      },
    } satisfies Partial<Processor>)
    const { agent, model } = agentOf([{ text: 'cached', ...callLook }])
    const { result } = await run(agent, 'Hello', { inputProcessors: [cache], maxSteps: 2 })
    expect(model.doStreamCalls).toHaveLength(1)
    expect(recorded).toEqual([false, true])
    expect(result.steps.map(step => step.text)).toEqual(['cached', 'cached'])
  })
})

describe.each(bothPaths)('a tripwire, by $path', ({ run }) => {
  const refusing = (options?: { retry?: boolean; metadata?: unknown }) =>
    hooked('guard', { processOutputStep: ({ abort, retryCount }) => void (retryCount < 20 && abort('no', options)) })

  it('is one chunk of the documented shape, and the same in the result', async () => {
    const { agent } = agentOf(['blocked'], { outputProcessors: [refusing({ metadata: { category: 'pii' } })] })
    const { result, chunks } = await run(agent, 'Hello', { runId: 'run-1' })
    expect(chunks.filter(chunk => chunk.type === 'tripwire')).toEqual([
      {
        type: 'tripwire',
        runId: 'run-1',
        from: 'AGENT',
        payload: { reason: 'no', retry: false, metadata: { category: 'pii' }, processorId: 'guard' },
      },
    ])
    expect(result).toMatchObject({
      finishReason: 'other',
      stopReason: 'tripwire',
      tripwire: {
        reason: 'no',
        retry: false,
        metadata: { category: 'pii' },
        processorId: 'guard',
        hook: 'processOutputStep',
      },
    })
  })

  it('with retry ends the run where no retries are configured', async () => {
    const { agent, model } = agentOf(['a', 'b'], { outputProcessors: [refusing({ retry: true })] })
    const { result } = await run(agent)
    expect([result.stopReason, result.tripwire?.retry, model.doStreamCalls.length]).toEqual(['tripwire', true, 1])
  })

  it('with retry gets as many tries as maxProcessorRetries says, the reason told to the model', async () => {
    const { agent, model } = agentOf(['a', 'b', 'c'], {
      outputProcessors: [refusing({ retry: true })],
      maxProcessorRetries: 2,
    })
    const { result } = await run(agent)
    expect([result.stopReason, model.doStreamCalls.length]).toEqual(['tripwire', 3])
    expect(promptOf(model, 2)).toEqual(['system: Your previous answer was not accepted: no', 'user: Hello'])
  })

  it('with retry gets ten tries where error processors are configured and nothing is said', async () => {
    const { agent, model } = agentOf(
      Array.from({ length: 12 }, () => 'x'),
      {
        outputProcessors: [refusing({ retry: true })],
        errorProcessors: [hooked('err', { processAPIError: () => undefined })],
      },
    )
    const { result } = await run(agent)
    expect([result.stopReason, model.doStreamCalls.length]).toEqual(['tripwire', 11])
  })

  it('with retry counts up in every hook', async () => {
    const counts: string[] = []
    const see = (hook: string) => (args: { retryCount: number }) => void counts.push(`${hook} ${args.retryCount}`)
    const { agent } = agentOf(['a', 'b'], {
      inputProcessors: [hooked('in', { processInput: see('input'), processInputStep: see('inputStep') })],
      outputProcessors: [
        hooked('out', {
          processOutputStep: ({ abort, retryCount }) => {
            counts.push(`outputStep ${retryCount}`)
            if (retryCount === 0) abort('again', { retry: true })
          },
          processOutputResult: see('outputResult'),
        }),
      ],
      maxProcessorRetries: 1,
    })
    await run(agent)
    expect(counts).toEqual(['input 0', 'inputStep 0', 'outputStep 0', 'inputStep 1', 'outputStep 1', 'outputResult 1'])
  })

  it('in processOutputResult is a chunk too, and takes the whole response with it', async () => {
    const { agent } = agentOf([{ text: 'one', ...callLook }, 'two'], {
      outputProcessors: [hooked('last', { processOutputResult: ({ abort }) => abort('not this') })],
    })
    const { result, chunks } = await run(agent)
    expect(chunks.filter(chunk => chunk.type === 'tripwire')).toHaveLength(1)
    expect(result).toMatchObject({ text: '', steps: [], messages: [], finishReason: 'other' })
    expect(result.tripwire!.rejected).toMatchObject({ text: 'onetwo', toolCalls: [{ toolName: 'look' }] })
  })

  it('in processAPIError withdraws what had come, and gives another try when it asks for one', async () => {
    const half = {
      parts: [
        { type: 'text-delta', id: '1', delta: 'SECRET' },
        { type: 'error', error: new Error('cut off') },
      ],
    } as const
    const guard = (retry: boolean) =>
      hooked('guard', { processAPIError: ({ abort }) => abort('not on this provider', { retry }) })
    const refused = await run(agentOf([half]).agent, 'Hello', { errorProcessors: [guard(false)] })
    expect(refused.chunks.map(chunk => chunk.type).slice(-3)).toEqual(['step-reset', 'tripwire', 'finish'])
    expect(refused.result).toMatchObject({ text: '', messages: [], tripwire: { rejected: { text: 'SECRET' } } })
    const again = await run(agentOf([half, 'fine']).agent, 'Hello', { errorProcessors: [guard(true)] })
    expect([again.result.text, again.result.stopReason]).toEqual(['fine', 'completed'])
  })
})

describe.each(bothPaths)('the arrays of processors, by $path', ({ run }) => {
  it('are three: input before the model, output after it, error when it fails', async () => {
    const calls: string[] = []
    const { agent } = agentOf([{ error: new Error('x') }, 'done'], {
      inputProcessors: [hooked('in', { processInput: () => void calls.push('in') })],
      outputProcessors: [hooked('out', { processOutputStep: () => void calls.push('out') })],
      errorProcessors: [hooked('err', { processAPIError: () => (calls.push('err'), { retry: true }) })],
    })
    await run(agent)
    expect(calls).toEqual(['in', 'err', 'out'])
  })

  it.each(['inputProcessors', 'outputProcessors', 'errorProcessors'] as const)(
    'can each be a function of the request, and be replaced for a call: %s',
    async array => {
      const ran: string[] = []
      const named = (id: string): Processor => ({
        id,
        processRunEnd: () => void ran.push(id),
        processAPIError: () => undefined,
        processInput: () => undefined,
      })
      const { agent } = agentOf(['a', 'b'], { [array]: () => [named('made')] })
      await run(agent)
      await run(agent, 'Hello', { [array]: [named('call')] })
      expect(ran).toEqual(['made', 'call'])
    },
  )

  it('are checked before the model is called', async () => {
    const { agent, model } = agentOf(['never'], {
      outputProcessors: [
        hooked('same', { processOutputStep: () => {} }),
        hooked('same', { processOutputStep: () => {} }),
      ],
    })
    await expect(run(agent)).rejects.toMatchObject({ code: 'duplicate-id' })
    expect(model.doStreamCalls).toHaveLength(0)
  })

  it('may share a processor with another agent at the same time', async () => {
    const shared = hooked('shared', {
      async processOutputStream({ part, state }) {
        await Promise.resolve()
        if (part.type === 'text-delta')
          state['text'] = `${(state['text'] as string | undefined) ?? ''}${part.payload.text}`
        return part
      },
      processOutputResult: ({ messages, messageList, state }) =>
        void messageList.update(
          messages[0]!.id,
          draft => void (draft.content.metadata = { said: state['text'] as string }),
        ),
    } satisfies Partial<Processor>)
    const agents = ['one two', 'three four'].map(
      words => agentOf([{ text: words.split(/(?= )/) }], { outputProcessors: [shared] }).agent,
    )
    const runs = await Promise.all(agents.map(agent => run(agent)))
    expect(runs.map(({ result }) => result.messages[0]!.content.metadata)).toEqual([
      { said: 'one two' },
      { said: 'three four' },
    ])
  })
})
