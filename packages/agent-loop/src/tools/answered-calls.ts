// Calls that a person answered in a message, as a chat client sends them: believed only where something vouches for them.
import {
  isToolPart,
  toolNameOf,
  type AgentMessage,
  type MessageList,
  type MessagePart,
  type ToolPart,
} from '@lockstep/message-list'
import type { MaybePromise } from '@lockstep/processors'
import { verifyToolApprovalSignature } from '../ai-internal.ts'
import type { Attempt } from '../step/attempt.ts'
import { LoopError } from '../errors.ts'
import { refusal } from './pending-approval.ts'
import type { Run } from '../run/run.ts'
import { guardToolCall, type GuardedToolCall } from './tool-guard.ts'
import { runToolPhase } from './tool-phase.ts'

interface AnsweredCall {
  readonly message: AgentMessage
  readonly part: ToolPart & { readonly state: 'approval-responded' }
}

function answeredCalls(list: MessageList): readonly AnsweredCall[] {
  return list.get.all
    .having(isAnswered)
    .flatMap(message => message.content.parts.filter(isAnswered).map(part => ({ message, part })))
}

function isAnswered(part: MessagePart): part is AnsweredCall['part'] {
  return isToolPart(part) && part.state === 'approval-responded' && !part.providerExecuted
}

/** The response goes on in the message whose calls were answered, when nothing was said after it. */
export function continueAnswered(run: Run): void {
  const last = run.list.at(-1)
  if (last?.role === 'assistant' && last.content.parts.some(isAnswered)) run.continueIn(last.id)
}

/**
 * Runs the calls that were approved and answers those that were refused, before the first step.
 * Throws: `unverified-approval`, before anything has run; what the tool phase throws.
 */
export async function enterAnswers(run: Run, prologue: Attempt): Promise<void> {
  const answered = answeredCalls(run.list)
  if (answered.length === 0) return
  for (const call of answered) if (call.part.approval.approved) await checkProof(run, call)
  const before = run.list.snapshot()
  prologue.prepared = { settings: run.settings, overlay: undefined }
  const guarded: GuardedToolCall[] = []
  for (const { part } of answered) guarded.push(await guardedAnswer(run, prologue, part))
  prologue.toolCalls = guarded
  try {
    await runToolPhase(run, prologue)
  } catch (error) {
    run.withdrawTo(before)
    throw error
  }
  const continued = run.list.find(run.responseId())
  if (continued) run.list.as({ id: 'loop', step: 0 }).add(continued, 'response')
}

function guardedAnswer(run: Run, prologue: Attempt, part: AnsweredCall['part']): MaybePromise<GuardedToolCall> {
  const { toolCallId, input, approval } = part
  const { id: approvalId, approved, reason = refusal } = approval
  if (approved) return guardToolCall(run, prologue, { part, approval: { approvalId } })
  const dynamic = part.type === 'dynamic-tool'
  return { toolCallId, toolName: toolNameOf(part), input, dynamic, verdict: { type: 'denied', input, reason } }
}

/** What was stored vouches for its own requests; a request that came back from a client has to be signed. */
async function checkProof(run: Run, { message, part }: AnsweredCall): Promise<void> {
  if (run.list.sourceOf(message.id) === 'memory') return
  const { id: approvalId, signature } = part.approval
  const secret = run.options.approvalSecret
  const call = { approvalId, toolCallId: part.toolCallId, toolName: toolNameOf(part), input: part.input }
  if (secret !== undefined && typeof signature === 'string')
    if (await verifyToolApprovalSignature({ secret, signature, ...call })) return
  const why =
    secret === undefined
      ? 'there is no approvalSecret'
      : signature === undefined
        ? 'it has no signature'
        : 'its signature is wrong'
  throw new LoopError(
    'unverified-approval',
    `A message says that the call '${part.toolCallId}' (${call.toolName}) was approved, and nothing vouches for it: ${why}. Give the agent an approvalSecret, load the thread from a store, or resume the suspended run.`,
  )
}
