import { Agent, type AgentStream, type ApprovalDecision, type LoopState, type Processor } from '@lockstep/agent'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { toUIMessageStream } from '@lockstep/agent/ui'
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, tool, type UIMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatOf, chunksOf, messageFrom, plainParts, textOf } from './ui-client.ts'

const shop = () => {
  const paid: number[] = []
  const tools = {
    pay: tool({
      inputSchema: z.object({ euros: z.number() }),
      needsApproval: true,
      execute: ({ euros }) => (paid.push(euros), `paid ${euros}`),
    }),
    look: tool({ inputSchema: z.object({}), execute: () => 'seen' }),
  }
  return { paid, tools }
}

const payAndLook: ScriptedTurn = {
  text: 'One moment. ',
  toolCalls: [
    { toolName: 'pay', input: { euros: 5 } },
    { toolName: 'look', input: {} },
  ],
}

/** What a page's messages say about the calls that wait. */
const decisionsIn = (messages: readonly UIMessage[]): ApprovalDecision[] =>
  messages
    .flatMap(message => message.parts.filter(isToolUIPart))
    .flatMap(part => (part.state === 'approval-responded' ? [part.approval] : []))
    .map(({ id, approved, reason }) => ({ approvalId: id, approved, ...(reason === undefined ? {} : { reason }) }))

describe.each([
  ['granted', true, [5], 'output-available'],
  ['denied', false, [], 'output-denied'],
] as const)('a call that is %s in useChat', (_, approved, expected, state) => {
  const expectAnswered = (messages: readonly UIMessage[], paid: readonly number[]) => {
    expect(paid).toEqual(expected)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(textOf(messages[1]!)).toBe('One moment. As you like.')
    const [pay, look] = messages[1]!.parts.filter(isToolUIPart)
    expect(pay).toMatchObject({ type: 'tool-pay', state, input: { euros: 5 }, approval: { approved } })
    expect(look).toMatchObject({ type: 'tool-look', state: 'output-available', output: 'seen' })
  }

  it('goes on from the state that the server kept, in the same message', async () => {
    const { paid, tools } = shop()
    const model = scriptedModel([payAndLook, 'As you like.'])
    const agent = new Agent({ name: 'test', model, tools })
    let state: string | undefined
    const chat = chatOf(
      messages => {
        const run: AgentStream<typeof tools> =
          state === undefined
            ? agent.stream(messages, { onFinish: keep })
            : agent.resume(JSON.parse(state) as LoopState, decisionsIn(messages), { onFinish: keep })
        return toUIMessageStream(run.fullStream)
      },
      { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses },
    )
    const keep = ({ loopState }: { readonly loopState: LoopState | undefined }) =>
      void (state = loopState && JSON.stringify(loopState))
    await chat.sendMessage({ text: 'Pay and look.' })
    expect(paid).toEqual([])
    const { id, parts } = chat.messages[1]!
    const asked = parts.filter(isToolUIPart).find(part => part.state === 'approval-requested')!
    await chat.addToolApprovalResponse({ id: asked.approval!.id, approved, ...(approved ? {} : { reason: 'No.' }) })
    await expect.poll(() => chat.status === 'ready' && state === undefined).toBe(true)
    expect(chat.error).toBeUndefined()
    expect(chat.messages[1]!.id).toBe(id)
    expectAnswered(chat.messages, paid)
  })

  it('goes on from the signed message of the page, with nothing kept on the server', async () => {
    const { paid, tools } = shop()
    const model = scriptedModel([payAndLook, 'As you like.', 'Goodbye.'])
    const agent = new Agent({ name: 'test', model, tools, approvalSecret: 'hush' })
    const chat = chatOf(
      messages => toUIMessageStream(agent.stream(messages).fullStream, { originalMessages: messages }),
      { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses },
    )
    await chat.sendMessage({ text: 'Pay and look.' })
    const asked = chat.messages[1]!.parts.filter(isToolUIPart).find(part => part.state === 'approval-requested')!
    await chat.addToolApprovalResponse({ id: asked.approval!.id, approved })
    await expect.poll(() => model.doStreamCalls.length === 2 && chat.status === 'ready').toBe(true)
    expect(chat.error).toBeUndefined()
    expectAnswered(chat.messages, paid)
    await chat.sendMessage({ text: 'Thanks.' })
    expect(chat.error).toBeUndefined()
    expect(paid).toEqual(expected)
    expect(textOf(chat.messages[3]!)).toBe('Goodbye.')
  })
})

describe('for any script with questions, any decisions and any refusals', () => {
  const turns = fc.array(
    fc.record({
      text: fc.option(fc.string({ minLength: 1, maxLength: 4 }), { nil: undefined }),
      toolCalls: fc.array(
        fc.oneof(
          fc.record({ toolName: fc.constant('pay'), input: fc.record({ euros: fc.integer({ min: 1, max: 9 }) }) }),
          fc.record({ toolName: fc.constant('look'), input: fc.constant({}) }),
        ),
        { maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  const decisions = fc.array(fc.constantFrom('yes', 'no', 'more', 'later'), { maxLength: 8 })
  /** The hook and the call of it at which the step is tried again, or refused where that takes back no more than it. */
  const refusal = fc.record({
    hook: fc.constantFrom('processOutputStep', 'processToolCall', 'processToolResult', 'processOutputResult'),
    at: fc.nat(6),
    retry: fc.boolean(),
  })

  it.each([
    ['with the plan of the run', true],
    ['without it', false],
  ])('the page ends with what the conversation holds, %s', async (_, known) => {
    await fc.assert(
      fc.asyncProperty(turns, decisions, refusal, async (script, answers, { hook, at, retry }) => {
        const { tools } = shop()
        let callCount = 0
        const guard: Processor = {
          id: 'guard',
          [hook]: ({ abort }: { readonly abort: (reason: string, options: { readonly retry: boolean }) => never }) => {
            if (callCount++ === at) abort('no', { retry: retry || hook === 'processOutputResult' })
          },
        }
        const model = scriptedModel(
          Array.from({ length: 40 }, (_turn, index) => (): ScriptedTurn => script[index] ?? 'End.'),
        )
        const options = { outputProcessors: [guard], maxProcessorRetries: 5, maxSteps: 9 }
        const agent = new Agent({ name: 'law', model, tools })
        const waiting = [...answers]
        let message: UIMessage | undefined
        let run = agent.stream('Go!', options)
        for (;;) {
          const chunks = await chunksOf(
            toUIMessageStream(run.fullStream, known ? { plan: () => ({ tools, ...options }) } : {}),
          )
          message = await messageFrom(chunks, message)
          const { loopState, pendingApprovals } = await run.result
          if (!loopState) break
          const decided = pendingApprovals.flatMap(({ approvalId }): ApprovalDecision[] => {
            const answer = waiting.shift() ?? 'yes'
            if (answer === 'later') return []
            const input = answer === 'more' ? { input: { euros: 100 } } : {}
            return [
              { approvalId, ...(answer === 'no' ? { approved: false, reason: 'No.' } : { approved: true, ...input }) },
            ]
          })
          message = responded(message, decided)
          run = agent.resume(JSON.parse(JSON.stringify(loopState)) as LoopState, decided, options)
        }
        const { messageList } = await run.result
        const stored = messageList.get.response.ui().flatMap(({ parts }) => parts)
        const said = message.parts.filter(part => part.type !== 'data-tripwire')
        expect(plainParts(said)).toEqual(plainParts(stored))
      }),
      { numRuns: 100 },
    )
  })
})

/** The page's copy, as `addToolApprovalResponse` changes it. */
function responded(message: UIMessage, decided: readonly ApprovalDecision[]): UIMessage {
  const answers = new Map(decided.map(({ approvalId, approved }) => [approvalId, approved]))
  const parts = message.parts.map(part => {
    if (!isToolUIPart(part) || part.state !== 'approval-requested' || !answers.has(part.approval.id)) return part
    const approval = { ...part.approval, approved: answers.get(part.approval.id)! }
    return { ...part, state: 'approval-responded', approval } as unknown as typeof part
  })
  return { ...message, parts }
}
