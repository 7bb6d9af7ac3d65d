// Loading: what the store remembers goes before the new input, and what a client sends again is recognised.
import type { AgentMessage, MessageList } from '@lockstep/message-list'
import { takeAnsweredRuns } from './answered-runs.ts'
import { restoreWithheld } from './withheld-steps.ts'
import { clientHistory } from './client-history.ts'
import { answeredApprovals, hasOpenCall, type OpenMessages } from './remembered-calls.ts'
import { checkOwner, threadIdOf } from './thread-owner.ts'
import type { ReadOptions, ThreadStore } from '../stores/thread-store.ts'
import { windowOf, type WindowOptions } from '../recall/window.ts'

/** What was found, for the saving at the end. */
export interface LoadedThread {
  readonly revision: number
  /** The remembered messages whose calls wait for a result or an approval. */
  readonly open: OpenMessages
  /** Of those of which the list knows more than the store: how many stored parts come before that. */
  readonly withheld: OpenMessages
}

/** How a thread is loaded. */
export interface LoadOptions extends WindowOptions {
  /** Whether a response is stored only when a processor has seen it as a whole. */
  readonly isReviewable: boolean
}

/**
 * Brings a thread into the list of a run.
 *
 * Throws: `no-thread`, `wrong-resource`, `already-answered`, and what the store and `add` throw.
 */
export async function loadThread(store: ThreadStore, options: LoadOptions, list: MessageList): Promise<LoadedThread> {
  const threadId = threadIdOf(list)
  const input = list.get.input.db()
  const { thread, messages } = await store.read(threadId, rangeOf(options, input))
  checkOwner(thread, list)
  if (messages.length === 0) return { revision: thread?.revision ?? 0, open: {}, withheld: {} }
  const { copies, known } = clientHistory(input, messages)
  const entries = windowOf(messages.slice(0, endOfMemory(messages, input, known)), options)
  const copied = new Set(copies.map(({ id }) => id))
  const inWindow = new Set(entries.map(({ message }) => message.id))
  const candidates = messages.filter(({ id }) => inWindow.has(id) || copied.has(id))
  list.removeByIds(known)
  list.add(candidates, 'memory')
  const before = new Map(candidates.map(({ id }) => [id, list.find(id)!]))
  list.add(copies, 'input')
  const answered = copies.flatMap(({ id }) => answeredApprovals(before.get(id)!, list.find(id)!))
  const responses = await takeAnsweredRuns(store, threadId, answered)
  // A message from before the window is remembered when the client has just told what came of its call.
  const isRemembered = ({ id }: AgentMessage) => inWindow.has(id) || list.find(id) !== before.get(id)
  const remembered = candidates.filter(isRemembered)
  list.removeByIds(candidates.filter(message => !isRemembered(message)).map(({ id }) => id))
  const open = Object.fromEntries(remembered.filter(hasOpenCall).map(({ id, content }) => [id, content.parts.length]))
  const withheld = options.isReviewable ? restoreWithheld(list, responses) : {}
  for (const { message, skippedPartCount } of entries)
    if (skippedPartCount > 0 && withheld[message.id] === undefined)
      list.update(message.id, draft => void draft.content.parts.splice(0, skippedPartCount))
  return { revision: thread?.revision ?? 0, open, withheld }
}

/** A question that is sent alone once more is asked again: what came after it is not remembered by this run. */
function endOfMemory(
  messages: readonly AgentMessage[],
  input: readonly AgentMessage[],
  known: readonly string[],
): number {
  const last = input.at(-1)
  const isAskedAgain = last?.role === 'user' && known.length === input.length
  return isAskedAgain ? messages.findIndex(({ id }) => id === last.id) + 1 : messages.length
}

/** At least one message is read, to know whether the thread has any. */
function rangeOf({ lastMessages = 40 }: WindowOptions, input: readonly AgentMessage[]): ReadOptions {
  if (lastMessages === Infinity) return {}
  return { last: Math.max(lastMessages, 1), ids: input.map(({ id }) => id) }
}
