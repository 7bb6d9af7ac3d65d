// What a run leaves behind: a value, whatever way it ended.
import type { AgentMessage, MessageList, Views } from '@lockstep/message-list'
import type { ReasoningOutput, StepRecord, StepResult, StopReason, ToolCallInfo, TripWire } from '@lockstep/processors'
import type {
  FinishReason,
  LanguageModelUsage,
  ModelMessage,
  ToolSet,
  TypedToolCall,
  TypedToolError,
  TypedToolResult,
} from 'ai'
import { lazyProperty } from '../lazy-property.ts'
import type { LoopState } from './loop-state.ts'
import type { PendingApproval } from '../tools/pending-approval.ts'
import type { Run } from './run.ts'
import { noResponse } from '../step/step-result-of.ts'
import type { RunTrace } from './trace.ts'
import { sumUsage } from './usage.ts'

/** What was refused: kept here and nowhere else. */
export interface RejectedOutput {
  readonly text: string
  readonly toolCalls: readonly ToolCallInfo[]
  /** The steps that were withdrawn although their tools had run. */
  readonly steps: readonly StepResult[]
}

/** A refusal that ended a run, and what it refused. */
export interface RunTripwire {
  readonly reason: string
  readonly retry: boolean
  readonly metadata: unknown
  readonly processorId: string
  readonly hook: string
  readonly rejected: RejectedOutput
}

/** The result of a run. */
export type LoopResult<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> = RunRecord<
  TypedToolCall<TOOLS>,
  TypedToolResult<TOOLS>,
  TypedToolError<TOOLS>,
  OBJECT
>

/** A `LoopResult` by what its calls are, so that the result of known tools is a result of any tools. */
export interface RunRecord<CALL, RESULT, ERROR, OBJECT> {
  readonly runId: string
  /** The text of the last accepted step, as the processors left it. */
  readonly text: string
  /** The reasoning of the last accepted step, in its parts. */
  readonly reasoning: readonly ReasoningOutput[]
  readonly reasoningText: string | undefined
  /**
   * The structured output, of the schema that the run was given: always so when the run was `completed`, unless its
   * `errorStrategy` is `warn`. Undefined when a tripwire, an abort or an error came before.
   */
  readonly object: OBJECT | undefined
  /** The accepted steps. */
  readonly steps: readonly StepRecord<CALL, RESULT, ERROR>[]
  readonly toolCalls: readonly CALL[]
  readonly toolResults: readonly RESULT[]
  /** Of the accepted steps. */
  readonly usage: LanguageModelUsage
  /** Of every call that a provider reported: withdrawn attempts and the calls of processors too. */
  readonly totalUsage: LanguageModelUsage
  readonly finishReason: FinishReason
  readonly stopReason: StopReason
  readonly tripwire: RunTripwire | undefined
  /** The calls that wait for a person, when `stopReason` is `'suspended'`. */
  readonly pendingApprovals: readonly PendingApproval[]
  /** The run as JSON, when `stopReason` is `'suspended'`: `resumeLoop` goes on from it, in this process or another. */
  readonly loopState: LoopState | undefined
  /** Of the last accepted step, with all that the run added to the conversation as the model reads it. */
  readonly response: StepResult['response'] & { readonly messages: readonly ModelMessage[] }
  /** What the model and its tools added to the conversation. */
  readonly messages: readonly AgentMessage[]
  readonly messageList: MessageList
  readonly warnings: readonly string[]
  /** What failed, when `stopReason` is `'error'`. */
  readonly error: unknown
  /** The signal's reason, when `stopReason` is `'aborted'`. */
  readonly abortReason: unknown
  readonly trace: RunTrace
}

/** How a run ends. */
export interface Ending {
  readonly stopReason: StopReason
  readonly tripwire?: TripWire
  readonly error?: unknown
}

/** Makes the result of a run that has ended. */
export function resultOf(run: Run, ending: Ending): LoopResult {
  const steps = run.stepResults
  const last = steps.at(-1)
  return Object.freeze({
    runId: run.runId,
    text: last?.text ?? '',
    reasoning: last?.reasoning ?? [],
    reasoningText: last?.reasoningText,
    object: run.object,
    steps,
    toolCalls: joined(steps.map(step => step.toolCalls)),
    toolResults: joined(steps.map(step => step.toolResults)),
    usage: sumUsage(steps.map(step => step.usage)),
    totalUsage: run.usage.total,
    finishReason: finishReasonOf(run, ending),
    stopReason: ending.stopReason,
    tripwire: tripwireOf(run, ending.tripwire),
    ...suspensionOf(run, ending),
    response: responseOf(run, last),
    messages: run.list.get.response.db(),
    messageList: run.list,
    warnings: [...run.warnings],
    error: ending.stopReason === 'error' ? ending.error : undefined,
    abortReason: ending.stopReason === 'aborted' ? ending.error : undefined,
    trace: run.recorder.finish({
      runId: run.runId,
      processors: run.runner.plan.processors.map(({ id, name = id, description }) => ({ id, name, description })),
      events: run.runner.ledger.events,
      totals: run.runner.ledger.totals,
      usageByProcessor: run.usage.byProcessor,
      stopReason: ending.stopReason,
    }),
  })
}

/** The items of all lists. They are spread one by one: V8 flattens frozen arrays many times slower. */
function joined<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const all: T[] = []
  for (const list of lists) all.push(...list)
  return all
}

/** What waits for a person. */
function suspensionOf(run: Run, { stopReason }: Ending): Pick<LoopResult, 'pendingApprovals' | 'loopState'> {
  if (stopReason !== 'suspended') return { pendingApprovals: [], loopState: undefined }
  const pendingApprovals = run.pendingCalls.map(({ dynamic: _, ...pending }) => pending)
  return { pendingApprovals, loopState: run.loopState }
}

/** They are converted when somebody asks for them. */
const withMessages = lazyProperty('messages', (view: Views['response']) => view.model())

function responseOf(run: Run, last: StepResult | undefined): LoopResult['response'] {
  const { id, modelId, timestamp, headers } = last?.response ?? noResponse
  return Object.freeze(withMessages({ id, modelId, timestamp, headers }, run.list.get.response))
}

function tripwireOf(run: Run, tripwire: TripWire | undefined): RunTripwire | undefined {
  if (!tripwire) return undefined
  const { reason, retry, metadata, processorId, hook } = tripwire
  return { reason, retry, metadata, processorId, hook, rejected: run.rejected }
}

/** Why the model stopped, as far as that is why the run ended. */
export function finishReasonOf(run: Run, { stopReason }: Ending): FinishReason {
  if (stopReason === 'error') return 'error'
  if (stopReason === 'tripwire' || stopReason === 'aborted') return 'other'
  if (stopReason === 'suspended') return run.attempt!.summary!.finishReason
  return run.stepResults.at(-1)?.finishReason ?? 'other'
}
