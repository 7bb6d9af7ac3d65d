// Messages as a client sees them: `UIMessage`s of the AI SDK 7.
import type { UIMessage } from 'ai'
import { isToolPart, type AgentMessage, type MessagePart } from './message.ts'
import { continuedBy, ownMetadata } from './steering.ts'

const cache = new WeakMap<AgentMessage, UIMessage>()

/** Converts messages. A response with messages put in between becomes one message with `steering-message` parts. */
export function toUI(messages: readonly AgentMessage[]): UIMessage[] {
  const shown: UIMessage[] = []
  for (let position = 0; position < messages.length; position++) {
    const message = messages[position]!
    const group = groupAt(messages, position)
    if (group.length > 1) position += group.length - 1
    shown.push(group.length > 1 ? grouped(group) : single(message))
  }
  return Object.freeze(shown) as UIMessage[]
}

/** A message with what was put in between and what continues it. */
function groupAt(messages: readonly AgentMessage[], position: number): readonly AgentMessage[] {
  const group = [messages[position]!]
  const ids = new Set([group[0]!.id])
  let end = position + 1
  while (group[0]!.role === 'assistant') {
    let next = end
    while (messages[next]?.role === 'user') next++
    const continuation = messages[next]
    const continued = continuation === undefined || next === end ? undefined : continuedBy(continuation)
    if (continued === undefined || !ids.has(continued)) break
    group.push(...messages.slice(end, next + 1))
    ids.add(continuation!.id)
    end = next + 1
  }
  return group
}

function single(message: AgentMessage): UIMessage {
  let shown = cache.get(message)
  if (shown === undefined) {
    shown = uiMessage(message, partsOf(message), ownMetadata(message))
    cache.set(message, shown)
  }
  return shown
}

function grouped(group: readonly AgentMessage[]): UIMessage {
  const parts = group.flatMap(message => {
    if (message.role !== 'user') return partsOf(message)
    const said = partsOf(message).filter(part => part.type === 'text' || part.type === 'file')
    return [Object.freeze({ type: 'steering-message' as const, id: message.id, parts: Object.freeze(said) }) as MessagePart]
  })
  const noted = group.filter(message => message.role !== 'user').map(ownMetadata)
  return uiMessage(group[0]!, Object.freeze(parts), noted.some(metadata => metadata !== undefined) ? Object.freeze(Object.assign({}, ...noted)) : undefined)
}

function uiMessage({ id, role }: AgentMessage, parts: readonly MessagePart[], metadata: unknown): UIMessage {
  return Object.freeze({ id, role, ...(metadata === undefined ? {} : { metadata }), parts }) as UIMessage
}

/** The parts that a client knows, without what only the model is shown. The array itself when that is all of them. */
function partsOf({ content: { parts } }: AgentMessage): readonly MessagePart[] {
  if (parts.every(part => isKnown(part) && !(isToolPart(part) && part.modelOutput !== undefined))) return parts
  return Object.freeze(parts.filter(isKnown).map(withoutModelOutput))
}

const knownTypes: ReadonlySet<string> = new Set([
  'text', 'reasoning', 'custom', 'file', 'reasoning-file', 'source-url', 'source-document', 'step-start', 'steering-message',
])

function isKnown(part: MessagePart): boolean {
  return knownTypes.has(part.type) || isToolPart(part) || part.type.startsWith('data-')
}

function withoutModelOutput(part: MessagePart): MessagePart {
  if (!isToolPart(part) || part.modelOutput === undefined) return part
  const { modelOutput: _, ...shown } = part
  return Object.freeze(shown) as MessagePart
}
