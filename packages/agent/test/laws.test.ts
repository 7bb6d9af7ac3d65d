// generate is stream, drained: for random models, tools, approvals and processors.
import { Agent, type Chunk, type LoopResult, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const turn = fc.record({
  text: fc.array(fc.constantFrom('a', 'bb ', 'ccc', '\ud83d\ude00'), { maxLength: 4 }),
  toolCalls: fc.array(
    fc.record({
      toolName: fc.constantFrom('echo', 'breaks', 'asks', 'missing'),
      input: fc.constantFrom({ n: 1 }, { n: 'x' }, {}),
    }),
    { maxLength: 2 },
  ),
  finishReason: fc.constantFrom('stop' as const, 'tool-calls' as const, 'length' as const),
})
const script = fc.array(turn, { minLength: 6, maxLength: 6 })

const input = z.object({ n: z.number() })
const tools = {
  echo: tool({ inputSchema: input, execute: ({ n }) => n }),
  breaks: tool({
    inputSchema: input,
    execute: (): number => {
      throw new Error('broke')
    },
  }),
  asks: tool({ inputSchema: input, needsApproval: ({ n }) => n === 1, execute: ({ n }) => n }),
}

const processors = fc.subarray<Processor>([
  {
    id: 'picky',
    processOutputStep: ({ text, abort }) => void (text.length % 4 === 3 && abort('odd', { retry: true })),
  },
  {
    id: 'final',
    processOutputResult: ({ result, abort }) => void (result.text.length > 9 && abort('long', { retry: true })),
  },
  { id: 'strict', processToolResult: ({ error, abort }) => void (error !== undefined && abort('broken tool')) },
  {
    id: 'upper',
    processOutputStream: ({ part }) =>
      part.type === 'text-delta'
        ? ({ ...part, payload: { ...part.payload, text: part.payload.text.toUpperCase() } } as Chunk)
        : part,
  },
  { id: 'late', processOutputStream: async ({ part }) => (await Promise.resolve(), part) },
])

const hold = fc.constantFrom(undefined, 'step' as const, 'run' as const)
const plan = fc.record({ script, processors, hold, maxProcessorRetries: fc.nat(2) })
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

function agentFor({ script: turns, processors: outputProcessors, hold: held, maxProcessorRetries }: Plan): Agent {
  let count = 0
  return new Agent({
    name: 'law',
    model: scriptedModel(turns),
    tools,
    outputProcessors,
    maxProcessorRetries,
    defaultOptions: { maxSteps: 4, generateId: () => `id-${++count}`, ...(held === undefined ? {} : { hold: held }) },
  }) as unknown as Agent
}

/** All that a result says, without the clock. */
function told({ messageList, response, messages, trace, ...result }: LoopResult): unknown {
  const timeless = JSON.stringify({
    result,
    messages,
    changes: messageList.changes,
    model: response.messages,
  }).replaceAll(/"createdAt":"[^"]*"/g, '')
  return [timeless.replaceAll(/"timeMs":[\d.e-]+/g, ''), String(trace)]
}

const outcomeOf = (agent: Agent): Promise<LoopResult> =>
  agent.generate('Hi').catch((error: { readonly result: LoopResult }) => error.result)

describe('generate and stream', () => {
  it('tell the same, whoever reads what', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async given => {
        const generated = await outcomeOf(agentFor(given))
        const stream = agentFor(given).stream('Hi')
        for await (const _ of stream.fullStream);
        expect(told(await stream.result)).toEqual(told(generated))
      }),
      { numRuns: 200 },
    )
  })

  it('show a reader of text alone what the steps that were accepted said', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async given => {
        const stream = agentFor(given).stream('Hi')
        let text = ''
        for await (const piece of stream.textStream) text += piece
        const { steps, stopReason, tripwire } = await stream.result
        // What was shown cannot be unsaid: only a held run shows nothing of what is refused after its step was accepted.
        fc.pre(given.hold === 'run' || given.processors.every(({ id }) => id !== 'final' && id !== 'strict'))
        fc.pre(stopReason !== 'suspended')
        const isRefusedWhole = tripwire !== undefined && given.hold === 'run'
        expect(text).toBe(isRefusedWhole ? '' : steps.map(step => step.text).join(''))
      }),
      { numRuns: 200 },
    )
  })
})
