// What a client sends again of a thread that the store knows better: told apart from what is new.
import { isToolPart, type AgentMessage } from '@lockstep/message-list'

/** The input of a run, sorted. What is in neither list is new. */
export interface ClientHistory {
  /** Copies of stored messages, under the ids of those. Only their results and approvals count. */
  readonly copies: readonly AgentMessage[]
  /** The ids of what is not taken into the run: copies, and what the client alone believes was said. */
  readonly known: readonly string[]
}

/**
 * Sorts the input of a run on a thread that has messages.
 *
 * Everything up to the client's last answer is history, and of that the store is the judge: an answer that it does not
 * have was never given, or was withdrawn. A question that it does not have is new when the client keeps the store's ids;
 * a client that makes up ids each time would say its whole history again.
 */
export function clientHistory(input: readonly AgentMessage[], stored: readonly AgentMessage[]): ClientHistory {
  const byId = new Map(stored.map(message => [message.id, message]))
  const byCall = new Map(stored.flatMap(message => callIdsOf(message).map(id => [id, message] as const)))
  const keepsIds = input.some(({ id }) => byId.has(id))
  const lastAnswer = input.findLastIndex(({ role }) => role === 'assistant')
  const copies: AgentMessage[] = []
  const known: string[] = []
  for (const [index, message] of input.entries()) {
    const isNew = message.role === 'user' && (index > lastAnswer || keepsIds)
    const original = byId.get(message.id) ?? callIdsOf(message).flatMap(id => byCall.get(id) ?? [])[0]
    if (original !== undefined) copies.push(original.id === message.id ? message : { ...message, id: original.id })
    if (original !== undefined || !isNew) known.push(message.id)
  }
  return { copies, known }
}

/** The ids of the calls in a message. */
function callIdsOf({ content }: AgentMessage): readonly string[] {
  return content.parts.filter(isToolPart).map(({ toolCallId }) => toolCallId)
}
