// Finding a tool call wherever it is, and putting what it became in its place.
import { MessageListError } from '../errors.ts'
import { isToolPart, withPart, type AgentMessage, type ToolPart } from '../message.ts'
import { changedTool, type ToolChange } from './tool-state.ts'

/** Which call is meant: that with an id, or that which made an approval request. */
export type ToolAddress = { readonly toolCallId: string } | { readonly approvalId: string }

/** Where a call is: the position of its message, and the index of its part. */
export interface ToolPlace {
  readonly position: number
  readonly index: number
}

/** Finds a call among the first `length` messages, the newest first. */
export function placeOfTool(
  messages: { at(position: number): AgentMessage | undefined },
  length: number,
  address: ToolAddress,
): ToolPlace | undefined {
  for (let position = length - 1; position >= 0; position--) {
    const { parts } = messages.at(position)!.content
    const index = parts.findLastIndex(part => isToolPart(part) && isAt(part, address))
    if (index >= 0) return { position, index }
  }
  return undefined
}

/** Whether a call is the one that is meant. */
export function isAt(part: ToolPart, address: ToolAddress): boolean {
  return 'toolCallId' in address ? part.toolCallId === address.toolCallId : part.approval?.id === address.approvalId
}

/** The message with a call changed; the same message when the change says nothing new. */
export function withChangedTool(
  message: AgentMessage,
  index: number,
  about: { readonly change: ToolChange; readonly path: string },
): AgentMessage {
  const part = message.content.parts[index] as ToolPart
  const changed = changedTool(part, about.change, about.path)
  return changed === part ? message : withPart(message, index, changed)
}

/** The error for a call that is not there. */
export function noSuchTool(address: ToolAddress, path: string): MessageListError {
  return 'toolCallId' in address
    ? new MessageListError(
        'unknown-tool-call',
        `${path} is about the tool call "${address.toolCallId}", which no message makes. Add the message that makes the call first.`,
        { path },
      )
    : new MessageListError(
        'forged-approval',
        `${path} answers the approval request "${address.approvalId}", which no call has made. Answer with the id of the request.`,
        { path },
      )
}
