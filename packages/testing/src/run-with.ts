// One run of the loop with processors under test: what came of it, what a reader saw, what the model was sent.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { runLoop, type LoopResult, type RunLoopOptions } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList, type MessageInput } from '@lockstep/message-list'
import type { Chunk, Processor, ProcessorArrays } from '@lockstep/processors'
import { wrapLanguageModel } from 'ai'
import { arraysFor } from './processor-places.ts'
import { textOnScreen } from './screen.ts'
import { traceOf, type TraceTree } from './trace-tree.ts'

/** What a run under test is made of. Everything that `runLoop` takes, with defaults. */
export interface RunWithOptions extends Omit<Partial<RunLoopOptions>, keyof ProcessorArrays | 'model' | 'messageList'> {
  /** What the model does, call by call; or a model. */
  readonly model?: readonly ScriptedTurn[] | LanguageModelV4
  /** What is said to it: `'Hello'` when absent. */
  readonly input?: MessageInput | readonly MessageInput[]
  /** What was said before. */
  readonly history?: readonly MessageInput[]
  readonly system?: string | readonly string[]
  /** The conversation, in place of `input`, `history` and `system`. */
  readonly messageList?: MessageList
  /** Other processors of the run: those of a kind come after the ones under test. */
  readonly others?: ProcessorArrays
}

/** A run that is over. */
export interface ProcessorRun {
  readonly result: LoopResult
  readonly chunks: readonly Chunk[]
  /** The text that a reader has on the screen at the end: what was withdrawn is not on it. */
  readonly screen: string
  /** What the model was sent, call by call. */
  readonly prompts: readonly LanguageModelV4Prompt[]
  readonly calls: readonly LanguageModelV4CallOptions[]
  readonly trace: TraceTree
}

/**
 * Runs the loop with a processor, or several in order, in every array where they have a hook.
 *
 * @example
 * const { screen, prompts } = await runWith(myGuard(), { model: ['Call 555-0199.'] })
 */
export async function runWith(
  processors: Processor | readonly Processor[],
  options: RunWithOptions = {},
): Promise<ProcessorRun> {
  const started = startRun(processors, options)
  const chunks: Chunk[] = []
  for (;;) {
    const next = await started.loop.next()
    if (next.done) return endedRun(next.value, chunks, started.calls)
    chunks.push(next.value)
  }
}

/** A run that has not been read from. */
export interface StartedRun {
  readonly loop: AsyncGenerator<Chunk, LoopResult, void>
  readonly model: LanguageModelV4
  readonly calls: readonly LanguageModelV4CallOptions[]
}

/** Starts a run without reading it. */
export function startRun(processors: Processor | readonly Processor[], options: RunWithOptions): StartedRun {
  const { model = [{ text: 'Hello.' }], input = 'Hello', history = [], system = [], others = {}, ...own } = options
  const { model: recorded, calls } = recording('doStream' in model ? model : scriptedModel(model))
  let count = 0
  const generateId = own.generateId ?? (() => `id-${++count}`)
  const arrays = arraysFor([processors].flat())
  const messageList = own.messageList ?? conversation({ input, history, system }, generateId)
  const loop = runLoop({ ...own, generateId, ...joined(arrays, others), model: recorded, messageList })
  return { loop: loop as StartedRun['loop'], model: recorded, calls }
}

/** What can be told of a run when all its chunks have been read. */
export function endedRun(
  result: LoopResult,
  chunks: readonly Chunk[],
  calls: readonly LanguageModelV4CallOptions[],
): ProcessorRun {
  const prompts = calls.map(({ prompt }) => prompt)
  return { result, chunks, screen: textOnScreen(chunks), prompts, calls, trace: traceOf(result) }
}

function conversation(
  { input, history, system }: Required<Pick<RunWithOptions, 'input' | 'history' | 'system'>>,
  generateId: () => string,
): MessageList {
  const list = new MessageList({ generateId })
  list.addSystem(typeof system === 'string' ? system : [...system])
  if (history.length > 0) list.add([...history], 'memory')
  return list.add(Array.isArray(input) ? [...(input as readonly MessageInput[])] : (input as MessageInput), 'input')
}

function joined(arrays: ProcessorArrays, others: ProcessorArrays): ProcessorArrays {
  const names = ['inputProcessors', 'outputProcessors', 'errorProcessors'] as const
  return Object.fromEntries(
    names.flatMap(name => {
      const all = [...(arrays[name] ?? []), ...(others[name] ?? [])]
      return all.length === 0 ? [] : [[name, all]]
    }),
  )
}

/** The model, with the options of each call kept. */
function recording(model: LanguageModelV4): {
  readonly model: LanguageModelV4
  readonly calls: LanguageModelV4CallOptions[]
} {
  const calls: LanguageModelV4CallOptions[] = []
  const wrapped = wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapStream({ params, doStream }) {
        calls.push(params)
        return doStream()
      },
    },
  })
  return { model: wrapped, calls }
}
