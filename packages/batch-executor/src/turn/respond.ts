// A turn of a conversation: messages come in, the turn runs through the agent loop, and its message joins them.
import { MessageList, type AgentMessage, type MessageInput } from '@lockstep/message-list'
import type { ToolSet } from 'ai'
import type { BatchResponse, TurnChunk } from './batch-response.ts'
import type { BatchTurnOptions } from './batch-turn.ts'
import { createSession } from '../session/create-session.ts'
import { joinFields } from '../route/fields.ts'
import type { TurnContext } from '../route/hook.ts'
import { loopModel, type LoopModelOptions } from '../model/loop-model.ts'
import type { Route } from '../route/route.ts'
import type { Session } from '../session/session.ts'
import type { RawValues } from '../session/set-values.ts'

/** How a conversation goes on: over which routes, from where, and everything that a run of the loop takes. */
export type RespondOptions<TData, TContext = unknown, TOOLS extends ToolSet = ToolSet> = LoopModelOptions<TOOLS> &
  Omit<TurnContext<TData, TContext>, 'session'> & {
    readonly routes: readonly Route<TData, TContext>[]
    /** Absent: a new one. */
    readonly session?: Session<NoInfer<TData>>
    /** What the user gave in another way than words. */
    readonly values?: RawValues<NoInfer<TData>>
  }

/** What came of a turn, and the conversation after it. */
export interface ConversationResponse<TData> extends BatchResponse<TData> {
  /** A list of its own: what was given, what the user said and the reply. When the turn was broken off, what was given. */
  readonly messageList: MessageList
}

/** What the user says: text, or messages in any format, of which the last ones by the user are read. */
export type RespondInput = string | MessageInput | readonly MessageInput[]

/**
 * Makes one turn of a conversation with a function that streams turns.
 *
 * The list given is not written to: the turn works on a fork of it, which becomes that of the response.
 */
export async function* respondWith<TData, TContext, TOOLS extends ToolSet>(
  input: RespondInput,
  options: RespondOptions<TData, TContext, TOOLS>,
  stream: (turn: BatchTurnOptions<TData, TContext>) => AsyncGenerator<TurnChunk, BatchResponse<TData>, void>,
): AsyncGenerator<TurnChunk, ConversationResponse<TData>, void> {
  const { routes, session, values, context, abortSignal, messageList = new MessageList(), ...loop } = options
  const list = messageList.fork().add(input, 'input')
  const words = lastWords(list.get.all.db())
  const fields = joinFields(routes.map(route => route.fields))
  const turn = {
    session: session ?? createSession({ fields }),
    routes,
    context,
    callModel: loopModel({ ...loop, messageList: list } as LoopModelOptions<TOOLS>),
    ...(words !== '' && { input: words }),
    ...(values !== undefined && { values }),
    ...(abortSignal !== undefined && { abortSignal }),
  }
  const response = yield* stream(turn as unknown as BatchTurnOptions<TData, TContext>)
  const isBrokenOff = response.error !== undefined && response.error.code !== 'finalize-failed'
  if (isBrokenOff) return { ...response, messageList: messageList.fork() }
  if (response.message !== '') list.add({ role: 'assistant', content: response.message }, 'response')
  return { ...response, messageList: list }
}

/** What the user said since the other side last spoke. What has no text is still to be read by the model. */
function lastWords(messages: readonly AgentMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const said = messages.slice(last + 1).filter(({ role }) => role === 'user')
  const texts = said.flatMap(({ content }) => content.parts.flatMap(part => (part.type === 'text' ? [part.text] : [])))
  const words = texts.join('\n')
  return said.length > 0 && words.trim() === '' && hasMore(said) ? '(a message without text)' : words
}

function hasMore(messages: readonly AgentMessage[]): boolean {
  return messages.some(({ content }) => content.parts.some(({ type }) => type !== 'text'))
}
