// Runs in which everybody misbehaves: the model, the tools, the processors, the caller. Whatever they do, a run keeps its laws.
import { finishPart } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, DataChunk, Processor, ProcessorContext } from '@lockstep/processors'
import { safeValidateUIMessages, tool, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, screenOf, type Drained } from './drained.ts'

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

const turnOfEvents = () => new Promise<void>(resolve => setImmediate(resolve))
const never = () => new Promise<never>(() => {})
const fails = (error: unknown) => () => Promise.reject(error as Error)
const bare: unknown = Object.create(null)

type Write = (chunk: DataChunk) => Promise<void>
const ok: DataChunk = { type: 'data-ok', id: 'same', data: 1 }
const bad: DataChunk = { type: 'data-bad', data: 1 }

/** What anybody may do who can write: a tool, or a processor in any hook. */
const deeds = {
  'does nothing': () => {},
  'takes its time': turnOfEvents,
  'throws nothing': fails(undefined),
  'throws what has no text': fails(bare),
  'throws what is frozen': fails(Object.freeze(new Error('frozen'))),
  'never returns': never,
  writes: write => write(ok),
  'writes what is refused': write => write(bad),
  'writes what is refused and does not listen': write => write(bad).catch(() => {}),
  'writes what is refused and does not wait': write => void write(bad).catch(() => {}),
  'writes long after': write => void turnOfEvents().then(() => write(bad).catch(() => {})),
} satisfies Record<string, (write: Write) => unknown>
const deed = fc.constantFrom(...(Object.keys(deeds) as (keyof typeof deeds)[]))

const begins = fc.oneof(
  { weight: 9, arbitrary: fc.constant('well') },
  fc.constantFrom('late', 'never', 'with an error', 'with no stream'),
)
const ends = fc.oneof(
  { weight: 9, arbitrary: fc.constant('well') },
  fc.constantFrom('never', 'torn', 'without a finish'),
)
const turn = fc.record({ begins, ends, calls: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')) })

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never

/** A model that says which call it is, so that what was withdrawn can be found anywhere. */
function modelOf(turns: readonly Drawn<typeof turn>[]): MockLanguageModelV4 {
  let callCount = 0
  return new MockLanguageModelV4({
    async doStream() {
      const count = callCount++
      const turn = turns[count % turns.length]!
      if (turn.begins === 'with an error') throw new Error('down')
      if (turn.begins === 'with no stream') return {} as never
      if (turn.begins === 'never') return never()
      if (turn.begins === 'late') await turnOfEvents()
      const parts = [
        { type: 'text-delta', id: 't', delta: `<${count}>` },
        ...turn.calls.map(id => ({ type: 'tool-call', toolCallId: `${count}${id}`, toolName: id, input: '{}' })),
        ...(turn.ends === 'well' ? [finishPart(turn.calls.length > 0 ? 'tool-calls' : 'stop')] : []),
      ]
      let next = 0
      const pull = (controller: ReadableStreamDefaultController) => {
        if (next < parts.length) return controller.enqueue(parts[next++])
        if (turn.ends === 'never') return never()
        return turn.ends === 'torn' ? controller.error(new Error('torn')) : controller.close()
      }
      return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }) }
    },
  })
}

function toolsOf(deedsOf: Readonly<Record<string, keyof typeof deeds>>): ToolSet {
  const tools = Object.entries(deedsOf).map(([name, does]) => {
    const execute = (_: unknown, options: object) => {
      const { writer } = options as Pick<ProcessorContext, 'writer'>
      return deeds[does](chunk => writer.custom(chunk))
    }
    return [name, tool({ inputSchema: z.object({}), execute: execute as () => Promise<void> })] as const
  })
  return Object.fromEntries(tools)
}

const inputHooks = ['processInput', 'processInputStep', 'processLLMRequest'] as const
const outputHooks = ['processOutputStep', 'processToolCall', 'processToolResult', 'processStepEnd'] as const
const hook = fc.constantFrom(...inputHooks, ...outputHooks, 'processOutputResult' as const, 'processRunEnd' as const)
const refusal = fc.constantFrom('no', 'again', undefined)
const processor = fc.record({
  hook,
  does: deed,
  refuses: refusal,
  onError: fc.constantFrom('fail' as const, 'skip' as const),
})

function processorOf({ hook: name, does, refuses, onError }: Drawn<typeof processor>, at: number): Processor {
  const observes = name === 'processStepEnd' || name === 'processRunEnd'
  const act = async ({ writer, abort, retryCount }: ProcessorContext) => {
    if (does !== 'never returns' || name !== 'processRunEnd') await deeds[does](chunk => writer.custom(chunk))
    if (refuses && !observes && retryCount === 0) abort('refused', { retry: refuses === 'again' })
  }
  return { id: `${name}-${at}`, onError, [name]: act } as unknown as Processor
}

/** Refuses bad data, at once or after a while. */
function guardOf(isSlow: boolean): Processor {
  return {
    id: 'guard',
    processDataParts: true,
    processOutputStream({ part, abort }) {
      if (part.type !== 'data-bad') return part
      return isSlow ? turnOfEvents().then(() => abort('bad')) : abort('bad')
    },
  }
}

const run = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  tools: fc.record({ a: deed, b: deed, c: deed }),
  processors: fc.array(processor, { maxLength: 3 }),
  hasSlowGuard: fc.boolean(),
  hold: fc.constantFrom(undefined, undefined, 'step' as const, 'run' as const),
})

/** Goes until nothing has come for some turns of events; then the caller has enough. */
async function played(of: Drawn<typeof run>): Promise<Drained & { readonly prompts: string }> {
  const controller = new AbortController()
  let [hasEnded, chunkCount, quiet] = [false, 0, 0]
  const impatience = async () => {
    for (let before = 0; !hasEnded && quiet < 20; before = chunkCount) {
      await turnOfEvents()
      quiet = chunkCount === before ? quiet + 1 : 0
    }
    controller.abort(new Error('enough'))
  }
  const processors = of.processors.map(processorOf)
  const isInput = ({ id }: Processor) => inputHooks.some(name => id.startsWith(`${name}-`))
  const model = modelOf(of.turns)
  const waiting = impatience()
  const drained = await drain({
    model,
    tools: toolsOf(of.tools),
    inputProcessors: processors.filter(isInput),
    outputProcessors: [...processors.filter(one => !isInput(one)), guardOf(of.hasSlowGuard)],
    errorProcessors: [{ id: 'again', processAPIError: () => ({ retry: true }) }],
    hold: of.hold,
    maxSteps: 3,
    maxProcessorRetries: 2,
    abortSignal: controller.signal,
    onChunk: () => void chunkCount++,
  })
  hasEnded = true
  await waiting
  return { ...drained, prompts: JSON.stringify(model.doStreamCalls.map(({ prompt }) => prompt)) }
}

/** What readers were told to forget. */
function withdrawnOf(chunks: readonly Chunk[]): readonly string[] {
  let shown: string[] = []
  const withdrawn: string[] = []
  for (const chunk of chunks) {
    if (chunk.type === 'step-start') shown = []
    if (chunk.type === 'text-delta') shown.push(chunk.payload.text)
    if (chunk.type === 'step-reset') withdrawn.push(...shown.splice(0))
  }
  return withdrawn
}

describe('a run in which everybody misbehaves', () => {
  it('ends as it says, shows nothing that a guard refused, and keeps nothing that was withdrawn', async () => {
    await fc.assert(
      fc.asyncProperty(run, async one => {
        const { result, chunks, types, prompts } = await played(one)
        expect(types.filter(type => type === 'finish')).toHaveLength(1)
        expect(chunks.at(-1)).toMatchObject({ type: 'finish', payload: { stopReason: result.stopReason } })
        for (const type of ['abort', 'tripwire', 'error'] as const)
          expect(types.includes(type)).toBe(result.stopReason === (type === 'abort' ? 'aborted' : type))
        expect(types).not.toContain('data-bad')
        const kept = JSON.stringify([result.messages, result.steps, prompts])
        expect(withdrawnOf(chunks).filter(text => kept.includes(text))).toEqual([])
        const isWhole = result.stopReason === 'completed' || result.stopReason === 'max-steps'
        const text = result.steps.map(step => step.text).join('|')
        expect(screenOf(chunks)).toBe(isWhole ? text : screenOf(chunks))
        const saved = JSON.parse(JSON.stringify(result.messageList.toJSON()))
        expect(MessageList.fromJSON(saved).toJSON()).toEqual(saved)
        const ui = JSON.parse(JSON.stringify(result.messageList.get.all.ui()))
        expect(await safeValidateUIMessages({ messages: ui })).toMatchObject({ success: true })
      }),
      { numRuns: 300 },
    )
    await turnOfEvents()
    expect(unhandled).toEqual([])
  })
})
