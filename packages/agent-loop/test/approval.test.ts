import {
  resumeLoop,
  type ApprovalDecision,
  type LoopResult,
  type LoopState,
  type ResumeLoopOptions,
} from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, type Drained } from './drained.ts'

const ran: string[] = []
const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => (ran.push(`pay ${euros}`), `paid ${euros}`),
})
const look = tool({ inputSchema: z.object({}), execute: () => (ran.push('look'), 'sunny') })
const tools = { pay, look }
const payCall = (euros: number) => ({ toolName: 'pay', input: { euros } })
const callPay = { text: 'Paying.', toolCalls: [payCall(5)] }

/** A run that is suspended at its first step, through JSON. */
async function suspended(options: Partial<Parameters<typeof drain>[0]> = {}, turns: unknown[] = [callPay]) {
  ran.length = 0
  const drained = await drain({ model: scriptedModel(turns as never), tools, ...options })
  expect(drained.result.stopReason).toBe('suspended')
  return { ...drained, state: JSON.parse(JSON.stringify(drained.result.loopState)) as LoopState }
}

async function resumed(
  state: LoopState,
  decisions: readonly ApprovalDecision[],
  options: Partial<ResumeLoopOptions> = {},
): Promise<Drained> {
  const loop = resumeLoop({ state, decisions }, {
    model: scriptedModel(['Done.']),
    tools,
    ...options,
  } as ResumeLoopOptions)
  const chunks: Chunk[] = []
  for (;;) {
    const next = await loop.next()
    if (next.done) return { result: next.value as LoopResult, chunks, types: chunks.map(chunk => chunk.type) }
    chunks.push(next.value)
  }
}

const approve = (result: LoopResult, more: object = {}): ApprovalDecision[] =>
  result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true, ...more }))
const deny = (result: LoopResult, reason?: string): ApprovalDecision[] =>
  result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: false, ...(reason ? { reason } : {}) }))

describe('a call that needs approval', () => {
  it('suspends the run: nothing of it has run, and the result says what is asked', async () => {
    const { result, types, chunks } = await suspended()
    expect(ran).toEqual([])
    expect(result).toMatchObject({
      finishReason: 'tool-calls',
      steps: [],
      toolCalls: [],
      pendingApprovals: [{ toolCallId: 'call-1', toolName: 'pay', input: { euros: 5 } }],
    })
    expect(result.totalUsage.totalTokens).toBe(15)
    expect(result.messages[0]!.content.parts.at(-1)).toMatchObject({
      type: 'tool-pay',
      state: 'approval-requested',
      approval: { id: result.pendingApprovals[0]!.approvalId },
    })
    expect(types.slice(-2)).toEqual(['tool-approval-request', 'finish'])
    expect(chunks.at(-1)).toMatchObject({ payload: { stopReason: 'suspended', finishReason: 'tool-calls' } })
  })

  it('is run when it is approved, in the same run, and the model hears of it', async () => {
    const { result, state } = await suspended()
    const model = scriptedModel(['Done.'])
    const end = await resumed(state, approve(result), { model })
    expect(ran).toEqual(['pay 5'])
    expect(end.result).toMatchObject({ runId: result.runId, stopReason: 'completed', text: 'Done.' })
    expect(end.result.steps.map(({ stepNumber, text }) => [stepNumber, text])).toEqual([
      [0, 'Paying.'],
      [1, 'Done.'],
    ])
    expect(end.result.toolResults).toMatchObject([{ toolName: 'pay', output: 'paid 5' }])
    expect(end.result.totalUsage.totalTokens).toBe(30)
    expect(end.result.messages).toHaveLength(1)
    expect(end.result.messages[0]!.id).toBe(result.messages[0]!.id)
    expect(model.doStreamCalls[0]!.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(model.doStreamCalls[0]!.prompt[2]).toMatchObject({
      content: [{ type: 'tool-result', output: { value: 'paid 5' } }],
    })
    expect(end.types).toEqual([
      'start',
      'tool-approval-response',
      'tool-result',
      'step-finish',
      'step-start',
      'text-start',
      'text-delta',
      'text-end',
      'step-finish',
      'finish',
    ])
  })

  it('is answered with the reason when it is denied', async () => {
    const { result, state } = await suspended()
    const model = scriptedModel(['As you like.'])
    const end = await resumed(state, deny(result, 'too dear'), { model })
    expect(ran).toEqual([])
    expect(end.result.stopReason).toBe('completed')
    expect(end.types).toContain('tool-output-denied')
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt.at(-1))).toContain('too dear')
  })

  it('may be edited: the new input is what runs, what stands, and what the guards see again', async () => {
    const seen: unknown[] = []
    const guard: Processor = {
      id: 'guard',
      processToolCall: ({ input, approval }) => void seen.push([input, approval?.approvalId]),
    }
    const { result, state } = await suspended({ outputProcessors: [guard] })
    const { approvalId } = result.pendingApprovals[0]!
    const decisions: ApprovalDecision[] = [{ approvalId, approved: true, input: { euros: 3 } }]
    const end = await resumed(state, decisions, { outputProcessors: [guard] })
    expect(ran).toEqual(['pay 3'])
    expect(seen).toEqual([
      [{ euros: 5 }, undefined],
      [{ euros: 3 }, approvalId],
    ])
    expect(end.result.toolCalls).toMatchObject([{ input: { euros: 3 } }])
  })

  it('is denied by a guard although a person approved what they edited', async () => {
    const guard: Processor = {
      id: 'guard',
      processToolCall: ({ input }) => ((input as { euros: number }).euros > 100 ? { deny: 'never' } : undefined),
    }
    const { result, state } = await suspended({ outputProcessors: [guard] })
    const end = await resumed(state, approve(result, { input: { euros: 1000 } }), { outputProcessors: [guard] })
    expect(ran).toEqual([])
    expect(end.types).toContain('tool-output-denied')
  })

  it('gets the value that its schema makes, also when the schema reads another type than it gives', async () => {
    const given: unknown[] = []
    const when = tool({
      inputSchema: z.object({ at: z.string().transform(text => text.length) }),
      needsApproval: true,
      execute: input => void given.push(input),
    })
    const first = await suspended({ tools: { when } }, [{ toolCalls: [{ toolName: 'when', input: { at: 'noon' } }] }])
    expect(first.result.pendingApprovals[0]!.input).toEqual({ at: 4 })
    await resumed(first.state, approve(first.result), { tools: { when } })
    expect(given).toEqual([{ at: 4 }])
  })
})

describe('several calls at once', () => {
  const three = [{ toolCalls: [payCall(1), { toolName: 'look', input: {} }, payCall(2)] }]

  it('run where nobody is needed before the run suspends, and never again', async () => {
    const { result, state } = await suspended({}, three)
    expect(ran).toEqual(['look'])
    const end = await resumed(state, approve(result))
    expect(ran).toEqual(['look', 'pay 1', 'pay 2'])
    expect(end.result.toolResults).toHaveLength(3)
  })

  it('can be decided one by one and differently', async () => {
    const { result, state } = await suspended({}, three)
    const [first, second] = result.pendingApprovals
    const middle = await resumed(state, [{ approvalId: first!.approvalId, approved: true }], {
      model: scriptedModel([]),
    })
    expect(middle.result).toMatchObject({ stopReason: 'suspended', pendingApprovals: [second] })
    expect(ran).toEqual(['look', 'pay 1'])
    const end = await resumed(middle.result.loopState!, deny(middle.result))
    expect(ran).toEqual(['look', 'pay 1'])
    expect(end.result.stopReason).toBe('completed')
    expect(end.result.messages[0]!.content.parts.map(part => ('state' in part ? part.state : part.type))).toEqual([
      'step-start',
      'output-available',
      'output-available',
      'output-denied',
      'step-start',
      'done',
    ])
  })

  it('suspends again at a later step, in the same run', async () => {
    const { result, state } = await suspended()
    const again = await resumed(state, approve(result), { model: scriptedModel([{ toolCalls: [payCall(7)] }]) })
    expect(again.result).toMatchObject({ stopReason: 'suspended', pendingApprovals: [{ input: { euros: 7 } }] })
    const end = await resumed(again.result.loopState!, approve(again.result))
    expect(ran).toEqual(['pay 5', 'pay 7'])
    expect(end.result.steps).toHaveLength(3)
  })
})

describe('who asks', () => {
  it('is a processor, with its reason', async () => {
    const gate: Processor = { id: 'gate', processToolCall: () => ({ ask: 'looks odd' }) }
    const { result, chunks } = await suspended({ outputProcessors: [gate] }, [
      { toolCalls: [{ toolName: 'look', input: {} }] },
    ])
    expect(result.pendingApprovals).toMatchObject([{ toolName: 'look', reason: 'looks odd' }])
    expect(chunks.find(chunk => chunk.type === 'tool-approval-request')).toMatchObject({
      payload: { reason: 'looks odd' },
    })
    expect(String(result.trace)).toContain('tool look({}): asked')
    const end = await resumed(result.loopState!, approve(result), { outputProcessors: [gate] })
    expect(end.result.stopReason).toBe('completed')
    expect(ran).toEqual(['look'])
  })

  it.each([
    [
      'by a function of the input',
      { pay: ({ euros }: { euros: number }) => (euros > 3 ? 'user-approval' : 'approved') },
      'suspended',
    ],
    ['by name', { pay: 'approved' }, 'completed'],
    ['for all', () => ({ type: 'user-approval', reason: 'house rule' }), 'suspended'],
    ['by denying', { pay: { type: 'denied', reason: 'closed' } }, 'completed'],
  ])("is the caller's toolApproval %s, before what the tool says", async (_, toolApproval, stopReason) => {
    ran.length = 0
    const model = scriptedModel([callPay, 'Done.'])
    const { result } = await drain({ model, tools, toolApproval: toolApproval as never })
    expect(result.stopReason).toBe(stopReason)
  })

  it('is the tool by a function, which may see the messages', async () => {
    const seen: number[] = []
    const careful = tool({
      inputSchema: z.object({ euros: z.number() }),
      needsApproval: ({ euros }, { messages }) => (seen.push(messages.length), euros > 10),
      execute: () => 'ok',
    })
    const turns = [{ toolCalls: [payCall(5)] }, { toolCalls: [payCall(50)] }]
    const { result } = await drain({ model: scriptedModel(turns), tools: { pay: careful } })
    expect(result).toMatchObject({ stopReason: 'suspended', pendingApprovals: [{ input: { euros: 50 } }] })
    expect(seen.length).toBe(2)
  })

  it('fails the run when it throws: nothing runs', async () => {
    ran.length = 0
    const toolApproval = () => {
      throw new Error('no idea')
    }
    const { result } = await drain({ model: scriptedModel([callPay]), tools, toolApproval })
    expect(result).toMatchObject({ stopReason: 'error', error: { message: 'no idea' } })
    expect(ran).toEqual([])
  })
})

describe('a run that is saved between two steps', () => {
  const callLook = { text: 'Looking.', toolCalls: [{ toolName: 'look', input: {} }] }
  const savedAfter = async (turns: unknown[], options: Partial<Parameters<typeof drain>[0]> = {}) => {
    ran.length = 0
    const states: LoopState[] = []
    const whole = await drain({
      model: scriptedModel(turns as never),
      tools,
      ...options,
      onStepFinish: (_, run) => void states.push(JSON.parse(JSON.stringify(run.loopState())) as LoopState),
    })
    return { whole, states }
  }
  const told = ({ result }: Drained) => ({
    text: result.text,
    steps: result.steps.map(({ stepNumber, text, toolResults, usage }) => ({ stepNumber, text, toolResults, usage })),
    totalUsage: result.totalUsage,
    messages: result.messages.map(({ createdAt: _, ...message }) => message),
    stopReason: result.stopReason,
    trace: String(result.trace),
  })

  it('goes on from any of them to the same end', async () => {
    const called = (toolCallId: string) => ({
      text: 'Looking.',
      toolCalls: [{ toolCallId, toolName: 'look', input: {} }],
    })
    const turns = [called('a'), called('b'), 'Sunny.']
    const { whole, states } = await savedAfter(turns)
    expect(states).toHaveLength(3)
    for (const [index, state] of states.entries()) {
      ran.length = 0
      const end = await resumed(state, [], { model: scriptedModel(turns.slice(index + 1)) })
      expect(told(end)).toEqual(told(whole))
      expect(ran).toHaveLength(Math.max(0, 1 - index))
    }
  })

  it('counts its steps and asks its stop conditions where it goes on', async () => {
    const { states } = await savedAfter([callLook, callLook], { maxSteps: 2 })
    const end = await resumed(states[1]!, [], { model: scriptedModel([]), maxSteps: 2 })
    expect(end.result).toMatchObject({ stopReason: 'max-steps' })
  })

  it('goes back to before the step when the response is refused with a retry', async () => {
    const { states } = await savedAfter(['Bad.'], {
      outputProcessors: [{ id: 'guard', processOutputResult: () => {} }],
    })
    const guard: Processor = {
      id: 'guard',
      processOutputResult: ({ result, abort }) => void (result.text === 'Bad.' && abort('again', { retry: true })),
    }
    const end = await resumed(states[0]!, [], {
      model: scriptedModel(['Good.']),
      outputProcessors: [guard],
      maxProcessorRetries: 1,
    })
    expect(end.result).toMatchObject({ text: 'Good.', stopReason: 'completed' })
    expect(end.result.messages[0]!.content.parts.filter(part => part.type === 'text')).toHaveLength(1)
  })

  it('takes no decisions, since it waits for nobody', async () => {
    const { states } = await savedAfter([callLook, 'Sunny.'])
    await expect(resumed(states[0]!, [{ approvalId: 'a', approved: true }])).rejects.toMatchObject({
      code: 'unknown-approval',
      message: "The run never asked for the approval 'a'. It waits for nobody.",
    })
  })
})

describe('a state', () => {
  const refused = async (
    state: unknown,
    decisions: readonly ApprovalDecision[],
    options: Partial<ResumeLoopOptions> = {},
  ) => {
    const before = [...ran]
    const error: unknown = await resumed(state as LoopState, decisions, options).catch((thrown: unknown) => thrown)
    expect(ran).toEqual(before)
    return error
  }

  it('is refused with a decision that nobody asked for', async () => {
    const { state, result } = await suspended()
    expect(await refused(state, [{ approvalId: 'forged', approved: true }])).toMatchObject({
      code: 'unknown-approval',
      message: `The run never asked for the approval 'forged'. It waits for '${result.pendingApprovals[0]!.approvalId}' (pay).`,
    })
  })

  it('is refused with a decision that was made before, or twice', async () => {
    const { state, result } = await suspended({}, [{ toolCalls: [payCall(1), payCall(2)] }])
    const [first] = approve(result)
    expect(await refused(state, [first!, first!])).toMatchObject({ code: 'already-decided' })
    const middle = await resumed(state, [first!])
    expect(await refused(middle.result.loopState, [first!])).toMatchObject({ code: 'already-decided' })
  })

  it('is refused by other processors', async () => {
    const guard: Processor = { id: 'guard', processToolCall: () => {} }
    const { state, result } = await suspended({ outputProcessors: [guard] })
    expect(await refused(state, approve(result))).toMatchObject({
      code: 'processors-changed',
      message: expect.stringContaining('was begun with the processors ["guard"] and would go on with []') as string,
    })
  })

  it('is refused by a tool that is gone', async () => {
    const { state, result } = await suspended()
    expect(await refused(state, approve(result), { tools: { look } as never })).toMatchObject({ code: 'unknown-tool' })
  })

  it('is refused with an input that does not fit', async () => {
    const { state, result } = await suspended()
    expect(await refused(state, approve(result, { input: { euros: 'five' } }))).toMatchObject({
      code: 'invalid-decision',
    })
  })

  it.each([
    ['of another version', (state: LoopState) => ({ ...state, version: 2 }), 'unsupported-state'],
    ['that is text', (state: LoopState) => JSON.stringify(state), 'invalid-state'],
    ['that is none', () => ({}), 'invalid-state'],
    ['that is nothing', () => null, 'invalid-state'],
    ['that is at no step', ({ open: _, ...state }: LoopState) => state, 'invalid-state'],
    ['that lost a part', ({ counts: _, ...state }: LoopState) => state, 'invalid-state'],
  ])('is refused %s', async (_, broken, code) => {
    const { state, result } = await suspended()
    expect(await refused(broken(state), approve(result))).toMatchObject({ code })
  })

  it('carries the state of processors, which must be JSON', async () => {
    const counting = (write: (state: Record<string, unknown>) => void): Processor => ({
      id: 'counter',
      processOutputStep: ({ state }) => write(state),
    })
    const count = (state: Record<string, unknown>) => void (state['n'] = ((state['n'] as number | undefined) ?? 0) + 1)
    const { state, result } = await suspended({ outputProcessors: [counting(count)] })
    const seen: unknown[] = []
    await resumed(state, approve(result), {
      outputProcessors: [counting(kept => (count(kept), void seen.push(kept['n'])))],
    })
    expect(seen).toEqual([2])
    const broken = await drain({
      model: scriptedModel([callPay]),
      tools,
      outputProcessors: [counting(kept => void (kept['at'] = new Date(0)))],
    })
    expect(broken.result).toMatchObject({
      stopReason: 'error',
      error: { code: 'state-not-json', processorId: 'counter' },
    })
  })

  it('tells processRunEnd and onFinish, and processOutputResult waits', async () => {
    const told: string[] = []
    const observer: Processor = {
      id: 'observer',
      processInput: () => void told.push('input'),
      processOutputResult: () => void told.push('result'),
      processRunEnd: ({ stopReason, loopState }) => void told.push(`end ${stopReason} ${typeof loopState}`),
    }
    const options = {
      inputProcessors: [observer],
      outputProcessors: [observer],
      onFinish: ({ stopReason }: LoopResult) => void told.push(`finish ${stopReason}`),
    }
    const { state, result } = await suspended(options)
    expect(told.splice(0)).toEqual(['input', 'end suspended object', 'finish suspended'])
    await resumed(state, approve(result), options)
    expect(told).toEqual(['result', 'end completed undefined', 'finish completed'])
  })

  it('keeps what a tripwire goes back to: the step, or the whole response', async () => {
    const { state, result } = await suspended({}, [callPay])
    const refuses = (hook: 'processToolResult' | 'processOutputResult'): Processor => ({
      id: 'guard',
      [hook]: ({ abort }: { abort: (reason: string) => never }) => abort('no'),
    })
    for (const hook of ['processToolResult', 'processOutputResult'] as const) {
      const fresh = { ...state, processorIds: ['guard'] }
      const end = await resumed(fresh, approve(result), { outputProcessors: [refuses(hook)] })
      expect(end.result).toMatchObject({ stopReason: 'tripwire', text: '', steps: [], messages: [] })
      expect(end.types).toContain('step-reset')
      expect(end.result.messageList.get.all.db().map(({ role }) => role)).toEqual(['user'])
      expect(end.result.tripwire!.rejected.text).toContain('Paying.')
    }
  })

  it('keeps retries, steps and warnings counted over the whole run', async () => {
    const once: Processor = {
      id: 'once',
      processOutputStep: ({ retryCount, abort }) => void (retryCount === 0 && abort('again', { retry: true })),
    }
    const options = { outputProcessors: [once], maxProcessorRetries: 1, maxSteps: 2 }
    const { state, result } = await suspended(options, [callPay, callPay])
    const end = await resumed(state, approve(result), {
      ...options,
      model: scriptedModel([{ toolCalls: [{ toolName: 'look', input: {} }] }]),
    })
    expect(end.result).toMatchObject({ stopReason: 'max-steps' })
    expect(end.result.steps.map(step => step.attemptCount)).toEqual([2, 1])
    expect(end.result.steps.every(({ usage, response }) => Object.isFrozen(usage) && Object.isFrozen(response))).toBe(
      true,
    )
    expect(end.result.trace.steps).toHaveLength(2)
    expect(end.result.totalUsage.totalTokens).toBe(45)
  })

  it('shows a reader the whole run in the end when all of it is held', async () => {
    const first = await suspended({ hold: 'run' })
    expect(first.types).toEqual(['finish'])
    const end = await resumed(first.state, approve(first.result), { hold: 'run' })
    expect(end.types.slice(0, 3)).toEqual(['start', 'step-start', 'text-start'])
    expect(end.types.filter(type => type === 'step-start')).toHaveLength(2)
  })

  it('leaves the list that the caller gave as it was', async () => {
    const { state, result } = await suspended()
    const before = JSON.stringify(state)
    await resumed(state, approve(result))
    expect(JSON.stringify(state)).toBe(before)
    expect(MessageList.fromJSON(state.messageList).get.all.db()).toHaveLength(2)
  })
})
