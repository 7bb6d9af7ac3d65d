// processLLMRequest: the prompt is ready. Rewrites it for this call only, or answers instead of the model.
import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ProcessorContext, StepPosition } from '../context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import { checkKeys } from './message-result.ts'
import type { Processor } from '../processor.ts'
import type { StepSettings } from '../step-settings.ts'

/** A model's answer from elsewhere, as the provider sent it. It passes the chain like a fresh one. */
export interface CachedResponse {
  readonly chunks: readonly LanguageModelV4StreamPart[]
}

/** What `processLLMRequest` is given: all that the model will be called with. */
export type ProcessLLMRequestArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> &
  StepSettings & {
    /** As it would be sent; the processors before may have changed it. */
    readonly prompt: LanguageModelV4Prompt
  }

/** Another prompt, for this call only · an answer, so that the model is not called. The first answer wins. */
export interface ProcessLLMRequestResult {
  readonly prompt?: LanguageModelV4Prompt
  readonly response?: CachedResponse
}

/** The prompt as the processors left it, and an answer if one of them had one. */
export interface ModelRequest {
  readonly prompt: LanguageModelV4Prompt
  readonly response: CachedResponse | undefined
}

/** A model call, as far as it is known: without other settings it is one without tools. */
interface PreparedCall {
  readonly position: StepPosition
  readonly prompt: LanguageModelV4Prompt
  readonly settings: Pick<StepSettings, 'model'> & Partial<StepSettings>
}

const noSettings: Omit<StepSettings, 'model'> = Object.freeze({
  tools: Object.freeze({}),
  toolChoice: undefined,
  activeTools: undefined,
  providerOptions: undefined,
  modelSettings: Object.freeze({}),
  structuredOutput: undefined,
})

/** Runs the hook of each processor in order, also after one that answered. */
export function runProcessLLMRequest(
  scope: HookScope,
  processors: readonly Processor[],
  { position, prompt, settings: known }: PreparedCall,
): MaybePromise<ModelRequest> {
  if (processors.length === 0) return { prompt, response: undefined }
  Object.freeze(prompt)
  const settings: StepSettings = { ...noSettings, ...known }
  let request: ModelRequest = { prompt, response: undefined }
  const all = eachInOrder(processors, processor => {
    const call = new HookCall(scope, processor, { hook: 'processLLMRequest', position })
    const args = { ...call.context(), ...settings, prompt: request.prompt }
    const finish = (result: ProcessLLMRequestResult | void) => {
      if (result === undefined || result === null) return
      checkKeys(call, result, ['prompt', 'response'])
      const what = (['prompt', 'response'] as const).filter(key => result[key] !== undefined)
      if (what.length > 0) call.note({ type: 'changed', what })
      request = { prompt: result.prompt ?? request.prompt, response: request.response ?? result.response }
    }
    const result = call.run(args, undefined)
    return isPromiseLike(result) ? result.then(finish) : finish(result as ProcessLLMRequestResult | void)
  })
  return isPromiseLike(all) ? all.then(() => request) : request
}
