// Before tools start: every call of the step passes processToolCall, in order.
import type { ToolPart } from '@lockstep/message-list'
import { toolNameOf } from '@lockstep/message-list'
import type { ToolCallInfo, ToolCallVerdict } from '@lockstep/processors'
import { NoSuchToolError } from 'ai'
import type { Attempt } from './attempt.ts'
import { partsOf, toolPartsOf } from './accepted-step.ts'
import { activeToolsOf } from './model-call.ts'
import type { Run } from './run.ts'
import { checkToolInput } from './tool-input.ts'

/** A call that has passed the guards, and what is to be done with it. */
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
  for (const part of toolPartsOf(partsOf(run.list, attempt.place!)))
    if (part.state === 'input-available' && !part.providerExecuted) guarded.push(await guard(run, attempt, part))
  return guarded
}

async function guard(run: Run, attempt: Attempt, part: ToolPart): Promise<GuardedToolCall> {
  const { toolCallId, input } = part
  const toolCall: ToolCallInfo = { toolCallId, toolName: toolNameOf(part), input }
  const verdict = await run.runner.runProcessToolCall({ position: run.position, toolCall })
  const checked = verdict.type === 'run' ? await check(run, attempt, { toolCall, input: verdict.input }) : verdict
  return { ...toolCall, dynamic: part.type === 'dynamic-tool', verdict: checked }
}

/** An input that was changed after the model gave it is checked again, and stands in the conversation as it will run. */
async function check(
  run: Run,
  attempt: Attempt,
  call: { readonly toolCall: ToolCallInfo; readonly input: unknown },
): Promise<GuardedToolCall['verdict']> {
  const { toolCallId, toolName, input } = call.toolCall
  const parsed = attempt.parsedCalls.get(toolCallId)
  if (parsed && call.input === input && parsed.stored === input)
    return parsed.error === undefined ? { type: 'run', input: parsed.input } : { type: 'invalid', error: parsed.error }
  const tools = activeToolsOf(attempt.prepared!.settings)
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName]! : undefined
  if (!tool) return { type: 'invalid', error: new NoSuchToolError({ toolName, availableTools: Object.keys(tools) }) }
  const checked = await checkToolInput(tool, call.input)
  if ('error' in checked) return { type: 'invalid', error: checked.error }
  if (call.input !== input)
    run.list
      .as({ id: 'loop', hook: 'processToolCall', step: run.stepNumber })
      .updateTool(toolCallId, { state: 'input-available', input: checked.value })
  return { type: 'run', input: checked.value }
}
