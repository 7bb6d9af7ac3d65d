// processAPIError: the model call failed. A processor may repair the conversation or the model and ask for a retry.
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ProcessorContext, StepPosition } from '../context.ts'
import type { ModelChoice } from '../call-model.ts'
import { HookCall, resolveModelFor, type HookScope } from './hook-call.ts'
import { checkKeys } from './message-result.ts'
import type { Processor } from '../processor.ts'

/** What `processAPIError` is given. */
export type ProcessAPIErrorArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & {
  /** The provider's own error, raw. */
  readonly error: unknown
  /** How many chunks of the attempt had been shown when it failed. */
  readonly shownChunkCount: number
}

/** Whether to call the model again, and with which model for the rest of the step. */
export interface ProcessAPIErrorResult {
  readonly retry: boolean
  readonly model?: ModelChoice
}

/** The decision to call the model again, and the model when it is to be another. */
export interface APIErrorDecision {
  readonly model: LanguageModelV4 | undefined
}

/** Asks the processors in order; the first that wants a retry decides. */
export async function runProcessAPIError(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly error: unknown; readonly shownChunkCount: number },
): Promise<APIErrorDecision | undefined> {
  for (const processor of processors) {
    const call = new HookCall(scope, processor, { hook: 'processAPIError', position: at.position })
    const args = { ...call.context(), error: at.error, shownChunkCount: at.shownChunkCount }
    const result = await call.run(args, undefined)
    if (result === undefined || result === null) continue
    checkKeys(call, result, ['retry', 'model'])
    if (!result.retry) continue
    call.note({ type: 'decided', decision: 'retry' })
    return { model: result.model === undefined ? undefined : resolveModelFor(call, scope.host, result.model) }
  }
  return undefined
}
