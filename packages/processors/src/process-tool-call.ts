// processToolCall: before tools start, every call in order. A guard may rewrite, answer or refuse a call.
import type { ProcessorContext, StepPosition } from './context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { isPromiseLike, type MaybePromise } from './maybe-promise.ts'
import { checkKeys } from './message-result.ts'
import type { ToolCallInfo } from './process-output-step.ts'
import type { Processor } from './processor.ts'

/** What `processToolCall` is given: the call, with its input as the processors before left it. */
export type ProcessToolCallArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & ToolCallInfo

/** Another input · an answer instead of the tool's · a refusal, whose reason the model reads. */
export type ProcessToolCallResult =
  | { readonly input: unknown }
  | { readonly output: unknown }
  | { readonly deny: string }

/** What the chain decided about a call. */
export type ToolCallVerdict =
  | { readonly type: 'run'; readonly input: unknown }
  | { readonly type: 'answered'; readonly input: unknown; readonly output: unknown }
  | { readonly type: 'denied'; readonly input: unknown; readonly reason: string }

/** Passes one call through the processors in order; `deny` and `output` end the chain. */
export function runProcessToolCall(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly toolCall: ToolCallInfo },
): MaybePromise<ToolCallVerdict> {
  return passOn(scope, processors, { ...at, index: 0 })
}

function passOn(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly toolCall: ToolCallInfo; readonly index: number },
): MaybePromise<ToolCallVerdict> {
  let { toolCall } = at
  for (let index = at.index; index < processors.length; index++) {
    const processor = processors[index]!
    const call = new HookCall(scope, processor, { hook: 'processToolCall', position: at.position })
    const given = toolCall
    const result = call.run(() => processor.processToolCall!({ ...call.context(), ...given }), undefined)
    if (isPromiseLike(result))
      return result.then(settled => {
        const verdict = judge(call, given.input, settled)
        if (verdict.type !== 'run') return verdict
        return passOn(scope, processors, { ...at, toolCall: { ...given, input: verdict.input }, index: index + 1 })
      })
    const verdict = judge(call, given.input, result as ProcessToolCallResult | void)
    if (verdict.type !== 'run') return verdict
    toolCall = { ...given, input: verdict.input }
  }
  return { type: 'run', input: toolCall.input }
}

function judge(call: HookCall, input: unknown, result: ProcessToolCallResult | void): ToolCallVerdict {
  if (result === undefined || result === null) return { type: 'run', input }
  checkKeys(call, result, ['input', 'output', 'deny'])
  if (Object.keys(result).length !== 1)
    throw call.misused(
      'invalid-return',
      `returned ${Object.keys(result).length} decisions from processToolCall. Return one of input, output and deny.`,
    )
  if ('deny' in result) {
    call.note({ type: 'decided', decision: 'deny' })
    return { type: 'denied', input, reason: String(result.deny) }
  }
  if ('output' in result) {
    call.note({ type: 'decided', decision: 'output' })
    return { type: 'answered', input, output: result.output }
  }
  if (result.input !== input) call.note({ type: 'changed', what: ['input'] })
  return { type: 'run', input: result.input }
}
