// processStepEnd: the step is committed, tool results included. Observes.
import type { ProcessorContext, StepPosition } from '../context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { eachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { Processor } from '../processor.ts'
import type { StepResult } from '../step-result.ts'

/** What `processStepEnd` is given: the committed step. `abort` in it is an error. */
export type ProcessStepEndArgs<TState extends object = Record<string, unknown>> = ProcessorContext<never, TState> & {
  readonly step: StepResult
}

/** Runs the hook of each processor in order. */
export function runProcessStepEnd(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly step: StepResult },
): MaybePromise<void> {
  return eachInOrder(processors, processor => {
    const call = new HookCall(scope, processor, { hook: 'processStepEnd', position: at.position })
    const args = { ...call.context(), step: at.step } as ProcessStepEndArgs
    return call.run(args, undefined)
  })
}
