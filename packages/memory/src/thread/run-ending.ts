// What a run that did not come to its end leaves in the store: a marker where it was refused, no call without an end.
import { isToolPart, MessageList, type AgentMessage, type MessagePart, type ToolPart } from '@lockstep/message-list'
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

/** Parts of a run that was cut short, with the calls ended that nobody will answer any more. */
export function withEndedCalls(
  parts: readonly MessagePart[],
  cutShort: StopReason | undefined,
): readonly MessagePart[] {
  return cutShort === undefined ? parts : parts.map(part => (isToolPart(part) ? endOf(part, cutShort) : part))
}

/** A call with an end, if it has none. */
function endOf(part: ToolPart, cutShort: StopReason): ToolPart {
  const { type, toolCallId, input = null, approval } = part
  const named = part.type === 'dynamic-tool' ? { toolName: part.toolName } : {}
  const how = cutShort === 'tripwire' ? 'stopped by a processor' : cutShort === 'error' ? 'ended by an error' : cutShort
  const call = { type, ...named, toolCallId, input }
  switch (part.state) {
    case 'approval-requested': {
      const refused = { ...approval, approved: false, reason: `The run was ${how}.` }
      return { ...call, state: 'output-denied', approval: refused } as ToolPart
    }
    case 'input-streaming':
    case 'input-available':
    case 'approval-responded': {
      const errorText = `The run was ${how} before this call had a result.`
      return { ...call, state: 'output-error', errorText, ...(approval === undefined ? {} : { approval }) } as ToolPart
    }
    case 'output-available': {
      const { preliminary: _, ...settled } = part
      return part.preliminary === true ? (settled as ToolPart) : part
    }
    default:
      return part
  }
}
