// The result of a run in the form of the AI SDK's own, for code that was written for those.
import type { LoopResult } from '@lockstep/agent-loop'
import {
  consumeStream,
  createTextStreamResponse,
  createUIMessageStreamResponse,
  pipeTextStreamToResponse,
  pipeUIMessageStreamToResponse,
  toTextStream,
  toUIMessageStream,
  UnsupportedFunctionalityError,
  type AsyncIterableStream,
  type ContentPart,
  type GenerateTextResult,
  type GeneratedFile,
  type StepResult,
  type StreamTextResult,
  type TextStreamPart,
  type ToolSet,
  type UIMessage,
  type UIMessageStreamOptions,
} from 'ai'
import { generatedFileOf, unmeasured } from './ai-sdk-parts.ts'

type Context = Record<string, unknown>
type Generated<TOOLS extends ToolSet> = GenerateTextResult<TOOLS, Context, never>
type Streamed<TOOLS extends ToolSet> = StreamTextResult<TOOLS, Context, never>
type Loop = LoopResult<ToolSet>
type LoopStep = Loop['steps'][number]
type ResponseMessages = StepResult<ToolSet>['response']['messages']

/** What the SDK's `generateText` would have returned. A run without an accepted step has an empty one. */
export function generatedOf<TOOLS extends ToolSet>(loop: Loop): Generated<TOOLS> {
  const steps = loop.steps.map(step => stepOf(loop.runId, step))
  const finalStep = steps.at(-1) ?? emptyStep(loop)
  const all = <K extends 'content' | 'files' | 'sources' | 'staticToolCalls' | 'dynamicToolCalls' | 'toolCalls'>(
    key: K,
  ) => steps.flatMap(step => step[key] as never[])
  const results = <K extends 'staticToolResults' | 'dynamicToolResults' | 'toolResults'>(key: K) =>
    steps.flatMap(step => step[key] as never[])
  return {
    content: all('content'),
    text: finalStep.text,
    reasoning: finalStep.reasoning,
    reasoningText: finalStep.reasoningText,
    files: all('files'),
    sources: all('sources'),
    toolCalls: all('toolCalls'),
    staticToolCalls: all('staticToolCalls'),
    dynamicToolCalls: all('dynamicToolCalls'),
    toolResults: results('toolResults'),
    staticToolResults: results('staticToolResults'),
    dynamicToolResults: results('dynamicToolResults'),
    finishReason: loop.finishReason,
    rawFinishReason: finalStep.rawFinishReason,
    usage: loop.totalUsage,
    totalUsage: loop.totalUsage,
    warnings: steps.flatMap(step => step.warnings ?? []),
    request: finalStep.request,
    response: finalStep.response,
    responseMessages: [...loop.response.messages] as ResponseMessages,
    providerMetadata: finalStep.providerMetadata,
    steps,
    finalStep,
    output: loop.object as never,
  } as unknown as Generated<TOOLS>
}

/** A step as the SDK keeps it. Its content has the kinds in the order of the SDK; times are not measured. */
export function stepOf(callId: string, step: LoopStep): StepResult<ToolSet> {
  const files = step.files.flatMap(file => generatedFileOf(file) ?? [])
  const { toolCalls, toolResults, reasoning, text, sources } = step
  const content = [
    ...reasoning,
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...sources,
    ...files.map(file => ({ type: 'file', file })),
    ...toolCalls,
    ...toolResults,
    ...step.toolErrors,
  ]
  return {
    callId,
    stepNumber: step.stepNumber,
    model: step.model,
    toolsContext: {},
    runtimeContext: {},
    content: content as ContentPart<ToolSet>[],
    text,
    reasoning: [...reasoning],
    reasoningText: step.reasoningText,
    files: files as GeneratedFile[],
    sources: [...sources],
    toolCalls: [...toolCalls],
    staticToolCalls: toolCalls.filter(call => !call.dynamic),
    dynamicToolCalls: toolCalls.filter(call => call.dynamic),
    toolResults: [...toolResults],
    staticToolResults: toolResults.filter(result => !result.dynamic),
    dynamicToolResults: toolResults.filter(result => result.dynamic),
    finishReason: step.finishReason,
    rawFinishReason: step.rawFinishReason,
    usage: step.usage,
    performance: unmeasured,
    warnings: [...step.warnings],
    request: step.request,
    response: {
      id: step.response.id ?? callId,
      timestamp: step.response.timestamp ?? new Date(0),
      modelId: step.response.modelId ?? step.model.modelId,
      ...(step.response.headers === undefined ? {} : { headers: step.response.headers }),
      messages: [],
    },
    providerMetadata: step.providerMetadata,
  } as unknown as StepResult<ToolSet>
}

function emptyStep({ runId, finishReason, totalUsage: usage }: Loop): StepResult<ToolSet> {
  const nothing = { text: '', reasoning: [], reasoningText: undefined, toolCalls: [], toolResults: [], toolErrors: [] }
  const response = { id: undefined, modelId: undefined, timestamp: undefined, headers: undefined }
  return stepOf(runId, {
    ...nothing,
    stepNumber: 0,
    attemptCount: 0,
    model: { provider: '', modelId: '' },
    object: undefined,
    sources: [],
    files: [],
    finishReason,
    rawFinishReason: undefined,
    usage,
    warnings: [],
    request: {},
    response,
    providerMetadata: undefined,
  })
}

/** What a streamed result is made from. */
export interface StreamedSource<TOOLS extends ToolSet> {
  /** Opens a view of the run; only before the first read. */
  readonly open: () => ReadableStream<TextStreamPart<TOOLS>>
  /** Reads to the end. */
  readonly result: () => Promise<Loop>
  readonly tools: TOOLS
}

/** What the SDK's `streamText` would have returned: views of the run, and a promise for each field of its result. */
export function streamedOf<TOOLS extends ToolSet>(source: StreamedSource<TOOLS>): Streamed<TOOLS> {
  let generated: Promise<Generated<TOOLS>> | undefined
  const field = (key: keyof Generated<TOOLS>) => {
    generated ??= source.result().then(loop => generatedOf<TOOLS>(loop))
    const value = generated.then(result => result[key])
    value.catch(() => {})
    return value
  }
  const streamed = viewsOf(source)
  for (const key of resultKeys) Object.defineProperty(streamed, key, { get: () => field(key), enumerable: true })
  return streamed as Streamed<TOOLS>
}

const resultKeys = [
  ...(['content', 'text', 'reasoning', 'reasoningText', 'files', 'sources', 'toolCalls', 'staticToolCalls'] as const),
  ...(['dynamicToolCalls', 'toolResults', 'staticToolResults', 'dynamicToolResults', 'finishReason'] as const),
  ...(['rawFinishReason', 'usage', 'totalUsage', 'warnings', 'request', 'response', 'responseMessages'] as const),
  ...(['providerMetadata', 'steps', 'finalStep', 'output'] as const),
]

function viewsOf<TOOLS extends ToolSet>({ open, tools }: StreamedSource<TOOLS>) {
  const ui = <UI extends UIMessage>(options?: UIMessageStreamOptions<UI>) =>
    toUIMessageStream<TOOLS, UI>({ ...options, stream: open(), tools })
  const text = () => toTextStream({ stream: open() })
  const views: Partial<Streamed<TOOLS>> = {
    get stream() {
      return open() as AsyncIterableStream<TextStreamPart<TOOLS>>
    },
    get fullStream() {
      return open() as AsyncIterableStream<TextStreamPart<TOOLS>>
    },
    get textStream() {
      return text() as AsyncIterableStream<string>
    },
    get partialOutputStream(): never {
      throw noPartialOutput()
    },
    get experimental_partialOutputStream(): never {
      throw noPartialOutput()
    },
    get elementStream(): never {
      throw noPartialOutput()
    },
    consumeStream: options => consumeStream({ stream: open(), ...options }),
    toUIMessageStream: options => ui(options) as never,
    toUIMessageStreamResponse: options => createUIMessageStreamResponse({ ...options, stream: ui(options) as never }),
    pipeUIMessageStreamToResponse: (response, options) =>
      pipeUIMessageStreamToResponse({ ...options, response, stream: ui(options) as never }),
    toTextStreamResponse: init => createTextStreamResponse({ ...init, stream: text() }),
    pipeTextStreamToResponse: (response, init) => pipeTextStreamToResponse({ ...init, response, stream: text() }),
  }
  return views
}

function noPartialOutput(): Error {
  return new UnsupportedFunctionalityError({
    functionality: 'the partial output of an adapted agent: read objectStream of agent.stream()',
  })
}
