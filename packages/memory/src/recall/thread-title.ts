// Titles: a thread that has none gets one from the model, asked while it answers.
import type { AgentMessage } from '@lockstep/message-list'
import type { ModelChoice, Processor } from '@lockstep/processors'
import { isCutShort } from '../thread/run-ending.ts'
import { threadIdOf } from '../thread/thread-owner.ts'
import type { ThreadStore } from '../stores/thread-store.ts'

/** How titles are made. */
export interface TitleOptions {
  /** The model that is asked; the run's own when absent. */
  readonly model?: ModelChoice
  readonly instructions?: string
}

const defaultInstructions =
  'Give the conversation that begins with the following message a title of two to six words, in the language of the message. Answer with the title alone: no quotes, no full stop.'

/** So much of the first message is enough to name it. */
const longestExcerpt = 2_000
const longestTitle = 80

/** The answers that are waited for, by run. A suspended run waits for its own before it is put down. */
const asked = new WeakMap<object, Promise<string>>()

/**
 * Makes the processors of titles: one to ask when a first prompt has passed the input processors, one to store what was
 * answered when the run has come to its end. A failure is noted in the trace and never fails the run.
 */
export function threadTitle(
  store: ThreadStore,
  { model, instructions = defaultInstructions }: TitleOptions,
): { readonly asking: Processor; readonly storing: Processor } {
  const processor = { id: 'thread-title', name: 'Thread title', onError: 'skip' } as const
  return {
    asking: {
      ...processor,
      async processLLMRequest({ messageList, state, stepNumber, callModel }) {
        const prompt = excerptOf(messageList.get.input.db())
        if (stepNumber > 0 || asked.has(state) || prompt === '') return
        const { thread } = await store.read(threadIdOf(messageList), { last: 0 })
        if (thread?.title !== undefined) return
        const answer = callModel({ instructions, prompt, ...(model === undefined ? {} : { model }) })
        const title = answer.then(({ text }) => titleIn(text))
        // Looked at when the run ends; until then nobody has to hear of a failure.
        title.catch(() => {})
        asked.set(state, title)
      },
    },
    storing: {
      ...processor,
      async processRunEnd({ messageList, state, stopReason }) {
        const title = asked.get(state)
        if (title === undefined || isCutShort(stopReason)) return
        await storeTitle(store, threadIdOf(messageList), await title)
      },
    },
  }
}

function excerptOf(input: readonly AgentMessage[]): string {
  const texts = input.flatMap(({ content }) => content.parts.flatMap(part => (part.type === 'text' ? part.text : [])))
  return texts.join('\n').trim().slice(0, longestExcerpt)
}

function titleIn(text: string): string {
  const [line = ''] = text.trim().split('\n')
  return line.replaceAll(/^["'“”«»\s]+|["'“”«»\s.]+$/g, '').slice(0, longestTitle)
}

/** Stores a title unless there is one by now. */
async function storeTitle(store: ThreadStore, threadId: string, title: string): Promise<void> {
  for (;;) {
    const { thread } = await store.read(threadId, { last: 0 })
    if (title === '' || thread === undefined || thread.title !== undefined) return
    const outcome = await store.commit(threadId, { expectedRevision: thread.revision, thread: { title } })
    if (outcome.type === 'committed') return
  }
}
