// Tool calls that wait for a person: what is asked, what is decided, and the proof that a request was really made.
import { isToolPart, type ToolApprovalRequest } from '@lockstep/message-list'
import { isDeepEqualData } from 'ai'
import { partsOf } from '../step/accepted-step.ts'
import type { Attempt } from '../step/attempt.ts'
import { signToolApproval } from '../ai-internal.ts'
import { LoopError } from '../errors.ts'
import type { Run } from '../run/run.ts'
import { checkedInput, guardToolCall, type GuardedToolCall } from './tool-guard.ts'
import { checkToolInput } from './tool-input.ts'

/** A call that a person has to decide about. */
export interface PendingApproval {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  /** What the tool will be given, as JSON. */
  readonly input: unknown
  /** Why a person is asked; there when a processor or `toolApproval` said so. */
  readonly reason?: string
}

/** What a person decided. An edited `input` is checked as the model's was, and passes the guards again. */
export type ApprovalDecision =
  | { readonly approvalId: string; readonly approved: true; readonly reason?: string; readonly input?: unknown }
  | { readonly approvalId: string; readonly approved: false; readonly reason?: string }

/** A pending call as it is kept. */
export interface PendingCall extends PendingApproval {
  readonly dynamic: boolean
}

/** Asks a person about a call: in the conversation, in the stream and in the result. */
export async function askFor(run: Run, attempt: Attempt, call: GuardedToolCall): Promise<void> {
  const { toolCallId, toolName, dynamic, verdict } = call
  const approvalId = run.generateId()
  const list = run.list.as({ id: 'loop', hook: 'processToolCall', step: run.stepNumber })
  const { input } = call
  const secret = run.options.approvalSecret
  const signature =
    secret === undefined
      ? {}
      : { signature: await signToolApproval({ secret, approvalId, toolCallId, toolName, input }) }
  const reason = verdict.type === 'asked' && verdict.reason !== '' ? verdict.reason : undefined
  list.updateTool(toolCallId, {
    state: 'approval-requested',
    approval: {
      id: approvalId,
      ...(reason === undefined ? {} : { requestReason: reason }),
      ...signature,
      ...(await schemaInputOf(attempt, call)),
    },
  })
  const request = { approvalId, toolCallId, toolName, input, ...(reason === undefined ? {} : { reason }) }
  run.pendingCalls = [...run.pendingCalls, { ...request, dynamic }]
  await attempt.takeInTurn(
    run.chunk('tool-approval-request', { ...request, ...signature, ...(dynamic ? { dynamic } : {}) }),
  )
}

/** What the model wrote, when the schema makes something else of it and no processor changed it. */
async function schemaInputOf(
  attempt: Attempt,
  call: GuardedToolCall,
): Promise<Pick<ToolApprovalRequest, 'inputSchemaInput'>> {
  const parsed = attempt.parsedCalls.get(call.toolCallId)
  const tool = attempt.prepared!.settings.tools[call.toolName]
  if (!parsed || !tool || parsed.stored !== call.input) return {}
  const written = parsedJson(attempt.writtenInputs.get(call.toolCallId) ?? '')
  if (isDeepEqualData(written, call.input)) return {}
  const checked = await checkToolInput(tool, written)
  return 'value' in checked ? { inputSchemaInput: written } : {}
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A call with its decision. */
export interface DecidedCall {
  readonly call: PendingCall
  readonly decision: ApprovalDecision
}

/**
 * Reads decisions against the calls that wait. Nothing has happened when it throws.
 *
 * Throws: `unknown-approval`, `already-decided`, `unknown-tool`, `invalid-decision`.
 */
export async function readDecisions(
  run: Run,
  waiting: readonly PendingCall[],
  decisions: readonly ApprovalDecision[],
): Promise<readonly DecidedCall[]> {
  const seen = new Set<string>()
  const decided: DecidedCall[] = []
  for (const decision of decisions) {
    const { approvalId } = decision
    if (seen.has(approvalId))
      throw new LoopError(
        'already-decided',
        `The approval '${approvalId}' is decided twice in one call. Decide it once.`,
      )
    seen.add(approvalId)
    const call = waiting.find(pending => pending.approvalId === approvalId)
    if (!call) throw notWaiting(run, approvalId, waiting)
    await checkDecision(run, call, decision)
    decided.push({ call, decision })
  }
  return decided
}

function notWaiting(run: Run, approvalId: string, waiting: readonly PendingCall[]): LoopError {
  const known = run.list.get.all
    .db()
    .some(message => message.content.parts.some(part => 'approval' in part && part.approval?.id === approvalId))
  if (known)
    return new LoopError(
      'already-decided',
      `The approval '${approvalId}' was decided before, and its call is done. Resume the latest state of the run.`,
    )
  const open = waiting.map(pending => `'${pending.approvalId}' (${pending.toolName})`).join(', ')
  return new LoopError(
    'unknown-approval',
    `The run never asked for the approval '${approvalId}'. ${open === '' ? 'It waits for nobody.' : `It waits for ${open}.`}`,
  )
}

async function checkDecision(run: Run, { toolName }: PendingCall, decision: ApprovalDecision): Promise<void> {
  if (!decision.approved) return
  const tools = run.settings.tools
  if (!Object.hasOwn(tools, toolName))
    throw new LoopError(
      'unknown-tool',
      `The call that was approved is for the tool '${toolName}', which the run does not have now. Resume it with the tools that it was begun with; they are ${JSON.stringify(Object.keys(tools))}.`,
    )
  const checked = isEdited(decision) ? await checkToolInput(tools[toolName]!, decision.input) : undefined
  if (checked === undefined || 'value' in checked) return
  throw new LoopError(
    'invalid-decision',
    `The input of the approval '${decision.approvalId}' does not fit the tool '${toolName}': ${String(checked.error)}. Nothing was run; decide again.`,
    { cause: checked.error },
  )
}

/** Tells whether the person changed what the tool gets. */
function isEdited(decision: ApprovalDecision): decision is ApprovalDecision & { readonly input: unknown } {
  return decision.approved && decision.input !== undefined
}

/** Enters what was decided, and makes the calls that may go on ready for the tool phase. */
export async function enterDecisions(run: Run, attempt: Attempt, decided: readonly DecidedCall[]): Promise<void> {
  const done = new Set(decided.map(({ call }) => call))
  run.pendingCalls = run.pendingCalls.filter(call => !done.has(call))
  const guarded: GuardedToolCall[] = []
  for (const one of decided) guarded.push(await enterDecision(run, attempt, one))
  attempt.toolCalls = guarded
}

async function enterDecision(run: Run, attempt: Attempt, { call, decision }: DecidedCall): Promise<GuardedToolCall> {
  const { toolCallId, toolName, dynamic, approvalId } = call
  const { approved, reason } = decision
  const said = reason === undefined ? {} : { reason }
  const edit = isEdited(decision) ? { input: decision.input } : {}
  const list = run.list.as({ id: 'person', step: run.stepNumber })
  list.updateTool(toolCallId, { state: 'approval-responded', approval: { id: approvalId, approved, ...said }, ...edit })
  const part = partsOf(run.list, attempt.place!)
    .filter(isToolPart)
    .find(one => one.toolCallId === toolCallId)!
  const { input } = part
  const shown = { approvalId, toolCallId, toolName, input, approved, ...said, ...(dynamic ? { dynamic } : {}) }
  await attempt.takeInTurn(run.chunk('tool-approval-response', shown))
  if (!approved)
    return { toolCallId, toolName, input, dynamic, verdict: { type: 'denied', input, reason: reason ?? refusal } }
  if (isEdited(decision)) return guardToolCall(run, attempt, { part, approval: { approvalId, ...said } })
  return { toolCallId, toolName, input, dynamic, verdict: await checkedInput(attempt, part, input) }
}

/** What the model reads when a person gave no reason. */
export const refusal = 'A person did not approve the call.'
