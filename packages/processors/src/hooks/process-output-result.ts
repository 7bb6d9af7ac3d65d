// processOutputResult: once, when the loop has ended, over the whole response.
import type { ProcessorContext, StepPosition } from '../context.ts'
import type { HookScope } from './hook-call.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { runMessageHook } from './message-result.ts'
import type { Processor } from '../processor.ts'
import type { OutputResult } from '../step-result.ts'

/** What `processOutputResult` is given. `messages` are the response. */
export type ProcessOutputResultArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & { readonly result: OutputResult }

/** Runs the hook of each processor in order; `at` is read afresh for each, since one may edit the response. */
export function runProcessOutputResult(
  scope: HookScope,
  processors: readonly Processor[],
  at: () => { readonly position: StepPosition; readonly own: { readonly result: OutputResult } },
): MaybePromise<void> {
  return runMessageHook(scope, processors, {
    hook: 'processOutputResult',
    given: list => list.get.response.db(),
    source: 'response',
    empty: 'no-change',
    at,
  })
}
