// An error surfaces once, with its cause, at the place where a user looks: for each hook, tool, callback and provider call.
import { ProcessorError, type Chunk, type LoopResult, type Processor } from '@lockstep/agent'
import { hookNames, type HookName } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, callLook, type Options } from './both-paths.ts'

const broken = new Error('kaput')
const fail = () => {
  throw broken
}

/** Where a user can see an error. */
interface Seen {
  /** What `generate` rejected with. */
  readonly rejected: unknown
  /** What awaiting a promise of `stream` rejected with. */
  readonly awaited: unknown
  readonly errorChunks: readonly unknown[]
  readonly onError: readonly unknown[]
  readonly otherCallbacks: number
  readonly result: LoopResult
}

async function seenIn(
  make: () => { readonly agent: ReturnType<typeof agentOf>['agent']; readonly options?: Options },
): Promise<Seen> {
  const first = make()
  const rejected: unknown = await first.agent.generate('Hello', first.options).catch((error: unknown) => error)
  const { agent, options } = make()
  const onError: unknown[] = []
  let otherCallbacks = 0
  const stream = agent.stream('Hello', {
    ...options,
    onError: ({ error }) => void onError.push(error),
    onFinish: options?.onFinish ?? (() => void otherCallbacks++),
    onAbort: () => void otherCallbacks++,
  })
  const chunks: Chunk[] = []
  for await (const chunk of stream.fullStream) chunks.push(chunk)
  const awaited: unknown = await stream.text.catch((error: unknown) => error)
  const errorChunks = chunks.flatMap(chunk => (chunk.type === 'error' ? [chunk.payload.error] : []))
  return { rejected, awaited, errorChunks, onError, otherCallbacks, result: await stream.result }
}

const arrayOf = (hook: HookName) =>
  ['processInput', 'processInputStep', 'processLLMRequest'].includes(hook)
    ? 'inputProcessors'
    : hook === 'processAPIError'
      ? 'errorProcessors'
      : 'outputProcessors'

/** What makes a hook run at all. */
const turnsFor = (hook: HookName) =>
  hook === 'processAPIError' ? [{ error: new Error('down') }] : [callLook, { text: ['Hi ', 'there'] }]

describe('an error in a hook', () => {
  it.each(hookNames)('%s fails the run once, with the processor, the hook and the cause', async hook => {
    const seen = await seenIn(() =>
      agentOf(turnsFor(hook), {
        [arrayOf(hook)]: [{ id: 'broken', processOutputStream: ({ part }) => part, [hook]: fail } as Processor],
      }),
    )
    expect(ProcessorError.isInstance(seen.rejected)).toBe(true)
    expect(seen.rejected).toMatchObject({
      code: 'hook-failed',
      processorId: 'broken',
      hook,
      cause: broken,
      message: `The processor 'broken' failed in ${hook}: kaput`,
      result: { stopReason: 'error' },
    })
    expect(seen.awaited).toMatchObject({ processorId: 'broken', hook, cause: broken })
    expect(seen.errorChunks).toEqual([seen.awaited])
    expect(seen.onError).toEqual([seen.awaited])
    expect(seen.otherCallbacks).toBe(0)
    expect(seen.result.error).toBe(seen.awaited)
  })

  it.each(hookNames)('%s is skipped where the processor says so, and the trace has it', async hook => {
    const { agent } = agentOf(turnsFor(hook), {
      [arrayOf(hook)]: [
        { id: 'broken', onError: 'skip', processOutputStream: ({ part }) => part, [hook]: fail } as Processor,
      ],
    })
    const result = await agent.stream('Hello').result
    expect(result.stopReason).toBe(hook === 'processAPIError' ? 'error' : 'completed')
    const skipped = result.trace.events.filter(({ effect }) => effect.type === 'skipped')
    expect(skipped.length).toBeGreaterThan(0)
    expect(skipped[0]).toMatchObject({ processorId: 'broken', hook, effect: { error: broken } })
  })
})

describe('an error in a callback', () => {
  it.each<[string, Options]>([
    ['onChunk', { onChunk: fail }],
    ['onStepFinish', { onStepFinish: fail }],
    ['onFinish', { onFinish: fail }],
    ['stopWhen', { stopWhen: fail }],
    ['prepareStep', { prepareStep: fail }],
  ])('%s fails the run once, with the error', async (name, options) => {
    const seen = await seenIn(() => ({ ...agentOf([callLook, 'Hi']), options }))
    const itself = (error: unknown) => (name === 'prepareStep' ? (error as Error).cause : error)
    expect(itself(seen.rejected)).toBe(broken)
    expect(itself(seen.awaited)).toBe(broken)
    expect(seen.errorChunks.map(itself)).toEqual([broken])
    expect(seen.result.stopReason).toBe('error')
  })
})

describe('an error of the provider', () => {
  it.each([
    ['before its stream', { error: broken }],
    [
      'in the middle of its stream',
      {
        parts: [
          { type: 'text-delta', id: '1', delta: 'x' },
          { type: 'error', error: broken },
        ],
      },
    ],
  ])('%s is the error of the run, as it is', async (_, turn) => {
    const seen = await seenIn(() => agentOf([turn as never]))
    expect(seen.rejected).toBe(broken)
    expect(seen.awaited).toBe(broken)
    expect(seen.errorChunks).toEqual([broken])
    expect(seen.onError).toEqual([broken])
    expect(seen.otherCallbacks).toBe(0)
  })
})

describe('an error of a tool', () => {
  it('goes to the model and to the step, and fails nothing', async () => {
    const look = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw broken
      },
    })
    const { agent, model } = agentOf([callLook, 'Sorry.'], { tools: { look } })
    const stream = agent.stream('Hello')
    const chunks: Chunk[] = []
    for await (const chunk of stream.fullStream) chunks.push(chunk)
    const result = await stream.result
    expect(result.stopReason).toBe('completed')
    expect(chunks.flatMap(chunk => (chunk.type === 'tool-error' ? [chunk.payload.error] : []))).toEqual([broken])
    expect(result.steps[0]!.toolErrors).toMatchObject([{ toolName: 'look', error: 'Error: kaput' }])
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt.at(-1))).toContain('Error: kaput')
  })
})
