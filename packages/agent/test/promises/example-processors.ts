// Processors as users write them, one for each thing that processors are for.
import type { AgentMessage, Processor } from '@lockstep/agent'
import type {
  DataChunk,
  InputProcessor,
  ModelChoice,
  ProcessAPIErrorArgs,
  ProcessInputStepArgs,
} from '@lockstep/processors'
import { APICallError } from 'ai'

/** The text of a message, whatever else is in it. */
export function readText({ content }: AgentMessage): string {
  return content.parts.map(part => (part.type === 'text' ? part.text : '')).join('')
}

/** Lower-cases what the user says, by returning other messages. */
export const lowercase: InputProcessor = {
  id: 'lowercase',
  processInput: ({ messages }) =>
    messages.map(message => ({
      ...message,
      content: {
        ...message.content,
        parts: message.content.parts.map(part =>
          part.type === 'text' ? { ...part, text: part.text.toLowerCase() } : part,
        ),
      },
    })),
}

/** A fast model first, a strong one after tool calls, and no tools after some steps. */
export class DynamicModel implements Processor<'dynamic-model'> {
  readonly id = 'dynamic-model'
  readonly #models: { readonly fast: ModelChoice; readonly strong: ModelChoice }
  readonly #toolSteps: number

  constructor(models: { readonly fast: ModelChoice; readonly strong: ModelChoice }, toolSteps = 5) {
    this.#models = models
    this.#toolSteps = toolSteps
  }

  async processInputStep({ stepNumber, steps }: ProcessInputStepArgs) {
    await Promise.resolve()
    if (stepNumber === 0) return { model: this.#models.fast }
    const model = steps.at(-1)!.toolCalls.length > 0 ? { model: this.#models.strong } : {}
    return stepNumber > this.#toolSteps ? { ...model, toolChoice: 'none' as const } : model
  }
}

type WritablePart = { type: string }

/** Renames reasoning for another provider by writing into the messages, as one must not. */
export const reasoningInPlace: Processor = {
  id: 'reasoning-in-place',
  processInputStep({ messages, messageList }) {
    for (const { role, content } of messages)
      if (role === 'assistant')
        for (const part of content.parts as unknown as WritablePart[])
          if (part.type === 'reasoning') part.type = 'thinking'
    return messageList
  },
}

/** The same through the list: reasoning becomes text that any provider takes. */
export const reasoningThroughList: Processor = {
  id: 'reasoning-through-list',
  processInputStep({ messages, messageList }) {
    for (const { id, role } of messages)
      if (role === 'assistant')
        messageList.update(id, draft => {
          for (const part of draft.content.parts as unknown as (WritablePart & { text: string })[]) {
            if (part.type !== 'reasoning') continue
            part.type = 'text'
            part.text = `(thinking: ${part.text})`
          }
        })
    return messageList
  },
}

/** Refuses words, in what the user says and in what the model says. */
export class ContentFilter implements Processor<'content-filter'> {
  readonly id = 'content-filter'
  readonly #words: readonly string[]

  constructor(words: readonly string[]) {
    this.#words = words
  }

  readonly processInput: Processor['processInput'] = ({ messages, abort }) => {
    if (messages.some(message => this.#blocks(readText(message)))) abort('What you asked has a blocked word in it.')
    return messages
  }

  readonly processOutputStream: Processor['processOutputStream'] = ({ part, abort }) => {
    if (part.type === 'text-delta' && this.#blocks(part.payload.text)) abort('The answer has a blocked word in it.')
    return part
  }

  #blocks(text: string): boolean {
    return this.#words.some(word => text.includes(word))
  }
}

/** Counts the words of a run, and tells the count when it ends. */
export function wordCounter(tell: (count: number) => void): Processor<'word-counter', unknown, { wordCount: number }> {
  return {
    id: 'word-counter',
    async processOutputStream({ part, state }) {
      await Promise.resolve()
      state.wordCount ??= 0
      if (part.type === 'text-delta') state.wordCount += part.payload.text.split(/\s+/).filter(Boolean).length
      if (part.type === 'finish') tell(state.wordCount)
      return part
    },
  }
}

/** Makes room once when the model says that the conversation is too long. */
export const contextTrimmer: Processor = {
  id: 'context-trimmer',
  processAPIError({ error, messageList, retryCount }: ProcessAPIErrorArgs) {
    if (retryCount > 0 || !APICallError.isInstance(error) || !error.message.includes('context length')) return
    const messages = messageList.get.all.db()
    if (messages.length <= 4) return
    messageList.removeByIds([messages[1]!.id, messages[2]!.id])
    return { retry: true }
  },
}

/** Asks for a better answer while it may, then refuses. It returns an empty array, which means no change. */
export function qualityGuard(
  scoreOf: (text: string) => Promise<number>,
): Processor<'quality-guard', { score: number }> {
  return {
    id: 'quality-guard',
    async processOutputStep({ text, abort, retryCount }) {
      const score = await scoreOf(text)
      if (score >= 0.7) return []
      if (retryCount < 3) abort('Too thin. Say more.', { retry: true, metadata: { score } })
      return abort('Still too thin after several tries.', { metadata: { score } })
    },
  }
}

/** Warns the client about strong words, beside the text. */
export const moderator: Processor = {
  id: 'moderator',
  async processOutputStream({ part, writer }) {
    if (part.type === 'text-delta' && /damn/i.test(part.payload.text))
      await writer.custom({ type: 'data-moderation', data: { level: 'warn', word: 'damn' }, transient: true })
    return part
  },
}

/** Collects the warnings of others; tells them at the end. */
export function moderationCollector(
  tell: (warnings: readonly unknown[]) => void,
  processDataParts = true,
): Processor<'moderation-collector', unknown, { warnings: unknown[] }> {
  return {
    id: 'moderation-collector',
    processDataParts,
    processOutputStream({ part, state }) {
      if (part.type === 'data-moderation') (state.warnings ??= []).push((part as DataChunk).data)
      return part
    },
    processOutputResult({ state }) {
      tell(state.warnings ?? [])
    },
  }
}
