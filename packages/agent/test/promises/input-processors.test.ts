// Input processors of an agent and of a call, in generate and in stream.
import { Agent, RequestContext, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { ProcessInputArgs, ProcessInputStepArgs } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { agentOf, bothPaths, callLook, hooked, promptOf, textsOf } from './both-paths.ts'

const recorder = (id: string, calls: string[]): Processor => ({
  id,
  processInput: () => void calls.push(`${id}.processInput`),
  processInputStep: ({ stepNumber }) => void calls.push(`${id}.processInputStep ${stepNumber}`),
})

describe.each(bothPaths)('Agent with inputProcessors (constructor), by $path', ({ path, run }) => {
  it(`inputProcessors run on every ${path} call`, async () => {
    const calls: string[] = []
    const { agent } = agentOf(['one', 'two'], { inputProcessors: [recorder('a', calls)] })
    await run(agent)
    await run(agent)
    const once = ['a.processInput', 'a.processInputStep 0']
    expect(calls).toEqual([...once, ...once])
  })

  it('Multiple inputProcessors chain correctly', async () => {
    const other = scriptedModel(['from the other'], { modelId: 'other' })
    const seen: unknown[] = []
    const first = hooked('first', {
      processInput: ({ messages }) => [...messages, 'added by first'],
      processInputStep: () => ({ model: other, toolChoice: 'required' as const }),
    })
    const second = hooked('second', {
      processInput: ({ messages }) => void seen.push(textsOf(messages)),
      processInputStep: ({ model, toolChoice }) => void seen.push(model.modelId, toolChoice),
    })
    const { agent, model } = agentOf([], { inputProcessors: [first, second] })
    const { result } = await run(agent, 'Hello')
    expect(seen).toEqual([['Hello', 'added by first'], 'other', 'required'])
    expect(result.text).toBe('from the other')
    expect([model.doStreamCalls.length, other.doStreamCalls[0]!.toolChoice]).toEqual([0, { type: 'required' }])
    expect(promptOf(other, 0)).toEqual(['user: Hello', 'user: added by first'])
  })

  it('inputProcessors receive correct step context', async () => {
    const seen: Partial<ProcessInputStepArgs>[] = []
    const see = hooked('see', {
      processInputStep: ({ stepNumber, steps, messages, retryCount }: ProcessInputStepArgs) =>
        void seen.push({ stepNumber, steps, messages, retryCount }),
    })
    const { agent } = agentOf([callLook, callLook, 'done'], { inputProcessors: [see] })
    const { result } = await run(agent)
    expect(seen.map(({ stepNumber, steps, retryCount }) => [stepNumber, steps!.length, retryCount])).toEqual([
      [0, 0, 0],
      [1, 1, 0],
      [2, 2, 0],
    ])
    expect(seen[2]!.steps!.map(step => step.toolResults.map(({ output }) => output))).toEqual([['saw it'], ['saw it']])
    expect(seen[2]!.steps![0]).toBe(result.steps[0])
    expect(seen[1]!.messages!.map(message => message.role)).toEqual(['user', 'assistant'])
  })
})

describe.each(bothPaths)('Agent.$path with inputProcessors', ({ run }) => {
  it('Per-call inputProcessors **replace** constructor inputProcessors (not extend)', async () => {
    const calls: string[] = []
    const { agent } = agentOf(['one', 'two'], {
      inputProcessors: [recorder('own-1', calls), recorder('own-2', calls)],
    })
    await run(agent, 'Hello', { inputProcessors: [recorder('call', calls)] })
    expect(calls).toEqual(['call.processInput', 'call.processInputStep 0'])
  })

  it('Per-call inputProcessors receive correct args', async () => {
    let [input, step]: [ProcessInputArgs?, ProcessInputStepArgs?] = []
    const see = hooked('see', {
      processInput: (given: ProcessInputArgs) => void (input = given),
      processInputStep: (given: ProcessInputStepArgs) => void (step = given),
    })
    const { agent, model } = agentOf(['Hi'], { instructions: 'Be brief.' })
    const requestContext = new RequestContext({ tenant: 'acme' })
    await run(agent, 'Hello', {
      inputProcessors: [see],
      requestContext,
      toolChoice: 'none',
      activeTools: ['look'],
      modelSettings: { temperature: 0 },
      providerOptions: { test: { a: 1 } },
      tracingContext: { traceId: 't' },
    })
    expect(textsOf(input!.messages)).toEqual(['Hello'])
    expect(input!.systemMessages).toEqual([{ role: 'system', content: 'Be brief.' }])
    expect(step).toMatchObject({
      stepNumber: 0,
      steps: [],
      toolChoice: 'none',
      activeTools: ['look'],
      modelSettings: { temperature: 0 },
      providerOptions: { test: { a: 1 } },
      tracingContext: { traceId: 't' },
    })
    expect([step!.model.modelId, Object.keys(step!.tools)]).toEqual([model.modelId, ['look', 'touch']])
    expect([input!.requestContext, step!.requestContext]).toEqual([requestContext, requestContext])
    expect(step!.messageList.isSameAs(input!.messageList)).toBe(true)
  })

  it('Constructor inputProcessors are NOT called when per-call inputProcessors provided', async () => {
    const calls: string[] = []
    const { agent } = agentOf(['one', 'two', 'three'], { inputProcessors: [recorder('own', calls)] })
    await run(agent, 'Hello', { inputProcessors: [recorder('call', [])] })
    await run(agent, 'Hello', { inputProcessors: [] })
    expect(calls).toEqual([])
    await run(agent)
    expect(calls).toHaveLength(2)
  })

  it('replaces one array and leaves the other two as they are', async () => {
    const calls: string[] = []
    const out = hooked('out', { processOutputStep: () => void calls.push('out') })
    const { agent } = agentOf(['one'], { inputProcessors: [recorder('own', calls)], outputProcessors: [out] })
    await run(agent, 'Hello', { inputProcessors: [] })
    expect(calls).toEqual(['out'])
  })

  it('takes a call as one object, options beside the prompt', async () => {
    const calls: string[] = []
    const { agent } = agentOf(['one', 'two'])
    await run(agent, { prompt: 'Hello', inputProcessors: [recorder('call', calls)] })
    await run(agent, { messages: [{ role: 'user', content: 'Hello' }], inputProcessors: [recorder('again', calls)] })
    expect(calls).toEqual([
      'call.processInput',
      'call.processInputStep 0',
      'again.processInput',
      'again.processInputStep 0',
    ])
  })

  it('makes an array for each request by a function of its context', async () => {
    const calls: string[] = []
    const model = scriptedModel(['one', 'two', 'three'])
    const agent = new Agent({
      name: 'test',
      model,
      inputProcessors: async ({ requestContext }) => {
        await Promise.resolve()
        return requestContext.get('tier') === 'pro'
          ? []
          : [recorder(`for ${String(requestContext.get('tier'))}`, calls)]
      },
    })
    await run(agent, 'Hello', { requestContext: new RequestContext({ tier: 'free' }) })
    await run(agent, 'Hello', { requestContext: new RequestContext({ tier: 'pro' }) })
    await run(agent)
    expect(calls.filter(call => call.endsWith('processInput'))).toEqual([
      'for free.processInput',
      'for undefined.processInput',
    ])
  })

  it('replaces what a function would have made, without calling it', async () => {
    let made = 0
    const agent = new Agent({ name: 'test', model: scriptedModel(['one']), inputProcessors: () => (made++, []) })
    const calls: string[] = []
    await run(agent, 'Hello', { inputProcessors: [recorder('call', calls)] })
    expect([made, calls.length]).toEqual([0, 2])
  })
})

describe.each(bothPaths)('Edge Cases, by $path', ({ run }) => {
  it('stepNumber increments correctly across tool calls', async () => {
    const seen: number[] = []
    const see = hooked('see', { processInputStep: ({ stepNumber }) => void seen.push(stepNumber) })
    const { agent } = agentOf([callLook, callLook, callLook, 'done'])
    await run(agent, 'Hello', { inputProcessors: [see] })
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('steps array contains previous step results', async () => {
    const seen: unknown[] = []
    const see = hooked('see', {
      processInputStep: ({ steps }) => void seen.push(steps.map(({ text, toolCalls }) => [text, toolCalls.length])),
    })
    const { agent } = agentOf([{ text: 'Let me look.', ...callLook }, 'done'])
    await run(agent, 'Hello', { inputProcessors: [see] })
    expect(seen).toEqual([[], [['Let me look.', 1]]])
  })

  it('Empty inputProcessors array is handled', async () => {
    const { agent } = agentOf(['Hi'], { inputProcessors: [] })
    expect((await run(agent, 'Hello', { inputProcessors: [] })).result.text).toBe('Hi')
  })

  it('Processor returns nothing (undefined)', async () => {
    const { agent, model } = agentOf(['Hi'])
    const nothing = hooked('nothing', { processInput: () => undefined, processInputStep: () => undefined })
    await run(agent, 'Hello', { inputProcessors: [nothing], toolChoice: 'auto' })
    expect([promptOf(model, 0), model.doStreamCalls[0]!.toolChoice]).toEqual([['user: Hello'], { type: 'auto' }])
  })

  it('Processor only returns partial result (just toolChoice, not model)', async () => {
    const { agent, model } = agentOf(['Hi'])
    const partial = hooked('partial', { processInputStep: () => ({ toolChoice: 'none' as const }) })
    await run(agent, 'Hello', { inputProcessors: [partial], modelSettings: { temperature: 0.5 } })
    expect(model.doStreamCalls[0]).toMatchObject({ toolChoice: { type: 'none' }, temperature: 0.5 })
  })
})
