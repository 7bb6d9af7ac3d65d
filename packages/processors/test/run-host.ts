// A run without a loop, for the tests of this package: a list with counted ids, models by name, and what was written.
import { MessageList, type AgentMessage, type MessageInput } from '@lockstep/message-list'
import {
  ProcessorRunner,
  RequestContext,
  type Chunk,
  type ChunkNamed,
  type DataChunk,
  type ModelCallRequest,
  type Processor,
  type ProcessorArrays,
  type RunHost,
  type StepPosition,
  type StepResult,
  type StepSettings,
} from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'

export interface TestRun {
  readonly host: RunHost
  readonly runner: ProcessorRunner
  readonly list: MessageList
  readonly controller: AbortController
  /** What processors wrote, with the id of who wrote it. */
  readonly written: { readonly chunk: DataChunk; readonly processorId: string }[]
  /** The detached calls that processors made. */
  readonly modelCalls: { readonly request: ModelCallRequest; readonly processorId: string }[]
  readonly requestContext: RequestContext
}

export interface TestRunOptions extends ProcessorArrays {
  /** What the user says: 'one' and 'two' when absent, with the ids m1 and m2. */
  readonly input?: readonly MessageInput[]
  readonly instructions?: readonly string[]
  readonly requestContext?: RequestContext
  readonly tracingContext?: Readonly<Record<string, unknown>>
}

/** A run at its beginning. */
export function testRun(options: TestRunOptions = {}): TestRun {
  const { input = ['one', 'two'], instructions = [], tracingContext = {}, ...arrays } = options
  const list = listOf(input)
  for (const text of instructions) list.addSystem(text)
  const controller = new AbortController()
  const requestContext = options.requestContext ?? new RequestContext()
  const written: TestRun['written'] = []
  const modelCalls: TestRun['modelCalls'] = []
  const host: RunHost = {
    runId: 'run-1',
    list,
    abortSignal: controller.signal,
    requestContext,
    tracingContext,
    writeData: (chunk, processorId) => Promise.resolve(void written.push({ chunk, processorId })),
    callModel: (request, processorId) => {
      modelCalls.push({ request, processorId })
      return Promise.resolve({ text: 'fine', object: undefined, finishReason: 'stop', usage: {} as never })
    },
    resolveModel: model => {
      if (typeof model === 'string') return modelNamed(model)
      if ('url' in model) return modelNamed(model.id)
      if (['v2', 'v3', 'v4'].includes(model.specificationVersion)) return model as MockLanguageModelV4
      throw new Error(`The model has the specification version '${model.specificationVersion}'; give v2, v3 or v4.`)
    },
  }
  return { host, runner: new ProcessorRunner(arrays, host), list, controller, written, modelCalls, requestContext }
}

/** A list whose messages are m1, m2, … */
function listOf(input: readonly MessageInput[]): MessageList {
  let count = 0
  const list = new MessageList({ generateId: () => `m${++count}`, now: () => new Date(0) })
  if (input.length > 0) list.add(input, 'input')
  return list
}

export const atStart: StepPosition = { stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 }

export function modelNamed(modelId: string): MockLanguageModelV4 {
  return new MockLanguageModelV4({ provider: 'test', modelId })
}

/** The settings of a step that nobody shaped yet. */
export function settingsOf(settings: Partial<StepSettings> = {}): StepSettings {
  return {
    model: modelNamed('original'),
    tools: {},
    toolChoice: undefined,
    activeTools: undefined,
    providerOptions: undefined,
    modelSettings: {},
    structuredOutput: undefined,
    ...settings,
  }
}

/** Shapes the first step by these processors. */
export function inputStep(run: TestRun, settings: Partial<StepSettings> = {}, position = atStart) {
  return run.runner.runProcessInputStep({ position, settings: settingsOf(settings), feedback: undefined })
}

export function chunkOf<T extends 'text-start' | 'text-delta' | 'text-end'>(
  type: T,
  payload: { readonly id?: string; readonly text?: string } = {},
): ChunkNamed<T> {
  return { type, runId: 'run-1', from: 'AGENT', payload: { id: '0', ...payload } } as unknown as ChunkNamed<T>
}

export function text(value: string, id = '0'): ChunkNamed<'text-delta'> {
  return chunkOf('text-delta', { text: value, id })
}

/** What chunks say, for short: the text of a delta, the type of anything else. */
export function said(chunks: Chunk | readonly Chunk[] | undefined): readonly string[] {
  return [chunks ?? []].flat().map((chunk: Chunk) => (chunk.type === 'text-delta' ? chunk.payload.text : chunk.type))
}

function textOf(message: AgentMessage | undefined): string {
  return (message?.content.parts ?? []).map(part => (part.type === 'text' ? part.text : '')).join('')
}

export function textsOf(messages: readonly AgentMessage[]): readonly string[] {
  return messages.map(textOf)
}

/** A copy of a message that says something else. */
export function saying(message: AgentMessage, words: string): AgentMessage {
  return { ...message, content: { ...message.content, parts: [{ type: 'text', text: words }] } }
}

/** A step that said and called nothing. */
export function stepResult(step: Partial<StepResult> = {}): StepResult {
  return { stepNumber: 0, text: '', toolCalls: [], toolResults: [], finishReason: 'stop', ...step } as StepResult
}

/** A processor with one hook. */
export function hooked<T extends Partial<Omit<Processor, 'id'>>>(id: string, hooks: T): Processor & T {
  return { id, ...hooks }
}
