import { finishPart, scriptedModel, type streamOf } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { hasToolCall, isStepCount, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, screenOf } from './drained.ts'

const add = tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
const callAdd = { toolCalls: [{ toolName: 'add', input: { a: 1, b: 2 } }] }

describe('a run', () => {
  it('answers with the text of the model', async () => {
    const { result, types } = await drain({ model: scriptedModel(['Hi there.']) })
    expect(result).toMatchObject({ text: 'Hi there.', stopReason: 'completed', finishReason: 'stop', error: undefined })
    expect(result.usage).toMatchObject({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })
    expect(types).toEqual(['start', 'step-start', 'text-start', 'text-delta', 'text-end', 'step-finish', 'finish'])
    expect(result.messages).toMatchObject([
      { role: 'assistant', content: { parts: [{ type: 'step-start' }, { type: 'text', text: 'Hi there.' }] } },
    ])
  })

  it('runs tools between two steps and shows the model what they gave', async () => {
    const model = scriptedModel([callAdd, 'It is 3.'])
    const { result, types } = await drain({ model, tools: { add } })
    expect(result.text).toBe('It is 3.')
    expect(result.steps.map(step => step.finishReason)).toEqual(['tool-calls', 'stop'])
    expect(result.toolResults).toMatchObject([{ toolName: 'add', input: { a: 1, b: 2 }, output: 3 }])
    expect(types).toContain('tool-result')
    expect(model.doStreamCalls[1]!.prompt).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call-1' }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call-1', output: { type: 'json', value: 3 } }] },
    ])
    expect(result.messages).toHaveLength(1)
  })

  it('withdraws a refused attempt, tells the model why, and prints as a tree', async () => {
    const guard: Processor = {
      id: 'guard',
      processOutputStep({ text, abort }) {
        if (!text.includes('please')) abort('say please', { retry: true })
      },
    }
    const model = scriptedModel(['Go away.', 'Go away, please.'])
    const { result, types, chunks } = await drain({ model, outputProcessors: [guard], maxProcessorRetries: 2 })
    expect(screenOf(chunks)).toBe('Go away, please.')
    expect(types.filter(type => type === 'step-reset' || type === 'step-start')).toEqual(['step-start', 'step-reset'])
    expect(model.doStreamCalls[1]!.prompt[0]).toEqual({
      role: 'system',
      content: 'Your previous answer was not accepted: say please',
    })
    expect([result.usage.totalTokens, result.totalUsage.totalTokens]).toEqual([15, 30])
    expect(String(result.trace)).toMatchInlineSnapshot(`
      "run: completed
      └─ step 0
         ├─ scripted retried: stop, 15 tokens
         │  └─ guard.processOutputStep: asked for a retry: "say please"
         └─ scripted accepted: stop, 15 tokens"
    `)
  })

  it('has the processors in its trace, by their names and what they say of themselves', async () => {
    const named: Processor = { id: 'n', name: 'Nosy', description: 'Reads along.', processRunEnd: () => {} }
    const { result } = await drain({
      model: scriptedModel(['Hi']),
      inputProcessors: [named],
      outputProcessors: [{ id: 'plain', processOutputStep: () => {} }, named],
    })
    expect(result.trace.processors).toEqual([
      { id: 'n', name: 'Nosy', description: 'Reads along.' },
      { id: 'plain', name: 'plain', description: undefined },
    ])
  })

  it('prints what was thrown and skipped, also when it has no text', async () => {
    const bare: Processor = { id: 'bare', onError: 'skip', processInput: () => Promise.reject(Object.create(null)) }
    const { result } = await drain({ model: scriptedModel(['ok']), inputProcessors: [bare] })
    expect(String(result.trace)).toContain('bare.processInput: failed and was skipped: {}')
  })

  it('ends with the error of a chunk callback that fails at the very last chunk', async () => {
    const seen: string[] = []
    const { result, types } = await drain({
      model: scriptedModel(['Hi']),
      onChunk({ type }) {
        seen.push(type)
        if (type === 'finish') throw new Error('screen is gone')
      },
    })
    expect(result).toMatchObject({ stopReason: 'error', error: { message: 'screen is gone' } })
    expect(types.slice(-2)).toEqual(['error', 'finish'])
    expect(seen.filter(type => type === 'finish')).toHaveLength(1)
  })

  it.each([
    ['the caller', { abortSignal: AbortSignal.abort(new Error('enough')) }, 'aborted', 'enough'],
    ['the time for the run', { timeout: 5 }, 'aborted', 'The run took longer than 5 ms.'],
    ['the time for the first chunk', { timeout: { firstChunkMs: 5 } }, 'error', "The model's first chunk took longer"],
  ])('does not wait for a provider that never begins, when %s says so', async (_, options, stopReason, message) => {
    const { result } = await drain({
      ...options,
      model: Object.assign(scriptedModel([]), { doStream: () => new Promise<never>(() => {}) }),
    })
    expect(result.stopReason).toBe(stopReason)
    expect(String(result.abortReason ?? result.error)).toContain(message)
  })

  it('ends what a provider begins after the run was aborted', async () => {
    const controller = new AbortController()
    const cancelled: unknown[] = []
    let begin = (_: object) => {}
    const started = new Promise<never>(resolve => (begin = resolve as never))
    const doStream = () => {
      queueMicrotask(() => controller.abort(new Error('enough')))
      return started
    }
    const model = Object.assign(scriptedModel([]), { doStream })
    const { result } = await drain({ model, abortSignal: controller.signal })
    begin({ stream: new ReadableStream({ cancel: reason => void cancelled.push(reason) }) })
    await started
    await Promise.resolve()
    expect(result.stopReason).toBe('aborted')
    expect(cancelled).toEqual([new Error('enough')])
  })

  it('counts the tokens of a call once, though the provider says twice that it is finished', async () => {
    const model = scriptedModel([{ parts: [finishPart('stop'), finishPart('stop')] }])
    const { result } = await drain({ model })
    expect([result.usage.totalTokens, result.totalUsage.totalTokens]).toEqual([15, 15])
  })

  it('leaves no rejection behind when what a provider begins late is no stream', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const controller = new AbortController()
    const doStream = () => {
      queueMicrotask(() => controller.abort(new Error('enough')))
      return new Promise<never>(resolve => setImmediate(() => resolve({} as never)))
    }
    const model = Object.assign(scriptedModel([]), { doStream })
    const { result } = await drain({ model, abortSignal: controller.signal })
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(result.stopReason).toBe('aborted')
    expect(unhandled).toEqual([])
  })

  it('ends after maxSteps and says so', async () => {
    const model = scriptedModel(Array.from({ length: 9 }, () => callAdd))
    const { result } = await drain({ model, tools: { add }, maxSteps: 2 })
    expect([result.stopReason, result.steps.length]).toEqual(['max-steps', 2])
    expect(result.warnings).toEqual([expect.stringContaining('after 2 steps (maxSteps)')])
  })

  it("ends when one of several of the AI SDK's stop conditions says so", async () => {
    const model = scriptedModel([callAdd, callAdd, callAdd, 'never'])
    const { result } = await drain({ model, tools: { add }, stopWhen: [isStepCount(3), hasToolCall('other')] as never })
    expect([result.stopReason, result.steps.length]).toEqual(['stop-condition', 3])
  })

  it('gives ids to the blocks of each step and attempt that no other has', async () => {
    const retryOnce: Processor = {
      id: 'once',
      processOutputStep: ({ abort, retryCount }) => void (retryCount === 0 && abort('again', { retry: true })),
    }
    const model = scriptedModel([{ text: 'a' }, { text: 'b', ...callAdd }, { text: 'c' }])
    const { chunks } = await drain({ model, tools: { add }, outputProcessors: [retryOnce], maxProcessorRetries: 1 })
    const ids = chunks.flatMap(chunk => (chunk.type === 'text-start' ? [chunk.payload.id] : []))
    expect(new Set(ids).size).toBe(3)
  })

  it('counts on when a step is made again because the response was refused', async () => {
    const retryOnce: Processor = {
      id: 'once',
      processOutputResult: ({ abort, retryCount }) => void (retryCount === 0 && abort('again', { retry: true })),
    }
    const model = scriptedModel(['a', 'b'])
    const { result, chunks } = await drain({ model, outputProcessors: [retryOnce], maxProcessorRetries: 1 })
    const ids = chunks.flatMap(chunk => (chunk.type === 'text-start' ? [chunk.payload.id] : []))
    expect(new Set(ids).size).toBe(2)
    expect(result.steps).toMatchObject([{ text: 'b', attemptCount: 2 }])
    expect(result.trace.steps[0]!.attempts.map(({ attemptNumber }) => attemptNumber)).toEqual([0, 1])
  })

  it('opens a new message when something was put after the response', async () => {
    const note: Processor = {
      id: 'note',
      processInputStep: ({ stepNumber, messageList }) => {
        if (stepNumber === 1) messageList.add({ role: 'user', content: 'Hurry.' }, 'context')
      },
    }
    const { result } = await drain({
      model: scriptedModel([callAdd, 'Done.']),
      tools: { add },
      inputProcessors: [note],
    })
    expect(result.messageList.get.all.db().map(message => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    expect(result.text).toBe('Done.')
  })
})

describe('tools', () => {
  it('run at once; results come as they finish and stand in the order of the calls', async () => {
    const order: string[] = []
    let release = () => {}
    const slow = new Promise<void>(resolve => (release = resolve))
    const tools = {
      slow: tool({ inputSchema: z.object({}), execute: () => slow.then(() => 'slow') }),
      fast: tool({ inputSchema: z.object({}), execute: () => (setImmediate(release), 'fast') }),
    }
    const model = scriptedModel([
      {
        toolCalls: [
          { toolName: 'slow', input: {} },
          { toolName: 'fast', input: {} },
        ],
      },
      'ok',
    ])
    const { result } = await drain({
      model,
      tools,
      onChunk: chunk => void (chunk.type === 'tool-result' && order.push(chunk.payload.toolName)),
    })
    expect(order).toEqual(['fast', 'slow'])
    expect(result.toolResults.map(({ toolName }) => toolName)).toEqual(['slow', 'fast'])
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [{ toolName: 'slow' }, { toolName: 'fast' }],
    })
  })

  it('run no more at a time than they may', async () => {
    let running = 0
    let most = 0
    const work = tool({
      inputSchema: z.object({}),
      execute: async () => {
        most = Math.max(most, ++running)
        await new Promise(resolve => setImmediate(resolve))
        running--
        return 'ok'
      },
    })
    const toolCalls = Array.from({ length: 7 }, () => ({ toolName: 'work', input: {} }))
    await drain({ model: scriptedModel([{ toolCalls }, 'ok']), tools: { work }, toolConcurrency: 2 })
    expect(most).toBe(2)
  })

  it.each([
    ['an unknown tool', { toolName: 'nope', input: {} }, /unavailable tool 'nope'/],
    ['input that does not fit', { toolName: 'add', input: { a: 'x' } }, /Invalid input for tool add/],
    ['input that is not JSON', { toolName: 'add', input: '{"a":' }, /Invalid input for tool add/],
  ])('give the model an error for %s, and the run goes on', async (_, toolCall, message) => {
    const model = scriptedModel([{ toolCalls: [toolCall] }, 'sorry'])
    const { result } = await drain({ model, tools: { add } })
    expect(result.text).toBe('sorry')
    expect(result.steps[0]!.toolErrors).toMatchObject([{ error: expect.stringMatching(message) }])
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ output: { type: 'error-text' } }],
    })
  })

  it('that throw tell the model what they threw', async () => {
    const broken = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new TypeError('no disk')
      },
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'broken', input: {} }] }, 'oh'])
    const { types } = await drain({ model, tools: { broken } })
    expect(types).toContain('tool-error')
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'TypeError: no disk' } }],
    })
  })

  it('that yield show what they have on the way', async () => {
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 1
        yield 2
        yield 3
      },
    })
    const { chunks, result } = await drain({
      model: scriptedModel([{ toolCalls: [{ toolName: 'count', input: {} }] }, 'ok']),
      tools: { count },
    })
    const outputs = chunks.flatMap(chunk =>
      chunk.type === 'tool-result' ? [[chunk.payload.output, chunk.payload.preliminary ?? false]] : [],
    )
    expect(outputs).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ])
    expect(result.toolResults).toMatchObject([{ output: 3 }])
  })

  it('are not run when they are not active, and when a processor dropped the call', async () => {
    let runs = 0
    const touch = tool({ inputSchema: z.object({}), execute: () => ++runs })
    const calls = () => scriptedModel([{ text: 'x', toolCalls: [{ toolName: 'touch', input: {} }] }, 'ok'])
    const inactive = await drain({ model: calls(), tools: { touch, add }, activeTools: ['add'] })
    expect(inactive.result.steps[0]!.toolErrors).toHaveLength(1)
    const dropped = await drain({
      model: calls(),
      tools: { touch },
      outputProcessors: [{ id: 'drop', processOutputStream: ({ part }) => (part.type === 'tool-call' ? null : part) }],
    })
    expect(dropped.result).toMatchObject({ text: 'x', stopReason: 'completed', toolCalls: [] })
    expect(runs).toBe(0)
  })

  it.each(['length', 'content-filter', 'error', 'other'] as const)(
    'are not run when the model ended with %s',
    async finishReason => {
      let runs = 0
      const touch = tool({ inputSchema: z.object({}), execute: () => ++runs })
      const model = scriptedModel([{ text: 'x', toolCalls: [{ toolName: 'touch', input: {} }], finishReason }])
      const { result } = await drain({ model, tools: { touch } })
      expect([runs, result.stopReason, result.finishReason]).toEqual([0, 'completed', finishReason])
    },
  )

  it('without execute end the run, for the caller to answer', async () => {
    const ask = tool({ inputSchema: z.object({}), outputSchema: z.string() })
    const { result } = await drain({
      model: scriptedModel([{ toolCalls: [{ toolName: 'ask', input: {} }] }]),
      tools: { ask },
    })
    expect([result.stopReason, result.toolCalls.length, result.toolResults.length]).toEqual(['completed', 1, 0])
  })

  it('show the model what toModelOutput makes of their output', async () => {
    const big = tool({
      inputSchema: z.object({}),
      execute: () => ({ rows: [1, 2, 3] }),
      toModelOutput: ({ output }) => ({ type: 'text', value: `${output.rows.length} rows` }),
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'big', input: {} }] }, 'ok'])
    const { result } = await drain({ model, tools: { big } })
    expect(result.toolResults).toMatchObject([{ output: { rows: [1, 2, 3] } }])
    expect(model.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'text', value: '3 rows' } }],
    })
  })

  it('may write to what they were given, and change nothing with it', async () => {
    const vandal = tool({
      inputSchema: z.object({ list: z.array(z.number()) }),
      execute: (input, { messages }) => {
        input.list.push(99)
        messages.length = 0
        return input.list
      },
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'vandal', input: { list: [1] } }] }, 'ok'])
    const { result } = await drain({ model, tools: { vandal } })
    expect(result.toolCalls).toMatchObject([{ input: { list: [1] } }])
    expect(result.toolResults).toMatchObject([{ output: [1, 99] }])
    expect(model.doStreamCalls[1]!.prompt).toHaveLength(3)
  })
})

describe('a guard of tool calls', () => {
  const run = (guard: Processor['processToolCall']) => {
    const inputs: unknown[] = []
    const seen = tool({
      inputSchema: z.object({ n: z.coerce.number() }),
      execute: input => {
        inputs.push(input)
        return 'ran'
      },
    })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'seen', input: { n: 1 } }] }, 'ok'])
    const drained = drain({ model, tools: { seen }, outputProcessors: [{ id: 'guard', processToolCall: guard! }] })
    return drained.then(({ result, types }) => ({
      result,
      types,
      inputs,
      prompt: model.doStreamCalls[1]?.prompt.at(-1),
    }))
  }

  it('may rewrite the input, which is checked and stands in the conversation as it ran', async () => {
    const { inputs, result } = await run(() => ({ input: { n: '7' } }))
    expect(inputs).toEqual([{ n: 7 }])
    expect(result.toolCalls).toMatchObject([{ input: { n: 7 } }])
  })

  it('cannot make a tool run with input that does not fit', async () => {
    const { inputs, result } = await run(() => ({ input: { n: 'seven' } }))
    expect(inputs).toEqual([])
    expect(result.steps[0]!.toolErrors).toHaveLength(1)
  })

  it('may answer instead of the tool', async () => {
    const { inputs, result } = await run(() => ({ output: 'from the cache' }))
    expect(inputs).toEqual([])
    expect(result.toolResults).toMatchObject([{ output: 'from the cache' }])
  })

  it('may deny, and the model reads why', async () => {
    const { inputs, types, prompt } = await run(() => ({ deny: 'not on Sundays' }))
    expect(inputs).toEqual([])
    expect(types).toContain('tool-output-denied')
    expect(JSON.stringify(prompt)).toContain('not on Sundays')
  })
})

describe('a failing provider', () => {
  const overloaded = new Error('overloaded')

  it('fails the run with its own error', async () => {
    const { result, types } = await drain({ model: scriptedModel([{ error: overloaded }]) })
    expect(result).toMatchObject({ stopReason: 'error', error: overloaded, steps: [] })
    expect(types).toEqual(['start', 'step-start', 'error', 'finish'])
  })

  it('fails it the same way in the middle of a stream', async () => {
    const parts = [
      { type: 'text-delta', id: '1', delta: 'Hal' },
      { type: 'error', error: overloaded },
    ] as const
    const { result, types } = await drain({ model: scriptedModel([{ parts }]) })
    expect(result).toMatchObject({ stopReason: 'error', error: overloaded, text: '', messages: [] })
    expect(types.slice(-2)).toEqual(['error', 'finish'])
  })

  it('that ends without a finish has not answered', async () => {
    const { result } = await drain({
      model: scriptedModel([{ parts: [{ type: 'text-delta', id: '1', delta: 'Hal' }] }]),
    })
    expect(result).toMatchObject({ stopReason: 'error', error: { code: 'incomplete-stream' }, text: '' })
  })

  it('is called again when an error processor repaired the conversation', async () => {
    const repair: Processor = {
      id: 'repair',
      processAPIError({ messageList, retryCount }) {
        if (retryCount > 0) return
        messageList.add({ role: 'user', content: 'Short, please.' }, 'input')
        return { retry: true }
      },
    }
    const stepCalls: number[] = []
    const counter: Processor = { id: 'counter', processInputStep: ({ stepNumber }) => void stepCalls.push(stepNumber) }
    const model = scriptedModel([
      {
        parts: [
          { type: 'text-delta', id: '1', delta: 'Hal' },
          { type: 'error', error: overloaded },
        ],
      },
      'Hello.',
    ])
    const { result, types, chunks } = await drain({ model, errorProcessors: [repair], inputProcessors: [counter] })
    expect(result).toMatchObject({ text: 'Hello.', stopReason: 'completed' })
    expect(screenOf(chunks)).toBe('Hello.')
    expect(types).toContain('step-reset')
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt)).toContain('Short, please.')
    expect(stepCalls).toEqual([0])
  })

  it('may be replaced by another model for the rest of the step', async () => {
    const other = scriptedModel(['Fine.'], { modelId: 'other' })
    const fallback: Processor = { id: 'fallback', processAPIError: () => ({ retry: true, model: other }) }
    const { result } = await drain({ model: scriptedModel([{ error: overloaded }]), errorProcessors: [fallback] })
    expect(result).toMatchObject({ text: 'Fine.', steps: [{ model: { modelId: 'other' }, attemptCount: 2 }] })
  })

  it('is given up after ten retries when nothing is said', async () => {
    const stubborn: Processor = { id: 'stubborn', processAPIError: () => ({ retry: true }) }
    const model = scriptedModel(Array.from({ length: 50 }, () => ({ error: overloaded })))
    const { result } = await drain({ model, errorProcessors: [stubborn] })
    expect(result.stopReason).toBe('error')
    expect(model.doStreamCalls).toHaveLength(11)
  })
})

describe('a processor that holds', () => {
  const refuseOnce: Processor = {
    id: 'once',
    processOutputStep: ({ abort, retryCount }) => void (retryCount === 0 && abort('again', { retry: true })),
  }

  it('a step shows only what was accepted, and no reset', async () => {
    const { types, chunks } = await drain({
      model: scriptedModel(['bad', 'good']),
      outputProcessors: [refuseOnce],
      maxProcessorRetries: 1,
      hold: 'step',
    })
    expect(types).toEqual(['start', 'step-start', 'text-start', 'text-delta', 'text-end', 'step-finish', 'finish'])
    expect(screenOf(chunks)).toBe('good')
  })

  it('the run shows nothing of a response that processOutputResult refuses', async () => {
    const last: Processor = { id: 'last', hold: 'run', processOutputResult: ({ abort }) => abort('no') }
    const { types, result } = await drain({
      model: scriptedModel([callAdd, 'secret']),
      tools: { add },
      outputProcessors: [last],
    })
    expect(types).toEqual(['tripwire', 'finish'])
    expect(result).toMatchObject({
      text: '',
      steps: [],
      stopReason: 'tripwire',
      tripwire: { rejected: { text: 'secret' } },
    })
  })
})

describe('a run that is held', () => {
  it('shows nothing of a last step that processOutputResult wants again', async () => {
    const again: Processor = {
      id: 'again',
      hold: 'run',
      processOutputResult: ({ abort, retryCount }) => void (retryCount === 0 && abort('again', { retry: true })),
    }
    const { chunks, types } = await drain({
      model: scriptedModel([callAdd, 'SECRET', 'fine']),
      tools: { add },
      outputProcessors: [again],
      maxProcessorRetries: 1,
    })
    expect(JSON.stringify(chunks)).not.toContain('SECRET')
    expect(types.filter(type => type === 'step-start' || type === 'step-reset')).toEqual(['step-start', 'step-start'])
    expect(screenOf(chunks)).toBe('|fine')
  })
})

describe("the caller's own objects", () => {
  it('stay as they are, whatever a hook does to what it was given', async () => {
    const tools = { add }
    const activeTools: 'add'[] = ['add']
    const modelSettings = { temperature: 0.5, stopSequences: ['x'] }
    const providerOptions = { house: { nested: { a: 1 } } }
    const before = JSON.stringify([Object.keys(tools), activeTools, modelSettings, providerOptions])
    const vandal: Processor = {
      id: 'vandal',
      processInputStep(args) {
        const targets = [
          args.tools,
          args.activeTools,
          args.modelSettings,
          args.modelSettings.stopSequences,
          args.providerOptions?.['house'],
          args.steps,
        ]
        for (const target of targets)
          expect(() => Object.assign(target as object, { 0: 'evil', temperature: 9 })).toThrow(TypeError)
      },
      processLLMRequest({ prompt }) {
        expect(() => prompt.push(prompt[0]!)).toThrow(TypeError)
      },
    }
    const { result } = await drain({
      model: scriptedModel(['ok']),
      tools,
      activeTools,
      modelSettings,
      providerOptions,
      inputProcessors: [vandal],
    })
    expect(result.text).toBe('ok')
    expect(JSON.stringify([Object.keys(tools), activeTools, modelSettings, providerOptions])).toBe(before)
  })
})

describe('a guard that fails', () => {
  it('leaves nothing of the answer it was about', async () => {
    const broken: Processor = {
      id: 'broken',
      processOutputStep() {
        throw new Error('classifier down')
      },
    }
    const { result, types } = await drain({ model: scriptedModel(['SECRET']), outputProcessors: [broken] })
    expect(result).toMatchObject({ stopReason: 'error', text: '', messages: [] })
    expect(types).toContain('step-reset')
    expect(JSON.stringify(result.messageList.toJSON())).not.toContain('SECRET')
  })
})

describe('what a hook is given', () => {
  it('cannot be written to: a chunk, a call, the output of a tool', async () => {
    const constant = { rows: [1] }
    const table = tool({ inputSchema: z.object({ n: z.array(z.number()) }), execute: () => constant })
    const model = scriptedModel([{ text: 'x', toolCalls: [{ toolName: 'table', input: { n: [1] } }] }, 'ok'])
    const refused: string[] = []
    const refusing = (what: string, write: () => void) => {
      expect(write).toThrow(TypeError)
      refused.push(what)
    }
    const vandal: Processor = {
      id: 'vandal',
      processOutputStream({ part }) {
        if (part.type === 'text-delta') refusing('text', () => Object.assign(part.payload, { text: 'EVIL' }))
        if (part.type === 'tool-call') refusing('input', () => (part.payload.input as { n: number[] }).n.push(2))
        return part
      },
      processToolResult: ({ output }) => refusing('output', () => (output as { rows: number[] }).rows.push(2)),
    }
    const { result } = await drain({ model, tools: { table }, outputProcessors: [vandal] })
    expect(result).toMatchObject({ text: 'ok', toolResults: [{ input: { n: [1] }, output: { rows: [1] } }] })
    expect([...new Set(refused)].toSorted()).toEqual(['input', 'output', 'text'])
    expect(constant).toEqual({ rows: [1] })
  })

  it('cannot be written to: the records of the steps, to their leaves', async () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      value instanceof Date ||
      (Object.isFrozen(value) && Object.values(value).every(frozen))
    const open: string[] = []
    const looker: Processor = {
      id: 'looker',
      processStepEnd: ({ step }) =>
        void open.push(...Object.entries(step).flatMap(([name, value]) => (frozen(value) ? [] : [name]))),
    }
    const parts: Parameters<typeof streamOf>[0] = [
      { type: 'stream-start', warnings: [{ type: 'other', message: 'Careful.' }] },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.test/' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aaaa' } },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":1,"b":2}' },
      finishPart('tool-calls'),
    ]
    await drain({ model: scriptedModel([{ parts }, 'ok']), tools: { add }, outputProcessors: [looker] })
    expect([...new Set(open)]).toEqual([])
  })

  it('may be held back by any processor, an input processor too', async () => {
    const judge: Processor = { id: 'judge', hold: 'step', processLLMResponse: ({ abort }) => abort('no') }
    const { types } = await drain({ model: scriptedModel(['SECRET']), inputProcessors: [judge] })
    expect(types).toEqual(['start', 'step-start', 'tripwire', 'finish'])
  })

  it('on an abort is the last word of the reader, whatever a processor then refuses', async () => {
    const controller = new AbortController()
    const late: Processor = {
      id: 'late',
      processOutputStream({ part }) {
        if (part.type === 'text-delta') controller.abort(new Error('enough'))
        return part
      },
      flush: ({ abort }) => abort('no'),
    }
    const { result } = await drain({
      model: scriptedModel([{ text: ['a', 'b'] }]),
      outputProcessors: [late],
      abortSignal: controller.signal,
    })
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'enough' } })
  })
})

describe('what a step is called with', () => {
  it('has the provider options and settings that a processor returned', async () => {
    const model = scriptedModel(['ok'])
    const tuner: Processor = {
      id: 'tuner',
      processInputStep: () => ({
        providerOptions: { house: { effort: 'low' } },
        modelSettings: { temperature: 0.2, headers: { 'x-step': '0' } },
      }),
    }
    await drain({ model, inputProcessors: [tuner] })
    expect(model.doStreamCalls[0]).toMatchObject({
      providerOptions: { house: { effort: 'low' } },
      temperature: 0.2,
      headers: { 'x-step': '0' },
    })
  })

  it('is told in the steps of the result: reasoning, sources and files', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com' } as const
    const parts = [
      { type: 'reasoning-delta', id: 'r', delta: 'Let me look.' },
      source,
      { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'aGk=' } },
      { type: 'text-delta', id: 't', delta: 'Here.' },
      finishPart('stop'),
    ] as const
    const seen: unknown[] = []
    const looker: Processor = { id: 'looker', processOutputResult: ({ result }) => void seen.push(result.steps[0]) }
    await drain({ model: scriptedModel([{ parts }]), outputProcessors: [looker] })
    expect(seen).toMatchObject([
      {
        reasoningText: 'Let me look.',
        sources: [source],
        files: [{ mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' }],
        text: 'Here.',
      },
    ])
  })
})

describe('a callback that throws', () => {
  it.each(['onChunk', 'onStepFinish', 'onFinish'] as const)('fails the run once, with its error: %s', async name => {
    const broken = new Error(`${name} is broken`)
    const { result, types } = await drain({
      model: scriptedModel(['ok']),
      [name]: () => {
        throw broken
      },
    })
    expect(result).toMatchObject({ stopReason: 'error', error: broken })
    expect(types.slice(-2)).toEqual(['error', 'finish'])
  })

  it('does so by a promise too', async () => {
    const broken = new Error('later')
    const { result } = await drain({ model: scriptedModel(['ok']), onChunk: () => Promise.reject(broken) })
    expect(result).toMatchObject({ stopReason: 'error', error: broken })
  })

  it('is told every chunk, also while it is still busy with the one before', async () => {
    const told: string[] = []
    const slow = async (chunk: { readonly type: string }) => {
      await new Promise(resolve => setImmediate(resolve))
      told.push(chunk.type)
    }
    const toolCalls = [1, 2, 3].map(n => ({ toolName: 'add', input: { a: n, b: n } }))
    const { types } = await drain({ model: scriptedModel([{ toolCalls }, 'ok']), tools: { add }, onChunk: slow })
    expect(told).toEqual(types)
  })
})
