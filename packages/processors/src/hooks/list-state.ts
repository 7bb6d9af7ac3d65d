// What a conversation was before a hook, to tell what the hook changed in it.
import type { AgentMessage, MessageList, SystemMessage } from '@lockstep/message-list'

/** The messages and the system messages of a list at one time. */
export interface ListState {
  readonly messages: readonly AgentMessage[]
  readonly systemMessages: readonly SystemMessage[]
}

/** Takes the state; it costs nothing, since both are frozen. */
export function stateOfList(list: MessageList): ListState {
  return { messages: list.get.all.db(), systemMessages: list.getAllSystemMessages() }
}

/** The names of what is another than before. */
export function changedSince(before: ListState, list: MessageList): readonly string[] {
  const after = stateOfList(list)
  return [
    ...(sameItems(before.messages, after.messages, Object.is) ? [] : ['messages']),
    ...(sameItems(before.systemMessages, after.systemMessages, sameSystemMessage) ? [] : ['systemMessages']),
  ]
}

function sameItems<T>(before: readonly T[], after: readonly T[], same: (one: T, other: T) => boolean): boolean {
  return (
    before === after || (before.length === after.length && before.every((item, index) => same(item, after[index]!)))
  )
}

function sameSystemMessage(one: SystemMessage, other: SystemMessage): boolean {
  return (
    one === other ||
    (one.content === other.content && JSON.stringify(one.providerOptions) === JSON.stringify(other.providerOptions))
  )
}
