// Messages as a client sees them: `UIMessage`s of the AI SDK 7.
import type { UIMessage } from 'ai'
import { frozen } from '../frozen-json.ts'
import { keepNewest, newestOf } from '../lineage.ts'
import { isToolPart, type AgentMessage, type MessagePart } from '../message.ts'
import type { Sequence } from '../segments.ts'
import { continuedBy, ownMetadata } from '../steering.ts'

/** Converts messages. A response with messages put in between becomes one message with `steering-message` parts. */
export function toUI(messages: readonly AgentMessage[]): UIMessage[] {
  const shown: UIMessage[] = []
  let position = 0
  while (position < messages.length) {
    const end = endOfGroup(messages, position)
    shown.push(end === position + 1 ? single(messages[position]!) : grouped(messages.slice(position, end)))
    position = end
  }
  return Object.freeze(shown) as UIMessage[]
}

/** Converts all messages of a sequence. Segments in which nothing continues another message are converted once. */
export function sequenceToUI(sequence: Sequence): UIMessage[] {
  const pieces = sequence.segments.map(segment =>
    segment.derive('ui', ({ messages }) =>
      messages.some(message => continuedBy(message) !== undefined) ? undefined : toUI(messages),
    ),
  )
  if (pieces.includes(undefined)) return toUI(sequence.segments.flatMap(segment => segment.messages))
  const shown: UIMessage[] = []
  return Object.freeze(shown.concat(...(pieces as UIMessage[][]))) as UIMessage[]
}

/** The end of a message with what was put in between and what continues it. */
function endOfGroup(messages: readonly AgentMessage[], start: number): number {
  let end = start + 1
  if (messages[start]!.role !== 'assistant') return end
  const ids = [messages[start]!.id]
  for (;;) {
    let next = end
    while (messages[next]?.role === 'user') next++
    const continuation = messages[next]
    if (continuation === undefined || next === end || !ids.includes(continuedBy(continuation) ?? '')) return end
    ids.push(continuation.id)
    end = next + 1
  }
}

function single(message: AgentMessage): UIMessage {
  const known = newestOf<UIMessage>(message, 'ui')
  if (known?.of === message) return known.value
  const shown = uiMessage(message, partsOf(message), ownMetadata(message))
  keepNewest(message, 'ui', shown)
  return shown
}

function grouped(group: readonly AgentMessage[]): UIMessage {
  const parts = group.flatMap(message => {
    if (message.role !== 'user') return partsOf(message)
    const said = partsOf(message).filter(part => part.type === 'text' || part.type === 'file')
    return [
      Object.freeze({ type: 'steering-message' as const, id: message.id, parts: Object.freeze(said) }) as MessagePart,
    ]
  })
  const noted = group.filter(message => message.role !== 'user').map(ownMetadata)
  return uiMessage(
    group[0]!,
    Object.freeze(parts),
    noted.some(metadata => metadata !== undefined) ? Object.freeze(Object.assign({}, ...noted)) : undefined,
  )
}

function uiMessage({ id, role }: AgentMessage, parts: readonly MessagePart[], metadata: unknown): UIMessage {
  return frozen({ id, role, metadata, parts }) as UIMessage
}

/** The parts that a client knows, without what only the model is shown. The array itself when that is all of them. */
function partsOf({ content: { parts } }: AgentMessage): readonly MessagePart[] {
  if (parts.every(part => isKnown(part) && !(isToolPart(part) && part.modelOutput !== undefined))) return parts
  return Object.freeze(parts.filter(isKnown).map(withoutModelOutput))
}

const knownTypes: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'custom',
  'file',
  'reasoning-file',
  'source-url',
  'source-document',
  'step-start',
  'steering-message',
])

function isKnown(part: MessagePart): boolean {
  return knownTypes.has(part.type) || isToolPart(part) || part.type.startsWith('data-')
}

function withoutModelOutput(part: MessagePart): MessagePart {
  if (!isToolPart(part) || part.modelOutput === undefined) return part
  const { modelOutput: _, ...shown } = part
  return Object.freeze(shown) as MessagePart
}
