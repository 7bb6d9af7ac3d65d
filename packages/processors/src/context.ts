// What every hook is given, and what a run must offer so that it can be given.
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { MessageList, AgentMessage, SystemMessage } from '@lockstep/message-list'
import type { LanguageModelUsage } from 'ai'
import type { CallModel, ModelChoice, ModelCallRequest, ModelCallResult } from './call-model.ts'
import type { DataChunk } from './chunk.ts'
import type { LedgerEvent } from './ledger.ts'
import type { RequestContext } from './request-context.ts'
import type { StepResult } from './step-result.ts'
import type { Abort } from './trip-wire.ts'
import type { ProcessorStreamWriter } from './writer.ts'

/** Identifiers of the caller's own tracing, handed through untouched. */
export type TracingContext = Readonly<Record<string, unknown>>

/** The context that every hook has, whatever it adds of its own. */
export interface ProcessorContext<TTripwireMetadata = unknown, TState extends object = Record<string, unknown>> {
  /** A frozen snapshot; which messages it holds depends on the hook. System messages are never among them. */
  readonly messages: readonly AgentMessage[]
  /** The conversation itself. What is written here carries this processor's name. */
  readonly messageList: MessageList
  readonly systemMessages: readonly SystemMessage[]
  /** The current step, counted from 0. */
  readonly stepNumber: number
  /** The accepted steps so far; in `processOutputStep` the current one too. */
  readonly steps: readonly StepResult[]
  /** One object per processor id and run, the same in every hook. It starts empty. */
  readonly state: Partial<TState>
  /** How often processors have asked for another attempt in this run. */
  readonly retryCount: number
  /** What providers have reported in this run: withdrawn attempts and the calls of processors are in it. */
  readonly totalUsage: LanguageModelUsage
  readonly abort: Abort<TTripwireMetadata>
  readonly abortSignal: AbortSignal
  readonly requestContext: RequestContext
  readonly writer: ProcessorStreamWriter
  readonly tracingContext: TracingContext
  /** A detached model call: its tokens never reach the user's stream, its usage is booked to this processor. */
  readonly callModel: CallModel
}

/** Where in the run a hook is called. */
export interface StepPosition {
  readonly stepNumber: number
  readonly attemptNumber: number
  readonly steps: readonly StepResult[]
  readonly retryCount: number
}

/** What one hook call did, and when. */
export interface HookEffect {
  readonly event: LedgerEvent
  /** The same object for all effects of one call. */
  readonly call: object
  /** The tool call that it was about, where hooks of several run side by side. */
  readonly toolCallId: string | undefined
  /** Units: milliseconds, as `performance.now()` counts them. */
  readonly startedAt: number
  readonly endedAt: number
}

/** When no provider has reported anything. */
export const noUsage: LanguageModelUsage = Object.freeze({
  inputTokens: undefined,
  inputTokenDetails: Object.freeze({
    noCacheTokens: undefined,
    cacheReadTokens: undefined,
    cacheWriteTokens: undefined,
  }),
  outputTokens: undefined,
  outputTokenDetails: Object.freeze({ textTokens: undefined, reasoningTokens: undefined }),
  totalTokens: undefined,
})

/** What a run offers to its processors. The loop implements it; tests may too. */
export interface RunHost {
  readonly runId: string
  readonly list: MessageList
  readonly abortSignal: AbortSignal
  readonly requestContext: RequestContext
  readonly tracingContext: TracingContext
  /** Everything that providers have reported so far; nothing when absent. */
  readonly totalUsage?: LanguageModelUsage
  /** Shows application data; `processorId` is its writer, which does not see it again. */
  writeData(chunk: DataChunk, processorId: string): Promise<void>
  callModel(request: ModelCallRequest, processorId: string): Promise<ModelCallResult>
  resolveModel(model: ModelChoice): LanguageModelV4
  /** Told when a hook has done something. */
  onEffect?(effect: HookEffect): void
}
