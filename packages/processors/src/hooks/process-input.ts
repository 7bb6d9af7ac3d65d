// processInput: once, before the loop, over the new input.
import type { AgentMessage, MessageList } from '@lockstep/message-list'
import type { ProcessorContext, StepPosition } from '../context.ts'
import type { HookScope } from './hook-call.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { runMessageHook, type MessageResult } from './message-result.ts'
import type { Processor } from '../processor.ts'

/** What `processInput` is given: `messages` are the new input; the history is `messageList.get.remembered`. */
export type ProcessInputArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState>

/** What `processInput` may return. */
export type ProcessInputResult = MessageResult

/** Where the run is, and which messages are new. */
export interface InputAt {
  readonly position: StepPosition
  readonly given: (list: MessageList) => readonly AgentMessage[]
}

/** Runs the hook of each processor in order. */
export function runProcessInput(
  scope: HookScope,
  processors: readonly Processor[],
  { position, given }: InputAt,
): MaybePromise<void> {
  return runMessageHook(scope, processors, {
    hook: 'processInput',
    given,
    source: 'input',
    empty: 'refused',
    at: () => ({ position, own: {} }),
  })
}
