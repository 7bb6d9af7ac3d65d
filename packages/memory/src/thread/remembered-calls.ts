// Messages of the thread whose calls were open when the run began: what became of the calls, and the steps that a response
// went on with after them. Nothing else of the list's versions of these messages is ever stored.
import { isToolPart, MessageList, type AgentMessage, type MessagePart } from '@lockstep/message-list'
import type { StopReason } from '@lockstep/processors'
import { withEndedCalls } from './run-ending.ts'
import { threadIdOf } from './thread-owner.ts'
import type { ThreadStore } from '../stores/thread-store.ts'

/** How many parts each such message had, by its id. */
export type OpenMessages = Readonly<Record<string, number>>

/**
 * How much of a response is stored: all of it; nothing, while a processor may still change it as a whole; or of that the calls
 * alone that wait for a person, so that the answer finds them.
 */
export type StoredResponse = 'all' | 'waiting calls' | 'nothing'

/** How much of the list's versions counts. */
export interface Continuation {
  readonly list: MessageList
  /** How much of the response is stored now. */
  readonly response: StoredResponse
  /** How the run was cut short, if it was. */
  readonly cutShort?: StopReason | undefined
}

/** The stored messages as they are to be, those that differ. */
export async function continuedMessages(
  store: ThreadStore,
  { open, withheld }: { readonly open: OpenMessages; readonly withheld: OpenMessages },
  continuation: Continuation,
): Promise<readonly AgentMessage[]> {
  const { list } = continuation
  const ids = Object.keys(open).filter(id => list.find(id))
  if (ids.length === 0) return []
  const { messages } = await store.read(threadIdOf(list), { ids })
  return messages.flatMap(message => {
    const stored = new MessageList().add(message, 'memory')
    const before = stored.getMessages()[0]!
    // As the word of a client: it adds results and answers to calls that are open, and changes nothing else.
    stored.add(list.find(before.id)!, 'input')
    if (list.sourceOf(before.id) === 'response') {
      const { parts } = stored.find(before.id)!.content
      // What was withheld enters the store with all of the response, or not at all.
      const known = continuation.response === 'all' ? withheld[before.id] : undefined
      const own = parts.slice(0, known ?? open[before.id])
      const steps = withEndedCalls(
        storedParts(stepsAfter(own, list.find(before.id)!), continuation.response),
        continuation.cutShort,
      )
      stored.update(before.id, draft => void (draft.content.parts = [...own, ...steps] as never))
    }
    const after = stored.find(before.id)!
    return after === before ? [] : [after]
  })
}

/** What of some parts of a response is stored. */
export function storedParts(parts: readonly MessagePart[], response: StoredResponse): readonly MessagePart[] {
  if (response === 'all') return parts
  const waiting = parts.filter(part => isToolPart(part) && part.state === 'approval-requested')
  return response === 'nothing' || waiting.length === 0 ? [] : [{ type: 'step-start' }, ...waiting]
}

/** The steps that a message has after the calls that it was stored with. */
function stepsAfter(own: readonly MessagePart[], { content: { parts } }: AgentMessage): readonly MessagePart[] {
  const calls = new Set(own.filter(isToolPart).map(({ toolCallId }) => toolCallId))
  const last = parts.findLastIndex(part => isToolPart(part) && calls.has(part.toolCallId))
  const next = parts.findIndex((part, index) => index > last && part.type === 'step-start')
  return next < 0 ? [] : parts.slice(next)
}

/** Whether a message has a call that waits for somebody: a result, an approval, or the end of a result. */
export function hasOpenCall({ content }: AgentMessage): boolean {
  return content.parts.some(
    part =>
      isToolPart(part) &&
      !(part.state === 'output-error' || part.state === 'output-denied') &&
      !(part.state === 'output-available' && part.preliminary !== true),
  )
}

/** The approvals that are answered in one version of a message and were asked for in another. */
export function answeredApprovals(before: AgentMessage, after: AgentMessage): readonly string[] {
  const asked = new Set(
    before.content.parts
      .filter(isToolPart)
      .flatMap(part => (part.state === 'approval-requested' ? part.toolCallId : [])),
  )
  return after.content.parts
    .filter(isToolPart)
    .flatMap(part => (part.state === 'approval-responded' && asked.has(part.toolCallId) ? part.approval.id : []))
}
