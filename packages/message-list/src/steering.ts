// Responses with a message put in between. Stored, the response closes and another message continues it; in the `ui`
// view they are one message with a `steering-message` part, as the AI SDK shows it.
import type { AgentMessage, MessagePart } from './message.ts'
import type { MessageDraft, Reading } from './reading/message-draft.ts'

const continuesKey = 'lockstep.continues'

/**
 * Metadata for an assistant message that goes on where another one had to close, because a message was put in between.
 * The `ui` view shows both as one.
 */
export function continuationOf(messageId: string): { readonly [continuesKey]: string } {
  return { [continuesKey]: messageId }
}

/** The id of the message that this one continues. */
export function continuedBy(message: AgentMessage): string | undefined {
  const id = message.content.metadata?.[continuesKey]
  return typeof id === 'string' ? id : undefined
}

/** The metadata of a message without the note that it continues another one. */
export function ownMetadata(message: AgentMessage): MessageDraft['metadata'] {
  const { metadata } = message.content
  if (metadata === undefined || !(continuesKey in metadata)) return metadata
  const { [continuesKey]: _, ...own } = metadata
  return Object.keys(own).length === 0 ? undefined : own
}

type Steering = Extract<MessagePart, { type: 'steering-message' }>

/** Splits a message at its steering messages: what came before, what was put in between, and what came after. */
export function splitAtSteering(draft: MessageDraft, path: string): readonly Reading[] {
  const first = draft.parts.findIndex(part => part.type === 'steering-message')
  if (first < 0 || draft.id === undefined) return [{ type: 'message', draft, path }]
  const steering = draft.parts[first] as Steering
  const { metadata: _, ...rest } = draft
  const before: MessageDraft = { ...draft, parts: Object.freeze(draft.parts.slice(0, first)) }
  const between: MessageDraft = { id: steering.id, role: 'user', parts: steering.parts }
  const continues = { id: draft.id, after: steering.id }
  const after = splitAtSteering(
    { ...rest, metadata: Object.freeze(continuationOf(draft.id)), parts: Object.freeze(draft.parts.slice(first + 1)) },
    path,
  )
  return [
    { type: 'message', draft: before, path },
    { type: 'message', draft: between, path },
    ...after.map((reading, index) => (index === 0 ? ({ ...reading, continues } as Reading) : reading)),
  ]
}
