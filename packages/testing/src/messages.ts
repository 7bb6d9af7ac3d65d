// Builders of stored messages, for histories and inputs of tests.
import type { AgentMessage, MessagePart, ToolPart } from '@lockstep/message-list'

/** What may be given of a message; the rest is made up, the same in each run of a test file. */
export type MessageDetails = Partial<Pick<AgentMessage, 'id' | 'createdAt' | 'threadId' | 'resourceId'>>

let count = 0

/** A message of the user: its text, or its parts. */
export function userSays(content: string | readonly MessagePart[], details?: MessageDetails): AgentMessage {
  return message('user', content, details)
}

/** A message of the assistant: its text, or its parts. */
export function assistantSays(content: string | readonly MessagePart[], details?: MessageDetails): AgentMessage {
  return message('assistant', content, details)
}

/** A tool call and what came of it, as a part of a message of the assistant. */
export function toolPart(
  toolName: string,
  call: {
    readonly input?: unknown
    readonly output?: unknown
    readonly errorText?: string
    readonly toolCallId?: string
  },
): ToolPart {
  const { input = {}, output, errorText, toolCallId = `past-call-${++count}` } = call
  const outcome =
    errorText !== undefined
      ? { state: 'output-error', errorText }
      : 'output' in call
        ? { state: 'output-available', output }
        : { state: 'input-available' }
  return { type: `tool-${toolName}`, toolCallId, input, ...outcome } as ToolPart
}

function message(
  role: AgentMessage['role'],
  content: string | readonly MessagePart[],
  details: MessageDetails = {},
): AgentMessage {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return {
    id: `message-${++count}`,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...details,
    role,
    content: { format: 2, parts },
  }
}
