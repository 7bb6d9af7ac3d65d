// processToolResult: after a tool, over its output, error or preliminary value, before anyone sees it.
import type { ProcessorContext, StepPosition } from '../context.ts'
import { frozenCopy } from '../frozen-copy.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import { checkKeys } from './message-result.ts'
import type { ToolCallInfo } from './process-output-step.ts'
import type { Processor } from '../processor.ts'

/** What a tool gave: exactly one of an output and an error. */
export type ToolOutcome =
  | { readonly output: unknown; readonly error?: undefined; readonly preliminary?: boolean }
  | { readonly output?: undefined; readonly error: unknown; readonly preliminary?: undefined }

/** What `processToolResult` is given: the call and what came of it. */
export type ProcessToolResultArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> &
  ToolCallInfo & {
    readonly output: unknown
    /** What the tool threw; `output` is undefined then. */
    readonly error: unknown
    /** A value on the way to the final one. */
    readonly preliminary: boolean
    /** The provider ran the tool; the model has seen the result already. */
    readonly providerExecuted: boolean
  }

/**
 * What takes the place of what the tool gave: an output, or an error, which the model reads as one. Either may take the place
 * of the other; a preliminary value with an error is not shown.
 */
export type ProcessToolResultResult =
  | { readonly output: unknown; readonly error?: undefined }
  | { readonly error: unknown; readonly output?: undefined }

/** Passes what a tool gave through the processors in order. */
export function runProcessToolResult(
  scope: HookScope,
  processors: readonly Processor[],
  at: {
    readonly position: StepPosition
    readonly toolCall: ToolCallInfo & { readonly providerExecuted?: boolean }
    readonly outcome: ToolOutcome
  },
): MaybePromise<ToolOutcome> {
  if (processors.length === 0) return at.outcome
  let { outcome } = at
  const { providerExecuted = false, ...toolCall } = at.toolCall
  const { toolCallId } = toolCall
  const all = eachInOrder(processors, processor => {
    const call = new HookCall(scope, processor, { hook: 'processToolResult', position: at.position, toolCallId })
    const { error, preliminary = false } = outcome
    const output = frozenCopy(outcome.output)
    const args = { ...call.context(), ...toolCall, output, error, preliminary, providerExecuted }
    const finish = (result: ProcessToolResultResult | void) => {
      if (result === undefined || result === null) return
      checkReplacement(call, result)
      if (result.error !== undefined) {
        if (result.error === error) return
        outcome = { error: result.error }
        call.note({ type: 'changed', what: ['error'] })
      } else if ('output' in result) {
        if (result.output === output && error === undefined) return
        outcome = preliminary ? { output: result.output, preliminary } : { output: result.output }
        call.note({ type: 'changed', what: ['output'] })
      }
    }
    const result = call.run(args, undefined)
    return isPromiseLike(result) ? result.then(finish) : finish(result as ProcessToolResultResult | void)
  })
  return isPromiseLike(all) ? all.then(() => outcome) : outcome
}

function checkReplacement(call: HookCall, result: ProcessToolResultResult): void {
  checkKeys(call, result, ['output', 'error'])
  if (result.error !== undefined && result.output !== undefined)
    throw call.misused(
      'invalid-return',
      'returned an output and an error from processToolResult. Return the one that the model is to read.',
    )
  if ('error' in result && result.error === undefined && !('output' in result))
    throw call.misused(
      'invalid-return',
      'returned an error that is undefined from processToolResult. Return what the model is to read, or nothing for no change.',
    )
}
