import { Agent, type AgentStream, type Chunk, type Processor } from '@lockstep/agent'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { toUIMessageStream, type RunPlan } from '@lockstep/agent/ui'
import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatOf, chunksOf, messageFrom, plainParts, textOf } from './ui-client.ts'

/** A refusal by one of the hooks: the first few times that the hook is called, as the script says. */
interface Refusal {
  readonly hook:
    | 'processOutputStream'
    | 'processOutputStep'
    | 'processToolCall'
    | 'processToolResult'
    | 'processOutputResult'
  readonly calls: readonly ('pass' | 'retry' | 'abort')[]
}

const inputs = fc.record({ n: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('no number' as const)) })
const toolCalls = fc.array(
  fc.record({ toolName: fc.constantFrom('double', 'fail', 'unknown', 'count'), input: inputs }),
  { maxLength: 2 },
)
const turns = fc.array(
  fc.record({
    text: fc.option(fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }), {
      nil: undefined,
    }),
    reasoning: fc.option(fc.string({ minLength: 1, maxLength: 4 }), { nil: undefined }),
    toolCalls,
  }),
  { minLength: 1, maxLength: 4 },
)
const refusals = fc.array(
  fc.record({
    hook: fc.constantFrom<Refusal['hook']>(
      'processOutputStream',
      'processOutputStep',
      'processToolCall',
      'processToolResult',
      'processOutputResult',
    ),
    calls: fc.array(fc.constantFrom('pass', 'pass', 'retry', 'abort'), { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 2 },
)

const tools = {
  double: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 }),
  fail: tool({
    inputSchema: z.object({ n: z.number() }),
    execute: (): number => {
      throw new RangeError('out of range')
    },
  }),
  count: tool({
    inputSchema: z.object({ n: z.number() }),
    async *execute({ n }) {
      for (let index = 0; index <= Math.min(n, 2); index++) yield await Promise.resolve({ index })
    },
  }),
}

interface HookArguments {
  readonly part?: Chunk
  readonly abort: (reason: string, options: { readonly retry: boolean }) => never
}

const processorOf = ({ hook, calls }: Refusal, index: number): Processor => {
  let count = 0
  return {
    id: `refusal-${index}`,
    [hook]: ({ part, abort }: HookArguments) => {
      const verdict = calls[count++] ?? 'pass'
      if (verdict !== 'pass') abort(`${hook} says ${verdict}`, { retry: verdict === 'retry' })
      return part
    },
  } as Processor
}

const steering = fc.option(fc.nat(15), { nil: undefined })

/** The agent's run of a script; when that many chunks were shown, somebody says something. */
const runOf = (script: readonly ScriptedTurn[], refused: readonly Refusal[], steerAt?: number) => {
  const plan: RunPlan = { tools, outputProcessors: refused.map(processorOf) }
  const turnAt = (index: number): ScriptedTurn => script[index] ?? 'The end.'
  const model = scriptedModel(Array.from({ length: 60 }, (_, index) => () => turnAt(index)))
  const agent = new Agent({ name: 'law', model, tools, maxProcessorRetries: 8 })
  let chunkCount = 0
  const stream: AgentStream<typeof tools> = agent.stream('Go!', {
    outputProcessors: plan.outputProcessors ?? [],
    maxSteps: 12,
    onChunk: () => void (chunkCount++ === steerAt && stream.steer('Faster!')),
  })
  return { stream, plan }
}

describe('for any script and any refusals', () => {
  it.each([
    ['with the plan of the run', true],
    ['without it', false],
  ])('the client ends with what the conversation holds, %s', async (_, known) => {
    await fc.assert(
      fc.asyncProperty(turns, refusals, steering, async (script, refused, steerAt) => {
        const { stream, plan } = runOf(script, refused, steerAt)
        const chunks = await chunksOf(toUIMessageStream(stream.fullStream, known ? { plan: () => plan } : {}))
        const { messageList, tripwire } = await stream.result
        const message = await messageFrom(chunks)
        // A message that was put in before the first answer is one of its own in the conversation.
        const stored = messageList
          .toUIMessages()
          .slice(1)
          .flatMap(({ role, parts }): readonly object[] =>
            role === 'user' ? [{ type: 'steering-message', parts }] : parts,
          )
        const said = message.parts.filter(part => part.type !== 'data-tripwire')
        expect(plainParts(said)).toEqual(plainParts(stored))
        expect(message.parts.filter(part => part.type === 'data-tripwire')).toHaveLength(tripwire ? 1 : 0)
      }),
      { numRuns: 200 },
    )
  })

  it('useChat ends with the same message as the plain reader, and shows only what was said', async () => {
    await fc.assert(
      fc.asyncProperty(turns, refusals, async (script, refused) => {
        const first = runOf(script, refused)
        const second = runOf(script, refused)
        const chat = chatOf(() => toUIMessageStream(first.stream.fullStream, { plan: () => first.plan }))
        await chat.sendMessage({ text: 'Go!' })
        expect(chat.error).toBeUndefined()
        const read = await messageFrom(
          await chunksOf(toUIMessageStream(second.stream.fullStream, { plan: () => second.plan })),
        )
        expect(chat.messages).toHaveLength(2)
        expect(plainParts(chat.messages[1]!.parts)).toEqual(plainParts(read.parts))
        expect(textOf(chat.messages[1]!)).toBe((await first.stream.result).steps.map(step => step.text).join(''))
      }),
      { numRuns: 60 },
    )
  })
})
