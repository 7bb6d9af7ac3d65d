// processToolCall: before tools start, every call in order. A guard may rewrite, answer, refuse or ask a person.
import type { ProcessorContext, StepPosition } from '../context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import { checkKeys } from './message-result.ts'
import type { ToolCallInfo } from './process-output-step.ts'
import type { Processor } from '../processor.ts'

/** A person's approval of a call. */
export interface GivenApproval {
  readonly approvalId: string
  readonly reason?: string
}

/** What `processToolCall` is given: the call, with its input as the processors before left it. */
export type ProcessToolCallArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> &
  ToolCallInfo & {
    /** There when a person has approved the call: `ask` then counts as answered, `deny` still binds. */
    readonly approval: GivenApproval | undefined
  }

/** Another input · an answer instead of the tool's · a refusal, whose reason the model reads · a question to a person. */
export type ProcessToolCallResult =
  | { readonly input: unknown }
  | { readonly output: unknown }
  | { readonly deny: string }
  | { readonly ask: string }

/** What the chain decided about a call. */
export type ToolCallVerdict =
  | { readonly type: 'run'; readonly input: unknown }
  | { readonly type: 'answered'; readonly input: unknown; readonly output: unknown }
  | { readonly type: 'denied'; readonly input: unknown; readonly reason: string }
  | { readonly type: 'asked'; readonly input: unknown; readonly reason: string }

interface CallOnItsWay {
  readonly position: StepPosition
  readonly toolCall: ToolCallInfo
  readonly approval?: GivenApproval | undefined
}

/** Passes one call through the processors in order; `deny` and `output` end the chain, the first `ask` gives the reason. */
export function runProcessToolCall(
  scope: HookScope,
  processors: readonly Processor[],
  at: CallOnItsWay,
): MaybePromise<ToolCallVerdict> {
  const start: ToolCallVerdict = { type: 'run', input: at.toolCall.input }
  return processors.length === 0 ? start : passOn(scope, processors, { ...at, index: 0, verdict: start })
}

function passOn(
  scope: HookScope,
  processors: readonly Processor[],
  at: CallOnItsWay & { readonly index: number; readonly verdict: ToolCallVerdict },
): MaybePromise<ToolCallVerdict> {
  let { verdict } = at
  for (let index = at.index; index < processors.length; index++) {
    const processor = processors[index]!
    const call = new HookCall(scope, processor, { hook: 'processToolCall', position: at.position })
    const args = { ...call.context(), ...at.toolCall, input: verdict.input, approval: at.approval }
    const before = verdict
    const judged = (result: ProcessToolCallResult | void) => joined(before, judge(call, args, result))
    const result = call.run(args, undefined)
    if (isPromiseLike(result))
      return result.then(settled => {
        const after = judged(settled)
        return isOpen(after) ? passOn(scope, processors, { ...at, index: index + 1, verdict: after }) : after
      })
    verdict = judged(result as ProcessToolCallResult | void)
    if (!isOpen(verdict)) return verdict
  }
  return verdict
}

/** The processors after this one have a say too. */
function isOpen({ type }: ToolCallVerdict): boolean {
  return type === 'run' || type === 'asked'
}

/** A question stays when a later processor only rewrites the input or asks as well. */
function joined(before: ToolCallVerdict, after: ToolCallVerdict): ToolCallVerdict {
  return before.type === 'asked' && isOpen(after) ? { ...before, input: after.input } : after
}

function judge(
  call: HookCall,
  { input, approval }: { readonly input: unknown; readonly approval: GivenApproval | undefined },
  result: ProcessToolCallResult | void,
): ToolCallVerdict {
  if (result === undefined || result === null) return { type: 'run', input }
  checkKeys(call, result, ['input', 'output', 'deny', 'ask'])
  if (Object.keys(result).length !== 1)
    throw call.misused(
      'invalid-return',
      `returned ${Object.keys(result).length} decisions from processToolCall. Return one of input, output, deny and ask.`,
    )
  if ('deny' in result) {
    call.note({ type: 'decided', decision: 'deny' })
    return { type: 'denied', input, reason: String(result.deny) }
  }
  if ('output' in result) {
    call.note({ type: 'decided', decision: 'output' })
    return { type: 'answered', input, output: result.output }
  }
  if ('ask' in result) {
    if (approval) return { type: 'run', input }
    call.note({ type: 'decided', decision: 'ask' })
    return { type: 'asked', input, reason: String(result.ask) }
  }
  if (result.input !== input) call.note({ type: 'changed', what: ['input'] })
  return { type: 'run', input: result.input }
}
