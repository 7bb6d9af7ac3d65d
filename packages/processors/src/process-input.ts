// processInput: once, before the loop, over the new input.
import type { ProcessorContext, StepPosition } from './context.ts'
import type { HookScope } from './hook-call.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { runMessageHook, type MessageResult } from './message-result.ts'
import type { Processor } from './processor.ts'

/** What `processInput` is given: `messages` are the new input; the history is `messageList.get.remembered`. */
export type ProcessInputArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState>

/** What `processInput` may return. */
export type ProcessInputResult = MessageResult

/** Runs the hook of each processor in order. */
export function runProcessInput(
  scope: HookScope,
  processors: readonly Processor[],
  position: StepPosition,
): MaybePromise<void> {
  return runMessageHook(scope, processors, {
    hook: 'processInput',
    given: list => list.get.input.db(),
    source: 'input',
    empty: 'refused',
    at: () => ({ position, own: {} }),
  })
}
