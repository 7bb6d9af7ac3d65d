// What a run is started with.
import type { MessageList } from '@lockstep/message-list'
import type {
  Chunk,
  ModelChoice,
  ModelSettings,
  PrepareStep,
  ProcessorArrays,
  ProviderOptions,
  RequestContext,
  StepResult,
  StructuredOutput,
  TracingContext,
} from '@lockstep/processors'
import type {
  StepResult as AISDKStepResult,
  StopCondition,
  TelemetryOptions,
  ToolApprovalConfiguration,
  ToolCallRepairFunction,
  ToolChoice,
  ToolSet,
} from 'ai'
import type { Download } from '../model/file-downloads.ts'
import type { LoopState } from './loop-state.ts'
import type { LoopResult } from './loop-result.ts'
import type { Steering } from './steering.ts'
import type { Timeouts } from './timeouts.ts'

/** How many steps a run may take when nothing is said. */
export const defaultMaxSteps = 20

/** Told about a run as it goes. Exactly one of `onFinish`, `onError` and `onAbort` is called, once. */
export interface RunCallbacks<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> {
  readonly onChunk?: (chunk: Chunk) => void | PromiseLike<void>
  /** `loopState()` saves the run as it is between two steps, for a durable engine: `resumeLoop` goes on from there. */
  readonly onStepFinish?: (
    step: StepResult<TOOLS>,
    run: { readonly loopState: () => LoopState },
  ) => void | PromiseLike<void>
  readonly onFinish?: (result: LoopResult<TOOLS, OBJECT>) => void | PromiseLike<void>
  readonly onError?: (event: {
    readonly error: unknown
    readonly result: LoopResult<TOOLS, OBJECT>
  }) => void | PromiseLike<void>
  readonly onAbort?: (event: {
    readonly reason: unknown
    readonly result: LoopResult<TOOLS, OBJECT>
  }) => void | PromiseLike<void>
}

/** The contexts of tools by their names, as their schemas say. */
export type ToolsContext<TOOLS extends ToolSet> = Partial<AISDKStepResult<TOOLS, never>['toolsContext']>

/** Everything `runLoop` takes. */
export interface RunLoopOptions<TOOLS extends ToolSet = ToolSet, OBJECT = unknown>
  extends ProcessorArrays, RunCallbacks<TOOLS, OBJECT> {
  readonly model: ModelChoice
  /** The conversation: what was remembered, the system messages, the new input. The run writes to it. */
  readonly messageList: MessageList
  readonly tools?: TOOLS
  readonly toolChoice?: ToolChoice<TOOLS>
  readonly activeTools?: readonly (keyof TOOLS & string)[]
  readonly modelSettings?: ModelSettings
  readonly providerOptions?: ProviderOptions
  /** The object that the run is to give. Its last step calls no tools, so that there is room for the answer. */
  readonly structuredOutput?: StructuredOutput<OBJECT>
  /** Shapes each step, after all processors. */
  readonly prepareStep?: PrepareStep<TOOLS>
  /** How often processors may ask for another attempt, in the whole run. Unset: a retry is an abort; 10 with error processors. */
  readonly maxProcessorRetries?: number
  /** Keeps chunks back until their step is accepted, or until the whole run is. */
  readonly hold?: 'step' | 'run'
  /** 20 when absent. */
  readonly maxSteps?: number
  /** Ends the run after a step when one of them says so. */
  readonly stopWhen?: StopCondition<TOOLS, never> | readonly StopCondition<TOOLS, never>[]
  /** How many tools may run at once. 10 when absent. */
  readonly toolConcurrency?: number
  /** Which calls need a person, by tool or for all; it comes before what a tool says itself, and after `processToolCall`. */
  readonly toolApproval?: ToolApprovalConfiguration<TOOLS, RequestContext>
  /** Signs requests for approval, so that an answer in a client's message can be believed. */
  readonly approvalSecret?: string | Uint8Array
  /** What each tool is given as its `context`, checked by its `contextSchema`. */
  readonly toolsContext?: ToolsContext<TOOLS>
  /** The way to speak to the run while it goes. */
  readonly steering?: Steering
  readonly repairToolCall?: ToolCallRepairFunction<TOOLS>
  /** Fetches files that the provider cannot fetch itself; `createDownload()` of the AI SDK when absent. */
  readonly download?: Download
  readonly abortSignal?: AbortSignal
  /** Of the whole run in milliseconds, or limits of its parts. */
  readonly timeout?: number | Timeouts
  readonly requestContext?: RequestContext
  readonly tracingContext?: TracingContext
  /** As in the AI SDK: integrations that were registered are told without it. */
  readonly telemetry?: TelemetryOptions
  readonly runId?: string
  /** Makes ids of runs and messages. */
  readonly generateId?: () => string
}
