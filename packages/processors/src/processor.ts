// The Processor contract: who may see and change what, in one interface.
import type { ProcessAPIErrorArgs, ProcessAPIErrorResult } from './hooks/process-api-error.ts'
import type { ProcessInputArgs } from './hooks/process-input.ts'
import type { ProcessInputStepArgs, ProcessInputStepReturn } from './hooks/process-input-step.ts'
import type { ProcessLLMRequestArgs, ProcessLLMRequestResult } from './hooks/process-llm-request.ts'
import type { ProcessLLMResponseArgs } from './hooks/process-llm-response.ts'
import type { FlushArgs, ProcessOutputStreamArgs, ProcessOutputStreamReturn } from './hooks/process-output-stream.ts'
import type { ProcessOutputResultArgs } from './hooks/process-output-result.ts'
import type { ProcessOutputStepArgs } from './hooks/process-output-step.ts'
import type { ProcessRunEndArgs } from './hooks/process-run-end.ts'
import type { ProcessStepEndArgs } from './hooks/process-step-end.ts'
import type { ProcessToolCallArgs, ProcessToolCallResult } from './hooks/process-tool-call.ts'
import type { ProcessToolResultArgs, ProcessToolResultResult } from './hooks/process-tool-result.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { MessageResult } from './hooks/message-result.ts'

/**
 * An object with an id and hooks. It computes; the runtime commits.
 *
 * *Order*: hooks of one array run in array order, each seeing what the ones before it did.
 * *Errors*: what a hook throws fails the run, unless `onError` is `'skip'`.
 * *State*: keep nothing on `this` that belongs to a run; `state` is there for it.
 */
export interface Processor<
  TId extends string = string,
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> {
  readonly id: TId
  /** Shown in traces; the id when absent. */
  readonly name?: string
  readonly description?: string
  /** Lets `processOutputStream` see `data-*` chunks, those it wrote itself excepted. */
  readonly processDataParts?: boolean
  /** Keeps chunks back until their step is accepted, or until `processOutputResult` has passed. */
  readonly hold?: 'step' | 'run'
  /** What an error in a hook means: the run fails (default), or what came to the processor goes on. */
  readonly onError?: 'fail' | 'skip'

  /** Once, before the loop. `messages` are the new input. */
  processInput?(args: ProcessInputArgs<TTripwireMetadata, TState>): MaybePromise<MessageResult>
  /** Before each attempt at a model call. `messages` are all. */
  processInputStep?(args: ProcessInputStepArgs<TTripwireMetadata, TState>): MaybePromise<ProcessInputStepReturn>
  /** When the prompt is ready: changes it for this call only, or answers instead of the model. */
  processLLMRequest?(
    args: ProcessLLMRequestArgs<TTripwireMetadata, TState>,
  ): MaybePromise<ProcessLLMRequestResult | void>
  /** When the model call failed, before or during its stream. The first `retry: true` decides. */
  processAPIError?(args: ProcessAPIErrorArgs<TTripwireMetadata, TState>): MaybePromise<ProcessAPIErrorResult | void>
  /** For each chunk. What is not returned is dropped. */
  processOutputStream?(
    args: ProcessOutputStreamArgs<TTripwireMetadata, TState>,
  ): MaybePromise<ProcessOutputStreamReturn>
  /** At the end of each text block, on finish, on abort and when it was asked for: gives back what was held. */
  flush?(args: FlushArgs<TTripwireMetadata, TState>): MaybePromise<ProcessOutputStreamReturn>
  /** When the model's stream of an attempt is drained, with the provider's own parts. */
  processLLMResponse?(args: ProcessLLMResponseArgs<TTripwireMetadata, TState>): MaybePromise<void>
  /** After the model has answered, before tools run. `messages` are all, the new response included. */
  processOutputStep?(args: ProcessOutputStepArgs<TTripwireMetadata, TState>): MaybePromise<MessageResult>
  /** Before tools start, for every call in order. */
  processToolCall?(args: ProcessToolCallArgs<TTripwireMetadata, TState>): MaybePromise<ProcessToolCallResult | void>
  /** After a tool, before anyone sees what it gave. */
  processToolResult?(
    args: ProcessToolResultArgs<TTripwireMetadata, TState>,
  ): MaybePromise<ProcessToolResultResult | void>
  /** When the step is committed, tool results included. Observes. */
  processStepEnd?(args: ProcessStepEndArgs<TState>): MaybePromise<void>
  /** Once, when the loop has ended. `messages` are the response. */
  processOutputResult?(args: ProcessOutputResultArgs<TTripwireMetadata, TState>): MaybePromise<MessageResult>
  /** Once, on every way a run can end. Observes and cleans up. */
  processRunEnd?(args: ProcessRunEndArgs<TState>): MaybePromise<void>
}

/** The hooks by name. */
export const hookNames = [
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processAPIError',
  'processOutputStream',
  'processLLMResponse',
  'processOutputStep',
  'processToolCall',
  'processToolResult',
  'processStepEnd',
  'processOutputResult',
  'processRunEnd',
  'flush',
] as const

/** The name of a hook. */
export type HookName = (typeof hookNames)[number]

type WithOneOf<T, K extends keyof T> = { [P in K]-?: T & Required<Pick<T, P>> }[K]

/** A processor for `inputProcessors`. */
export type InputProcessor = WithOneOf<
  Processor,
  'processInput' | 'processInputStep' | 'processLLMRequest' | 'processLLMResponse' | 'processStepEnd' | 'processRunEnd'
>

/** A processor for `outputProcessors`. */
export type OutputProcessor = WithOneOf<
  Processor,
  | 'processOutputStream'
  | 'processOutputStep'
  | 'processToolCall'
  | 'processToolResult'
  | 'processOutputResult'
  | 'processLLMResponse'
  | 'processStepEnd'
  | 'processRunEnd'
>

/** A processor for `errorProcessors`. */
export type ErrorProcessor = WithOneOf<Processor, 'processAPIError'>
