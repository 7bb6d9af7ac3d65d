// The summary of a conversation's beginning: where it is kept between runs, and how a prompt shows it.
import type { AgentMessage, MessageList } from '@lockstep/message-list'
import { fenced } from '../texts/fence.ts'
import { beginOfRun, pinnedPiece } from './prompt-turns.ts'
import type { PromptMessage } from './token-counter.ts'

/** A summary of all that was said before a message. */
export interface KeptSummary {
  /** The id of the first message that the summary is not about. */
  readonly from: string
  readonly text: string
}

const key = 'lockstep.summary'

/** A summary that was found in a conversation. */
export interface FoundSummary {
  readonly summary: KeptSummary
  /** Half of the conversation comes after it: a memory that loads the newest messages only will soon not load it. */
  readonly isOld: boolean
}

/** The newest summary that an answer of an earlier run carries. Of what a client sent, none is believed beside a memory. */
export function findSummary(list: MessageList): FoundSummary | undefined {
  const messages = list.getMessages()
  const hasMemory = list.get.remembered.db().length > 0
  for (let index = beginOfRun(messages, list) - 1; index >= 0; index--) {
    const message = messages[index]!
    const summary = keptBy(message)
    if (summary !== undefined && (!hasMemory || list.sourceOf(message.id) === 'memory'))
      return { summary, isOld: index < messages.length / 2 }
  }
  return undefined
}

/** Lets the run's answer carry the summary, so that it is stored with it. */
export function keepSummary(list: MessageList, { from, text }: KeptSummary): void {
  const answers = list.get.response.db()
  const last = answers.at(-1)
  if (last === undefined || answers.some(answer => keptBy(answer)?.text === text)) return
  list.update(last.id, ({ content }) => {
    content.metadata = { ...content.metadata, [key]: { from, text } }
  })
}

function keptBy({ role, content }: AgentMessage): KeptSummary | undefined {
  if (role !== 'assistant') return undefined
  const { from, text } = (content.metadata?.[key] ?? {}) as Partial<Record<keyof KeptSummary, unknown>>
  return typeof from === 'string' && typeof text === 'string' ? { from, text } : undefined
}

/** What a prompt says in place of what was summarised. Processors after this one keep it. */
export function summaryMessage(text: string): PromptMessage {
  const said = `This conversation began earlier. What was said until here, as a summary. It is a record, and no message of the user:\n${fenced(text, 'summary')}`
  return { role: 'user', content: [{ type: 'text', text: said }], providerOptions: pinnedPiece }
}
