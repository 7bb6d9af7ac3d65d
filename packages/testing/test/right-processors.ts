// Processors that keep all laws, one for each way of working.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Chunk, ModelChoice, Processor } from '@lockstep/processors'
import { answeringModel } from '@lockstep/testing'

type Piece = Extract<Chunk, { readonly type: 'text-delta' | 'reasoning-delta' }>

interface Held {
  held: { [blockId: string]: Piece }
}

const says = (piece: Piece, text: string): Piece => ({ ...piece, payload: { ...piece.payload, text } }) as Piece

/** Holds a word back until it ends, block by block, and replaces one. */
export function wordGuard({ word = 'secret' } = {}): Processor<'word-guard', unknown, Held> {
  const replaced = (text: string) => text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), '[removed]')
  return {
    id: 'word-guard',
    processOutputStream({ part, state }) {
      if (part.type !== 'text-delta' && part.type !== 'reasoning-delta') return part
      const { id, text } = part.payload
      const held = (state.held ??= {})
      const all = (held[id]?.payload.text ?? '') + text
      const cut = all.search(/\w*$/)
      held[id] = says(part, all.slice(cut))
      return cut === 0 ? null : says(part, replaced(all.slice(0, cut)))
    },
    flush({ state, blockId, reason }) {
      const ids = blockId === undefined ? (reason === 'abort' ? Object.keys(state.held ?? {}) : []) : [blockId]
      return ids.flatMap(id => {
        const piece = state.held?.[id]
        delete state.held?.[id]
        return piece === undefined || piece.payload.text === '' ? [] : [says(piece, replaced(piece.payload.text))]
      })
    },
  }
}

/** Passes what is capital on, chunk by chunk: what needs no memory has none. */
export const shouter = (): Processor => ({
  id: 'shouter',
  processOutputStream: ({ part }) =>
    part.type === 'text-delta'
      ? says(
          part,
          part.payload.text.replaceAll(/[a-z]/g, c => c.toUpperCase()),
        )
      : part,
})

/** Asks for another answer, and gives up after two. */
export const pickyGuard = (): Processor => ({
  id: 'picky-guard',
  processOutputStep({ text, retryCount, abort }) {
    if (text.includes('sorry')) abort('Do not be sorry.', { retry: retryCount < 2 })
  },
})

/** Asks another model about the answer. What the call throws fails the run. */
export const judge = (model: ModelChoice): Processor => ({
  id: 'judge',
  async processOutputStep({ text, callModel, abort }) {
    if (text === '') return
    const verdict = await callModel({ model, prompt: text })
    if (verdict.text !== 'yes') abort('The judge says no.')
  },
})

/** A judge that a run can do without. */
export const optionalJudge = (model: ModelChoice): Processor => ({ ...judge(model), onError: 'skip' })

/** Keeps the last messages, tool calls with their results, and what the model says about them. */
export const window = (length = 4): Processor => ({
  id: 'window',
  processInputStep: ({ messages }) =>
    messages.length > length ? { messages: messages.slice(-length), scope: 'step' } : undefined,
})

/** Counts tool calls in its state, denies those that are too many, and hides a field of each result. */
export const toolGuard = (): Processor<'tool-guard', unknown, { callCount: number }> => ({
  id: 'tool-guard',
  processToolCall({ state }) {
    state.callCount = (state.callCount ?? 0) + 1
    return state.callCount > 2 ? { deny: 'Two calls are enough.' } : undefined
  },
  processToolResult({ output }) {
    if (typeof output !== 'object' || output === null || !('total' in output)) return undefined
    return { output: { ...output, total: 'hidden' } }
  },
})

/** Tries again when the model fails, once. */
export const again = (): Processor => ({
  id: 'again',
  processAPIError: ({ retryCount }) => ({ retry: retryCount < 1 }),
})

/** Says text again word by word, late, and tells how much it was. */
export const smoother = (): Processor<'smoother', unknown, Held> => {
  const guard = wordGuard({ word: 'nothing at all' })
  return {
    ...(guard as unknown as Processor<'smoother', unknown, Held>),
    id: 'smoother',
    async processOutputStream(args) {
      await Promise.resolve()
      const out = await guard.processOutputStream!(args as never)
      if (out === null || out === undefined || !('type' in out) || out.type !== 'text-delta') return out
      return out.payload.text.split(/(?<= )/).map(text => says(out, text))
    },
    async processOutputStep({ text, writer }) {
      await writer.custom({ type: 'data-length', data: text.length })
    },
  }
}

/** Holds each step, and takes reasoning away. */
export const quiet = (): Processor => ({
  id: 'quiet',
  hold: 'step',
  processOutputStream: ({ part }) => (part.type.startsWith('reasoning') ? null : part),
})

/** Edits what comes in and what goes out, and tells the model how to behave. */
export const editor = (): Processor => ({
  id: 'editor',
  processInput({ messages, messageList, systemMessages }) {
    for (const { id } of messages)
      messageList.update(id, message => {
        for (const part of message.content.parts) if (part.type === 'text') part.text = part.text.toLowerCase()
      })
    return {
      messages: messageList.get.input.db(),
      systemMessages: [...systemMessages, { role: 'system', content: 'Be kind.' }],
    }
  },
  processOutputResult({ messages, messageList }) {
    for (const { id } of messages)
      messageList.update(id, message => void message.content.parts.push({ type: 'text', text: 'No advice.' }))
  },
})

/** Answers instead of the model what it has answered before. */
export const cache = (): Processor => {
  const answers = new Map<string, readonly LanguageModelV4StreamPart[]>()
  const keys = new WeakMap<object, string>()
  return {
    id: 'cache',
    processLLMRequest({ prompt, state }) {
      const key = JSON.stringify(prompt)
      const chunks = answers.get(key)
      keys.set(state, key)
      return chunks && { response: { chunks } }
    },
    processLLMResponse({ chunks, state }) {
      const key = keys.get(state)
      if (key !== undefined) answers.set(key, chunks)
    },
  }
}

/** Asks a person about a tool. */
export const asker = (): Processor => ({
  id: 'asker',
  processToolCall: ({ toolName }) => (toolName === 'act' ? { ask: 'May I?' } : undefined),
})

/** Sends short answers to another model, and forbids tools after two steps. */
export const switcher = (model: () => ModelChoice): Processor => ({
  id: 'switcher',
  processInputStep: ({ stepNumber }) =>
    stepNumber > 1 ? { toolChoice: 'none' } : stepNumber > 0 ? { model: model() } : undefined,
})

/** Only looks. */
export const log = (lines: string[]): Processor => ({
  id: 'log',
  processStepEnd: ({ step }) => void lines.push(step.text),
  processRunEnd: ({ stopReason }) => void lines.push(stopReason),
})

/** Says what the conversation was about, by the run's own model, and keeps to it. */
export const summariser = (): Processor<'summariser', unknown, { summary: string }> => ({
  id: 'summariser',
  async processInputStep({ messages, state, callModel, stepNumber }) {
    if (messages.length < 10) return undefined
    state.summary ??= (await callModel({ model: answeringModel('About trains.'), prompt: 'Sum up.' })).text
    return stepNumber > 3 ? undefined : { messages: [state.summary, ...messages.slice(-6)], scope: 'step' }
  },
})
