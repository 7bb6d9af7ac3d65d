// What a run that did not come to its end leaves in the store: a marker where it was refused, no call without an end.
import { isToolPart, MessageList, type AgentMessage } from '@lockstep/message-list'
import type { StopReason } from '@lockstep/processors'

/** The type of the data part that stands for a refusal. */
export const tripwirePartType = 'data-tripwire'

/**
 * The message that stands for what a processor refused. It says who refused and nothing else: a reason may quote what it
 * refuses. Being data, it is shown to people and never to a model.
 */
export function tripwireMarker(list: MessageList, processorId: string): AgentMessage {
  const marker = {
    role: 'assistant',
    content: { format: 2, parts: [{ type: tripwirePartType, data: { processorId } }] },
  } as const
  const { threadId, resourceId } = list
  const own = new MessageList({
    ...(threadId === undefined ? {} : { threadId }),
    ...(resourceId === undefined ? {} : { resourceId }),
    generateId: () => list.generateId(),
    now: () => list.now(),
  })
  return own.add(marker as object as AgentMessage, 'response').getMessages()[0]!
}

/** Whether a run that ended so was in the middle of something, which nobody will finish. */
export function isCutShort(stopReason: StopReason): boolean {
  return stopReason === 'aborted' || stopReason === 'error' || stopReason === 'tripwire'
}

/** Messages of a run whose calls nobody will answer any more, with those calls ended. */
export function withEndedCalls(rows: readonly AgentMessage[], stopReason: StopReason): readonly AgentMessage[] {
  return rows.map(row => {
    const list = new MessageList().add(row, 'response')
    list.update(row.id, draft => {
      for (const [index, part] of row.content.parts.entries()) {
        if (!isToolPart(part)) continue
        const ended = endOf(part, stopReason)
        if (ended) draft.content.parts[index] = ended as never
      }
    })
    return list.find(row.id)!
  })
}

/** The end of a call that has none. */
function endOf(part: AgentMessage['content']['parts'][number], stopReason: StopReason): object | undefined {
  if (!isToolPart(part)) return undefined
  const { type, toolCallId, input = null, approval } = part
  const named = part.type === 'dynamic-tool' ? { toolName: part.toolName } : {}
  const how =
    stopReason === 'tripwire' ? 'stopped by a processor' : stopReason === 'error' ? 'ended by an error' : stopReason
  const call = { type, ...named, toolCallId, input }
  switch (part.state) {
    case 'approval-requested':
      return {
        ...call,
        state: 'output-denied',
        approval: { ...approval, approved: false, reason: `The run was ${how}.` },
      }
    case 'input-streaming':
    case 'input-available':
    case 'approval-responded':
      return {
        ...call,
        ...(approval === undefined ? {} : { approval }),
        state: 'output-error',
        errorText: `The run was ${how} before this call had a result.`,
      }
    case 'output-available':
      return part.preliminary === true ? { ...part, preliminary: undefined } : undefined
    default:
      return undefined
  }
}
