// Semantic recall: turns that mean something similar, from before the window or from other threads of the resource.
import type { AgentMessage, MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { isCutShort } from '../thread/run-ending.ts'
import { threadIdOf } from '../thread/thread-owner.ts'
import type { ThreadStore } from '../stores/thread-store.ts'
import type { VectorHit, VectorIndex } from './vector-index.ts'

/** What is recalled, and by what. */
export interface SemanticRecallOptions {
  readonly index: VectorIndex
  /** Makes vectors of texts, one each; with the AI SDK: `async values => (await embedMany({ model, values })).embeddings`. */
  readonly embed: (texts: string[]) => Promise<readonly (readonly number[])[]>
  /** Where is looked: in the thread (when absent), or in all threads of the resource. */
  readonly scope?: 'thread' | 'resource'
  /** At most so many turns; 3 when absent. */
  readonly turnCount?: number
  /** Turns further away are left out; none when absent. */
  readonly maxDistance?: number
}

/** So much of a turn is enough to find it, and to be told of it. */
const longestTurn = 4_000

/** What was found, by run: no part of its state, since it is for prompts alone and never stored. */
const recalled = new WeakMap<object, string>()

/**
 * Makes the processors of semantic recall: one that shows what is found to the model, as a message of the prompt alone, and
 * one that enters the turn into the index when the run has come to its end. A failure is noted in the trace and never
 * fails the run.
 */
export function semanticRecall(
  store: ThreadStore,
  options: SemanticRecallOptions,
): { readonly recalling: Processor; readonly indexing: Processor } {
  const processor = { id: 'semantic-recall', name: 'Semantic recall', onError: 'skip' } as const
  return {
    recalling: {
      ...processor,
      async processInputStep({ messageList, messages, state }) {
        const text = recalled.get(state) ?? (await recall(store, options, messageList))
        recalled.set(state, text)
        return text === '' ? undefined : { messages: [{ role: 'user', content: text }, ...messages], scope: 'step' }
      },
    },
    indexing: {
      ...processor,
      async processRunEnd({ messageList, stopReason }) {
        if (isCutShort(stopReason) || stopReason === 'suspended') return
        const turn = [...messageList.get.input.db(), ...messageList.get.response.db()]
        const text = textOf(turn)
        if (text === '') return
        const [vector = []] = await options.embed([text])
        const { resourceId } = messageList
        const messageIds = turn.map(({ id }) => id)
        const entry = { id: messageIds[0]!, threadId: threadIdOf(messageList), messageIds, vector }
        await options.index.put([{ ...entry, ...(resourceId === undefined ? {} : { resourceId }) }])
      },
    },
  }
}

/** What the model is told; empty when nothing was found. */
async function recall(
  store: ThreadStore,
  { index, embed, scope = 'thread', turnCount = 3, maxDistance = Infinity }: SemanticRecallOptions,
  list: MessageList,
): Promise<string> {
  const { resourceId } = list
  const query = textOf(list.get.input.db())
  if (query === '' || (scope === 'resource' && resourceId === undefined)) return ''
  const [vector = []] = await embed([query])
  const where = scope === 'thread' ? { threadId: threadIdOf(list) } : { resourceId: resourceId! }
  // What is in the prompt anyway takes no place of what is not.
  const limit = turnCount + list.get.remembered.db().length
  const isNew = ({ messageIds, distance }: VectorHit) =>
    distance <= maxDistance && !messageIds.some(id => list.find(id))
  const hits = (await index.search({ ...where, vector, limit })).filter(isNew).slice(0, turnCount)
  const turns = await Promise.all(hits.map(hit => turnOf(store, hit, resourceId)))
  const told = turns.filter(turn => turn !== '')
  return told.length === 0 ? '' : `Said earlier, and perhaps of use now:\n\n${told.join('\n\n')}`
}

/** A turn as the store has it now: what was removed is not recalled, nor what belongs to somebody else. */
async function turnOf(store: ThreadStore, hit: VectorHit, resourceId: string | undefined): Promise<string> {
  const { thread, messages } = await store.read(hit.threadId, { ids: hit.messageIds })
  if (thread?.resourceId !== undefined && thread.resourceId !== resourceId) return ''
  const [first] = messages
  return first === undefined ? '' : `(${first.createdAt.slice(0, 10)})\n${textOf(messages)}`
}

function textOf(messages: readonly AgentMessage[]): string {
  const lines = messages.flatMap(({ role, content }) => {
    const text = content.parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('\n')
    return text === '' ? [] : `${role}: ${text}`
  })
  return lines.join('\n').slice(0, longestTurn)
}
