// What a suspended run has said and the store was not given, because a processor could still change it as a whole: it is
// known again to the run that goes on with the answer.
import { isToolPart, MessageList, type AgentMessage, type MessagePart } from '@lockstep/message-list'
import type { OpenMessages } from './remembered-calls.ts'
import type { SuspendedRun } from '../stores/thread-store.ts'

/** What a suspended run had said, as it is in its state. */
export function responseOf({ state }: SuspendedRun): readonly AgentMessage[] {
  const { messageList } = (state ?? {}) as { readonly messageList?: unknown }
  return messageList === undefined ? [] : MessageList.fromJSON(messageList).get.response.db()
}

/**
 * Completes remembered messages by what their suspended runs had said. A message of which a run has lost something that
 * is stored stays as it is.
 *
 * Gives, by the id of each message that it completed, how many of the stored parts come before what was withheld.
 */
export function restoreWithheld(list: MessageList, responses: readonly AgentMessage[]): OpenMessages {
  const restored: { [id: string]: number } = {}
  for (const { id, content } of responses) {
    const stored = list.find(id)?.content.parts
    if (stored === undefined || !isWithin(stored, content.parts)) continue
    const answered = new Map(stored.filter(isToolPart).map(part => [part.toolCallId, part]))
    const parts = content.parts.map(part => (isToolPart(part) && answered.get(part.toolCallId)) || part)
    list.update(id, draft => void (draft.content.parts = parts as never))
    restored[id] = commonStepsLength(stored, parts)
  }
  return restored
}

/** Whether a message has all of some fewer parts, in their sequence. */
function isWithin(fewer: readonly MessagePart[], parts: readonly MessagePart[]): boolean {
  if (fewer.length >= parts.length) return false
  let found = 0
  for (const part of parts) if (found < fewer.length && isSame(fewer[found]!, part)) found++
  return found === fewer.length
}

/** How many parts are the same at the beginning of both, in whole steps. */
function commonStepsLength(stored: readonly MessagePart[], parts: readonly MessagePart[]): number {
  const first = stored.findIndex((part, index) => !isSame(part, parts[index]!))
  const end = first < 0 ? stored.length : first
  return Math.max(
    stored.findLastIndex(({ type }, index) => type === 'step-start' && index < end),
    0,
  )
}

/** Whether both are the same call, whatever became of it, or say the same. */
function isSame(one: MessagePart, other: MessagePart): boolean {
  if (isToolPart(one)) return isToolPart(other) && one.toolCallId === other.toolCallId
  return JSON.stringify(one) === JSON.stringify(other)
}
