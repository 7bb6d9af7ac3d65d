// A processor for texts that are not what they look like: hidden characters, letters in pieces, letters of other alphabets.
import type { LanguageModelPrompt, MessagePart } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import type { NormalForm } from './composed-text.ts'
import { NormalizedText, type NormalizedKind } from './normalized-text.ts'
import { rewriteMessages, rewritePrompt, rewritePromptMessage, type RewriteText } from '../texts/rewritten-message.ts'
import { RewrittenStream } from '../texts/rewritten-stream.ts'
import { rewriteWith, type OpenText } from '../texts/rewritten-text.ts'
import { rewriteValue } from '../texts/rewritten-value.ts'

export type { NormalForm } from './composed-text.ts'
export type { NormalizedKind } from './normalized-text.ts'

/** That a text was changed, and why. */
export interface NormalizerFinding {
  readonly kind: NormalizedKind
  readonly where: 'input' | 'tool-output' | 'text' | 'result'
}

/** Options of the Unicode normalizer. */
export interface UnicodeNormalizerOptions {
  /**
   * `'NFC'` when absent: letters and their marks become one character. `'NFKC'` also gives up what is special about `ﬁ`,
   * `²`, `①` and full-width letters. `false` leaves them.
   */
  readonly form?: NormalForm | false
  /** Reads words that mix Latin letters with some that only look Latin as Latin words; true when absent. */
  readonly confusables?: boolean
  /** Also what the model says, as it comes; false when absent. */
  readonly stream?: boolean
  /** Is told of hidden characters that were removed and of words that were read as Latin. */
  readonly onFinding?: (finding: NormalizerFinding) => void
}

type PromptMessage = LanguageModelPrompt[number]

interface OpenRun {
  readonly stream: RewrittenStream<unknown>
  /** Messages of prompts that need no second look. */
  readonly messages: WeakMap<PromptMessage, PromptMessage>
}

const changed: readonly string[] = ['input', 'tool-output', 'text', 'result']

/**
 * A processor that takes hidden characters out of what users and tools say, and brings letters into one form.
 *
 * *Order*: before guards that look for words; in `inputProcessors` for the input, in `outputProcessors` for results of
 * tools and the stream.
 * *Cost*: every character is read once; a letter waits for its marks.
 */
export function unicodeNormalizer(options: UnicodeNormalizerOptions = {}): Processor<'unicode-normalizer'> {
  const { form = 'NFC', confusables = true, stream = false, onFinding } = options
  const open: OpenText<unknown> = where =>
    changed.includes(where)
      ? new NormalizedText({
          form,
          confusables,
          onFinding: kind => onFinding?.({ kind, where: where as NormalizerFinding['where'] }),
        })
      : undefined
  const normalizeIn = (where: NormalizerFinding['where']) => rewriteWith(open, where, () => undefined)
  const runs = new WeakMap<object, OpenRun>()
  const runOf = (state: object): OpenRun => {
    let run = runs.get(state)
    if (!run) runs.set(state, (run = { stream: new RewrittenStream(open), messages: new WeakMap() }))
    return run
  }

  return {
    id: 'unicode-normalizer',
    name: 'Unicode normalizer',
    description: 'Removes hidden characters and brings letters into one form.',

    processInput: ({ messages }) => rewriteMessages(messages, normalizeIn('input'), isSaid),

    processLLMRequest({ prompt, state }) {
      const { messages } = runOf(state)
      const normalized = rewritePrompt(prompt, message => {
        let known = messages.get(message)
        if (!known) messages.set(message, (known = withResults(message, normalizeIn('tool-output'))))
        return known
      })
      return normalized && { prompt: normalized }
    },

    processToolResult({ output, error, providerExecuted }) {
      // What a provider ran itself the model has seen, and the provider wants back as it was.
      if (providerExecuted) return
      const normalized = rewriteValue(error ?? output, normalizeIn('tool-output'))
      if (normalized === (error ?? output)) return
      return error === undefined ? { output: normalized } : { error: normalized }
    },

    ...(stream && {
      processOutputStream: context =>
        isOfModel(context.part.type) ? runOf(context.state).stream.pass(context.part, undefined) : context.part,

      flush: context => runOf(context.state).stream.flush(context.blockId, context.runId, undefined),

      processOutputResult: ({ messages }) =>
        rewriteMessages(messages, normalizeIn('result'), part => part.type === 'text'),
    }),
  }
}

/**
 * What a tool has for the model alone, and why a call was refused, are no results that a processor could change: they are put
 * right where the model reads them.
 */
function withResults(message: PromptMessage, normalize: RewriteText): PromptMessage {
  return message.role === 'tool' ? rewritePromptMessage(message, normalize) : message
}

/** Reasoning goes back to its provider as it came. */
function isSaid({ type }: MessagePart): boolean {
  return type !== 'reasoning'
}

function isOfModel(type: string): boolean {
  return type === 'text-delta'
}
