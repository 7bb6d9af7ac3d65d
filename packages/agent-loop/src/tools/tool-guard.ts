// Before tools start: every call of the step passes processToolCall, then the approvals, in order.
import { isToolPart, toolNameOf, type AgentMessage, type MessageList, type ToolPart } from '@lockstep/message-list'
import {
  isPromiseLike,
  type GivenApproval,
  type MaybePromise,
  type ToolCallInfo,
  type ToolCallVerdict,
} from '@lockstep/processors'
import { isDeepEqualData, NoSuchToolError, type ToolSet, type TypedToolCall } from 'ai'
import { resolveToolApproval } from '../ai-internal.ts'
import type { Attempt } from '../step/attempt.ts'
import { partsOf, toolPartsOf } from '../step/accepted-step.ts'
import { activeToolsOf } from '../model/call-settings.ts'
import type { Run } from '../run/run.ts'
import { checkToolInput } from './tool-input.ts'

/** A call that has passed the guards, and what is to be done with it. `input` is as it stands in the conversation. */
export interface GuardedToolCall extends ToolCallInfo {
  readonly dynamic: boolean
  readonly verdict: ToolCallVerdict | { readonly type: 'invalid'; readonly error: unknown }
}

const answering: ReadonlySet<string> = new Set(['stop', 'tool-calls'])

/**
 * Passes the open calls of a step through the processors. A model that was cut off (`length`, `content-filter`) or that
 * failed has not finished its calls: they are not run.
 */
export async function guardToolCalls(run: Run, attempt: Attempt): Promise<readonly GuardedToolCall[]> {
  if (!answering.has(attempt.summary!.finishReason)) return []
  const guarded: GuardedToolCall[] = []
  for (const part of toolPartsOf(partsOf(run.list, attempt.place!))) {
    if (part.state !== 'input-available' || part.providerExecuted) continue
    const call = guardToolCall(run, attempt, { part })
    guarded.push(isPromiseLike(call) ? await call : call)
  }
  return guarded
}

/** A call that a person may have approved: then nobody is asked again. */
interface CallToGuard {
  readonly part: ToolPart
  readonly approval?: GivenApproval
}

/** Passes one call through the guards. */
export function guardToolCall(run: Run, attempt: Attempt, call: CallToGuard): MaybePromise<GuardedToolCall> {
  const { part, approval } = call
  const { toolCallId, input } = part
  const toolCall: ToolCallInfo = { toolCallId, toolName: toolNameOf(part), input }
  const judged = run.runner.runProcessToolCall({ position: run.position, toolCall, approval })
  if (isPromiseLike(judged)) return judged.then(verdict => checkedCall(run, attempt, { ...call, verdict }))
  return checkedCall(run, attempt, { ...call, verdict: judged as ToolCallVerdict })
}

interface JudgedCall extends CallToGuard {
  readonly verdict: ToolCallVerdict
}

/** Checks the input that the processors left, unless it is known to fit. */
function checkedCall(run: Run, attempt: Attempt, call: JudgedCall): MaybePromise<GuardedToolCall> {
  const { part, verdict } = call
  const mayRun = verdict.type === 'run' || verdict.type === 'asked'
  const known = mayRun ? knownInput(attempt, part, verdict.input) : verdict
  const guard = (checked: GuardedToolCall['verdict']) => approvedCall(run, attempt, { ...call, checked })
  return known ? guard(known) : checkedInput(attempt, part, verdict.input).then(guard)
}

/** Puts the input into the conversation that will be used, and asks who has to approve it. */
function approvedCall(
  run: Run,
  attempt: Attempt,
  { part, approval, verdict, checked }: JudgedCall & { readonly checked: GuardedToolCall['verdict'] },
): MaybePromise<GuardedToolCall> {
  const isRewritten = checked.type === 'run' && verdict.type !== 'denied' && verdict.input !== part.input
  const call: GuardedToolCall = {
    toolCallId: part.toolCallId,
    toolName: toolNameOf(part),
    input: isRewritten ? rewritten(run, part, checked.input) : part.input,
    dynamic: part.type === 'dynamic-tool',
    verdict: checked,
  }
  if (checked.type !== 'run' || approval) return call
  const asked = verdict.type === 'asked' ? { ...verdict, input: checked.input } : undefined
  const isJudged = run.options.toolApproval !== undefined || toolOf(attempt, call)?.needsApproval !== undefined
  if (!isJudged) return asked ? { ...call, verdict: asked } : call
  return approved(run, attempt, { call, verdict: checked, asked }).then(decided => ({ ...call, verdict: decided }))
}

function toolOf(attempt: Attempt, { toolName }: ToolCallInfo): ToolSet[string] | undefined {
  return attempt.prepared!.settings.tools[toolName]
}

/** Puts an input that a processor changed into the conversation, and gives it as it stands there. */
function rewritten(run: Run, { toolCallId, state }: ToolPart, input: unknown): unknown {
  const list = run.list.as({ id: 'loop', hook: 'processToolCall', step: run.stepNumber })
  const { id } = messageOfCall(list, toolCallId)!
  if (state === 'input-available') list.updateTool(toolCallId, { state, input })
  else
    list.update(id, ({ content }) => {
      for (const part of content.parts)
        if ('toolCallId' in part && part.toolCallId === toolCallId) (part as { input: unknown }).input = input
    })
  return toolPartsOf(list.find(id)!.content.parts).find(part => part.toolCallId === toolCallId)!.input
}

/** The message in which a call stands; the latest are looked at first. */
function messageOfCall(list: MessageList, toolCallId: string): AgentMessage | undefined {
  return list.get.all
    .db()
    .findLast(({ content }) => content.parts.some(part => isToolPart(part) && part.toolCallId === toolCallId))
}

type RunVerdict = Extract<ToolCallVerdict, { type: 'run' }>
type AskedVerdict = Extract<ToolCallVerdict, { type: 'asked' }>

/** What the tool and the caller say about approval of a call that a processor lets run, or asks about. */
async function approved(
  run: Run,
  attempt: Attempt,
  about: { readonly call: GuardedToolCall; readonly verdict: RunVerdict; readonly asked: AskedVerdict | undefined },
): Promise<ToolCallVerdict> {
  const { call, verdict, asked } = about
  const { input } = verdict
  const { tools } = attempt.prepared!.settings
  const { toolApproval, toolsContext } = run.options
  const asking = resolveToolApproval({
    tools,
    toolCall: {
      type: 'tool-call',
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      input,
    } as TypedToolCall<ToolSet>,
    toolApproval,
    messages: [...run.list.get.all.model()],
    toolsContext: toolsContext ?? {},
    runtimeContext: run.requestContext,
  })
  const status = await run.whileRunning(asking)
  if (status.type === 'denied') return { type: 'denied', input, reason: status.reason ?? 'The call is not allowed.' }
  if (asked) return asked
  return status.type === 'user-approval' ? { type: 'asked', input, reason: status.reason ?? '' } : verdict
}

/** What is known of an input that is as the model's parsed call had it. Any other is checked again. */
function knownInput(attempt: Attempt, part: ToolPart, input: unknown): GuardedToolCall['verdict'] | undefined {
  const parsed = attempt.parsedCalls.get(part.toolCallId)
  if (parsed && input === part.input && parsed.stored === input)
    return parsed.error === undefined ? { type: 'run', input: parsed.input } : { type: 'invalid', error: parsed.error }
}

/** What the tool gets for an input: what its schema makes of it. */
export async function checkedInput(
  attempt: Attempt,
  part: ToolPart,
  input: unknown,
): Promise<GuardedToolCall['verdict']> {
  const tools = activeToolsOf(attempt.prepared!.settings)
  const toolName = toolNameOf(part)
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName]! : undefined
  if (!tool) return { type: 'invalid', error: new NoSuchToolError({ toolName, availableTools: Object.keys(tools) }) }
  const written = input === part.input ? part.approval?.inputSchemaInput : undefined
  const made = written === undefined ? undefined : await checkToolInput(tool, written)
  // What the schema was given comes back from a client too: it counts when the schema makes of it what was approved.
  if (made && 'value' in made && isDeepEqualData(jsonOf(made.value), input)) return { type: 'run', input: made.value }
  const checked = await checkToolInput(tool, input)
  return 'error' in checked ? { type: 'invalid', error: checked.error } : { type: 'run', input: checked.value }
}

function jsonOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null') as unknown
}
