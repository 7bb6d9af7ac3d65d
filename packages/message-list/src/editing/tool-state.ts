// What can become of a tool call: its states, their order, and the one rule that a state only advances.
import type { ProviderMetadata } from 'ai'
import { MessageListError } from '../errors.ts'
import { frozen, shareEqual, type Frozen } from '../frozen-json.ts'
import { toolNameOf, type ToolModelOutput, type ToolPart } from '../message.ts'
import { checkedPart } from '../reading/part-schema.ts'
import { modernOutput } from '../views/tool-output.ts'

/** The request that a call be approved, as it is kept with the call. */
export interface ToolApprovalRequest {
  readonly id: string
  readonly requestReason?: string
  readonly descriptor?: unknown
  readonly isAutomatic?: boolean
  readonly signature?: string
  readonly inputSchemaInput?: unknown
}

/** The answer to such a request. Its id is the request's. */
export interface ToolApprovalAnswer {
  readonly id: string
  readonly approved: boolean
  readonly reason?: string
}

/** What became of a tool call. `input` in the approval states replaces the input, for a person who edited it. */
export type ToolChange =
  | { readonly state: 'input-available'; readonly input: unknown }
  | { readonly state: 'approval-requested'; readonly approval: ToolApprovalRequest; readonly input?: unknown }
  | { readonly state: 'approval-responded'; readonly approval: ToolApprovalAnswer; readonly input?: unknown }
  | {
      readonly state: 'output-available'
      readonly output: unknown
      /** What the model is shown instead of the output: the result of the tool's `toModelOutput`. */
      readonly modelOutput?: Frozen<ToolModelOutput>
      readonly preliminary?: boolean
      readonly providerMetadata?: Frozen<ProviderMetadata>
    }
  | {
      readonly state: 'output-error'
      readonly errorText: string
      readonly modelOutput?: Frozen<ToolModelOutput>
      readonly providerMetadata?: Frozen<ProviderMetadata>
    }
  | { readonly state: 'output-denied'; readonly reason?: string }

const ranks: Readonly<Record<ToolPart['state'], number>> = {
  'input-streaming': 0,
  'input-available': 1,
  'approval-requested': 2,
  'approval-responded': 3,
  'output-available': 5,
  'output-error': 5,
  'output-denied': 5,
}

/** How far a call has come. A preliminary output is one step short of the end. */
export function rankOf(part: ToolPart): number {
  return part.state === 'output-available' && part.preliminary === true ? 4 : ranks[part.state]
}

/**
 * The part that a call becomes by a change; the same part when the change says nothing new. The change is frozen JSON.
 *
 * Throws: `tool-state` when the call is further than that already, or waits for an approval; `forged-approval` when an
 * approval is answered that nobody asked for.
 */
export function changedTool(part: ToolPart, change: ToolChange, path: string): ToolPart {
  const after = checkedPart(frozen(partAfter(part, change, path)), path) as ToolPart
  // Where the state is another one, nothing else can be the same that is not taken from the part already.
  const next = after.state === part.state ? shareEqual(part, after) : after
  if (next === part) return part
  const [before, reached] = [rankOf(part), rankOf(next)]
  if (reached < before || (reached === before && reached > 1 && reached !== 4)) {
    throw new MessageListError(
      'tool-state',
      `${describe(part)} is "${part.state}" and cannot become "${change.state}": states only advance. To correct what is stored, use update().`,
      { path },
    )
  }
  return next
}

function partAfter(part: ToolPart, change: ToolChange, path: string): object {
  switch (change.state) {
    case 'input-available':
      return { ...bare(part), state: change.state, input: change.input ?? null }
    case 'approval-requested':
      return {
        ...bare(part),
        state: change.state,
        input: 'input' in change ? change.input : part.input,
        approval: Object.freeze({ ...change.approval }),
      }
    case 'approval-responded':
      return {
        ...bare(part),
        state: change.state,
        input: 'input' in change ? change.input : part.input,
        approval: answered(part, change.approval, path),
      }
    case 'output-available':
      return {
        ...settled(part, path),
        ...outcome(change),
        output: change.output ?? null,
        preliminary: change.preliminary === true ? true : undefined,
      }
    case 'output-error':
      return { ...settled(part, path), ...outcome(change), errorText: change.errorText }
    case 'output-denied':
      return { ...bare(part), state: change.state, input: part.input ?? null, approval: refused(part, change.reason) }
  }
}

const ofOneState: ReadonlySet<string> = new Set([
  'state',
  'approval',
  'output',
  'errorText',
  'preliminary',
  'modelOutput',
  'resultProviderMetadata',
  'rawInput',
  'inputEncoding',
])

/** What every state of a call has in common. */
function bare(part: ToolPart): object {
  const kept: Record<string, unknown> = {}
  for (const key in part) if (!ofOneState.has(key)) kept[key] = part[key as keyof ToolPart]
  return kept
}

function outcome(change: Extract<ToolChange, { state: 'output-available' | 'output-error' }>): object {
  return {
    state: change.state,
    modelOutput: change.modelOutput && modernOutput(change.modelOutput),
    resultProviderMetadata: change.providerMetadata,
  }
}

function settled(part: ToolPart, path: string): object {
  if (part.approval !== undefined && part.approval.approved !== true) {
    const why = part.approval.approved === false ? 'was refused' : 'waits for an approval'
    throw new MessageListError(
      'tool-state',
      `${describe(part)} ${why} and cannot have a result. Answer the approval first, or set the state "output-denied".`,
      { path },
    )
  }
  return {
    ...bare(part),
    input: part.input ?? null,
    approval: part.approval,
  }
}

function answered(part: ToolPart, answer: ToolApprovalAnswer, path: string): object {
  if (part.approval?.id !== answer.id) {
    const asked =
      part.approval === undefined ? 'never asked for an approval' : `asked for approval "${part.approval.id}"`
    throw new MessageListError(
      'forged-approval',
      `${describe(part)} ${asked}, and "${answer.id}" answers another one. Answer with the id of the request.`,
      { path },
    )
  }
  return Object.freeze({ ...part.approval, ...answer })
}

function refused(part: ToolPart, reason: string | undefined): object {
  return frozen({ id: part.toolCallId, ...part.approval, approved: false, ...(reason === undefined ? {} : { reason }) })
}

/**
 * Brings a stored call as far as a copy of it has come. The copy may answer and resolve what is open, and nothing else:
 * its input, its name and its approval request are the stored ones.
 *
 * Throws: `forged-approval` when the copy claims an approval that nobody asked for, or turns a refusal round.
 */
export function advancedTool(stored: ToolPart, copy: ToolPart, path: string): ToolPart {
  // Only the list's own side asks for approvals: a copy that brings its own request would answer it next.
  if (rankOf(copy) <= rankOf(stored) || copy.state === 'approval-requested') return stored
  if (copy.approval?.approved === true) checkClaim(stored, copy, path)
  const streaming = stored.state === 'input-streaming'
  const approval =
    copy.approval === undefined
      ? stored.approval
      : Object.freeze({ ...copy.approval, ...withoutAnswer(stored.approval) })
  const part = {
    ...copy,
    ...(streaming ? {} : { input: stored.input }),
    modelOutput: stored.modelOutput,
    type: stored.type,
    ...(stored.type === 'dynamic-tool' ? { toolName: stored.toolName } : {}),
    toolCallId: stored.toolCallId,
    approval,
  }
  return checkedPart(frozen(part), path) as ToolPart
}

function checkClaim(stored: ToolPart, copy: ToolPart, path: string): void {
  const refusedBefore = stored.approval?.approved === false
  if (stored.approval?.id === copy.approval?.id && !refusedBefore) return
  const fact = refusedBefore ? 'was refused' : 'has no such approval request'
  throw new MessageListError(
    'forged-approval',
    `${path} says that ${describe(stored)} was answered under approval "${copy.approval?.id}", but the stored call ${fact}. Take the answer from a source that you trust.`,
    { path },
  )
}

function withoutAnswer(approval: ToolPart['approval']): object {
  if (approval === undefined) return {}
  const { approved: _, reason: _reason, ...request } = approval
  return request
}

function describe(part: ToolPart): string {
  return `tool call "${part.toolCallId}" (${toolNameOf(part)})`
}
