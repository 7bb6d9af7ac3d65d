// processLLMResponse: the model's stream of an attempt is drained; the provider's own parts, for caches and logs.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ProcessorContext, StepPosition } from '../context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { eachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { Processor } from '../processor.ts'

/** The answer of the model as the provider sent it. */
export interface ModelResponse {
  readonly model: LanguageModelV4
  /** The provider's parts, before any processor saw them: what `processLLMRequest` may return as `response`. */
  readonly chunks: readonly LanguageModelV4StreamPart[]
  /** `processLLMRequest` answered instead of the model. */
  readonly fromCache: boolean
}

/** What `processLLMResponse` is given. */
export type ProcessLLMResponseArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & ModelResponse

/** Runs the hook of each processor in order. */
export function runProcessLLMResponse(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly response: ModelResponse },
): MaybePromise<void> {
  Object.freeze(at.response.chunks)
  return eachInOrder(processors, processor => {
    const call = new HookCall(scope, processor, { hook: 'processLLMResponse', position: at.position })
    return call.run({ ...call.context(), ...at.response }, undefined)
  })
}
