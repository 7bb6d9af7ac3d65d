// How the tests read a list: by what its messages say.
import {
  isToolPart,
  MessageListError,
  type AgentMessage,
  type MessageList,
  type ToolPart,
} from '@lockstep/message-list'

export const textOf = (message: AgentMessage): string =>
  message.content.parts.map(part => (part.type === 'text' ? part.text : `<${part.type}>`)).join('')

export const textsOf = (list: MessageList): string[] => list.getMessages().map(textOf)

export const partsOf = (list: MessageList, id: string): AgentMessage['content']['parts'] => list.find(id)!.content.parts

export const toolOf = (list: MessageList, toolCallId: string): ToolPart | undefined =>
  list
    .getMessages()
    .flatMap(message => message.content.parts)
    .filter(isToolPart)
    .find(part => part.toolCallId === toolCallId)

/** The error that a function throws, for looking at its code and path. */
export const errorOf = (run: () => unknown): MessageListError => {
  try {
    run()
  } catch (error) {
    if (MessageListError.isInstance(error)) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

/** Throws unless a value is frozen to the leaves. A URL cannot be, and is not stored. */
export const expectFrozen = (value: unknown, path = 'value'): void => {
  if (typeof value !== 'object' || value === null || value instanceof URL) return
  if (!Object.isFrozen(value)) throw new Error(`${path} is not frozen`)
  for (const [key, child] of Object.entries(value)) expectFrozen(child, `${path}.${key}`)
}
