// What holds for the telemetry of every run, however it goes and ends: found by random scripts.
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { finishPart, streamOf } from '@lockstep/agent-loop/testing'
import { LegacyOpenTelemetry } from '@ai-sdk/otel'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { tool, type Telemetry } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { disorderIn, recording } from './recording.ts'
import { spanRecorder } from './span-tree.ts'

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

type Part = Parameters<typeof streamOf>[0][number]

const secret = 'the model said'
const call = (toolName: string, toolCallId: string): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: '{"n":1}',
})
const part = fc.oneof(
  fc.constant<Part>({ type: 'text-delta', id: '0', delta: secret }),
  fc
    .tuple(fc.constantFrom('echo', 'throws', 'ask', 'client', 'missing'), fc.constantFrom('a', 'b', 'c'))
    .map(([name, id]) => call(name, id)),
  { weight: 1, arbitrary: fc.constant<Part>({ type: 'error', error: new Error('mid-stream') }) },
)
const ending = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('stop' as const, 'length' as const).map(reason => [finishPart(reason)]) },
  { weight: 1, arbitrary: fc.constant<Part[]>([]) },
)
const turns = fc.array(
  fc.tuple(fc.array(part, { maxLength: 4 }), ending).map(([parts, end]) => [...parts, ...end]),
  { minLength: 1, maxLength: 4 },
)

const schema = z.object({ n: z.number() })
const tools = {
  echo: tool({ inputSchema: schema, execute: async ({ n }) => (await Promise.resolve(), n) }),
  throws: tool({ inputSchema: schema, execute: (): string => { throw new Error('tool broke') } }), // prettier-ignore
  ask: tool({ inputSchema: schema, needsApproval: true, execute: () => 'ran' }),
  client: tool({ inputSchema: schema }),
}

const hooks = [
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processOutputStream',
  'processLLMResponse',
  'processOutputStep',
  'processToolCall',
  'processToolResult',
  'processStepEnd',
  'processOutputResult',
  'processRunEnd',
] as const
const inputHooks: ReadonlySet<string> = new Set([
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processLLMResponse',
])

interface Mischief {
  readonly hook: (typeof hooks)[number]
  readonly does: 'refuse' | 'retry' | 'throw' | 'skip' | 'change'
  /** The call of the hook in which it happens; from then on always. */
  readonly after: number
}

const mischief: fc.Arbitrary<Mischief> = fc.record({
  hook: fc.constantFrom(...hooks),
  does: fc.constantFrom('refuse' as const, 'retry' as const, 'throw' as const, 'skip' as const, 'change' as const),
  after: fc.nat(3),
})

/** A processor that behaves for a while. */
function processorOf({ hook, does, after }: Mischief, index: number): Processor {
  let count = 0
  const act = (args: { readonly abort: (reason: string, options: object) => never; readonly part?: Chunk }) => {
    const fine = hook === 'processOutputStream' ? args.part : undefined
    if (count++ < after) return fine
    if (does === 'refuse' || does === 'retry') return args.abort('no', { retry: does === 'retry' })
    if (does === 'throw' || does === 'skip') throw new Error('broken')
    if (hook === 'processToolResult') return { output: 'changed' }
    if (hook === 'processInputStep') return { modelSettings: { temperature: 0 } }
    return hook === 'processOutputStream' ? null : undefined
  }
  return { id: `p${index}`, ...(does === 'skip' ? { onError: 'skip' } : {}), [hook]: act }
}

interface Scenario {
  readonly script: readonly (readonly Part[])[]
  readonly mischiefs: readonly Mischief[]
  readonly retriesErrors: boolean
  /** The chunk after which the reader aborts the run, or leaves it. */
  readonly stop: { readonly after: number; readonly by: 'abort' | 'leave' } | undefined
  readonly toolConcurrency?: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  script: turns,
  mischiefs: fc.array(mischief, { maxLength: 3 }),
  retriesErrors: fc.boolean(),
  stop: fc.option(fc.record({ after: fc.nat(12), by: fc.constantFrom('abort' as const, 'leave' as const) }), {
    nil: undefined,
  }),
})

/** Plays a scenario; a run that is left has no result. */
async function play(
  { script, mischiefs, retriesErrors, stop, toolConcurrency = 10 }: Scenario,
  integrations: readonly Telemetry[],
) {
  let callCount = 0
  let idCount = 0
  const abort = new AbortController()
  const processors = mischiefs.map(processorOf)
  const isInput = ({ hook }: Mischief) => inputHooks.has(hook)
  const loop = runLoop({
    model: new MockLanguageModelV4({
      doStream: () => Promise.resolve({ stream: streamOf(script[callCount++ % script.length]!) }),
    }),
    messageList: new MessageList({ generateId: () => `m${++idCount}` }).add('Hello', 'input'),
    generateId: () => `id-${++idCount}`,
    tools,
    maxSteps: 2,
    toolConcurrency,
    maxProcessorRetries: 2,
    inputProcessors: processors.filter((_, index) => isInput(mischiefs[index]!)),
    outputProcessors: processors.filter((_, index) => !isInput(mischiefs[index]!)),
    errorProcessors: retriesErrors ? [{ id: 'again', processAPIError: () => ({ retry: true }) }] : [],
    abortSignal: abort.signal,
    telemetry: { integrations: [...integrations], isEnabled: integrations.length > 0 },
  })
  const chunks: Chunk[] = []
  let result: LoopResult | undefined
  for (;;) {
    const next = await loop.next()
    if (next.done) {
      result = next.value
      break
    }
    chunks.push(next.value)
    if (chunks.length !== stop?.after) continue
    if (stop.by === 'abort') abort.abort(new Error('enough'))
    else await loop.return(undefined as never)
  }
  return { chunks, result }
}

const stepsWithoutEnd: Scenario = {
  script: [[call('echo', 'a'), finishPart('stop')]],
  mischiefs: [],
  retriesErrors: false,
  stop: undefined,
}

describe('every run that is told', () => {
  it('ends all that it begins, once and from the inside out', async () => {
    const endings = new Set<string>()
    await fc.assert(
      fc.asyncProperty(scenario, async given => {
        const recorder = recording()
        const tracers = [spanRecorder(), spanRecorder({}, LegacyOpenTelemetry)]
        const integrations = [recorder.integration, ...tracers.map(({ integration }) => integration)]
        const { result } = await play(given, integrations)
        endings.add(result?.stopReason ?? 'left')
        expect(disorderIn(recorder.told)).toEqual([])
        for (const { spans, startedCount } of tracers) {
          expect(spans).toHaveLength(startedCount)
          expect(new Set(spans.map(span => span.spanContext().traceId)).size).toBe(1)
        }
      }),
      { numRuns: 400, examples: [[stepsWithoutEnd]] },
    )
    const all = ['aborted', 'completed', 'error', 'max-steps', 'suspended', 'tripwire']
    expect([...endings].toSorted()).toEqual(expect.arrayContaining(all))
    expect(unhandled).toEqual([])
  })

  it('goes as it goes when nobody is told', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async given => {
        // One tool after the other: which of two is first may change with who listens.
        const quiet = { ...given, stop: undefined, toolConcurrency: 1 }
        const [alone, told] = [await play(quiet, []), await play(quiet, [recording().integration])]
        expect(JSON.stringify(told.chunks)).toBe(JSON.stringify(alone.chunks))
        expect(String(told.result!.trace)).toBe(String(alone.result!.trace))
        expect(told.result!.totalUsage).toEqual(alone.result!.totalUsage)
      }),
      { numRuns: 150 },
    )
  })

  it('never tells the output of a run that was withdrawn', async () => {
    const guards: Mischief[] = [{ hook: 'processOutputStep', does: 'refuse', after: 0 }]
    await fc.assert(
      fc.asyncProperty(scenario, async ({ script }) => {
        const recorder = recording()
        await play({ script, mischiefs: guards, retriesErrors: false, stop: undefined }, [recorder.integration])
        expect(JSON.stringify(recorder.told)).not.toContain(secret)
      }),
      { numRuns: 50 },
    )
  })
})
