// processOutputStep: after the model has answered and before tools run. The place for guards.
import type { FinishReason, LanguageModelUsage } from 'ai'
import type { ProcessorContext, StepPosition } from '../context.ts'
import type { HookScope } from './hook-call.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { runMessageHook } from './message-result.ts'
import type { Processor } from '../processor.ts'

/** A tool call as guards see it. */
export interface ToolCallInfo {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/** What the model answered in this attempt. */
export interface StepOutput {
  readonly finishReason: FinishReason
  readonly toolCalls: readonly ToolCallInfo[]
  readonly text: string
  readonly usage: LanguageModelUsage
}

/** What `processOutputStep` is given. `steps` include the current one. */
export type ProcessOutputStepArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & StepOutput

/** Runs the hook of each processor in order. */
export function runProcessOutputStep(
  scope: HookScope,
  processors: readonly Processor[],
  at: () => { readonly position: StepPosition; readonly own: StepOutput },
): MaybePromise<void> {
  return runMessageHook(scope, processors, {
    hook: 'processOutputStep',
    given: list => list.get.all.db(),
    source: 'response',
    empty: 'no-change',
    at,
  })
}
