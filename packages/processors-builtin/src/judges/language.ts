// A processor for the languages of the input and of the answer, told by a library, without a model call.
import type { AgentMessage } from '@lockstep/message-list'
import type { Processor, RequestContext } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { checkStrategy } from '../strategy.ts'
import { eldDetection, type DetectedLanguage } from './eld-detection.ts'

export type { DetectedLanguage } from './eld-detection.ts'

/** A language that was told. */
export interface LanguageDetection extends DetectedLanguage {
  readonly where: 'input' | 'text'
  readonly isAllowed: boolean
  readonly requestContext: RequestContext
}

/** Options of the language guard. One of `allow` and `followInput` has to be there. */
export interface LanguageOptions {
  /** Codes of ISO 639-1 (`'en'`), of the input and of the answer; regions (`'en-GB'`) count for nothing. */
  readonly allow?: readonly string[]
  /** The answer has to be in the language of the user's last message, where that can be told. */
  readonly followInput?: boolean
  /** Tells a language; the library `eld` when absent. Nothing where it cannot be told. */
  readonly detect?: (text: string) => DetectedLanguage | undefined | PromiseLike<DetectedLanguage | undefined>
  /** Shorter texts are not looked at: 20 characters when absent, code and links left out. */
  readonly minLength?: number
  /** `'block'` when absent; `'warn'` tells `onDetection` and leaves it. */
  readonly strategy?: 'block' | 'warn'
  /** How often in a run an answer is asked for again in a right language; 1 when absent. */
  readonly maxRetries?: number
  /** Looks at the last message of the input alone. */
  readonly lastMessageOnly?: boolean
  readonly onDetection?: (detection: LanguageDetection) => void
}

/** The metadata of a refusal. */
export interface LanguageRefusal {
  readonly where: 'input' | 'text'
  readonly language: string
  readonly allow: readonly string[]
}

/** What the guard keeps of a run. */
export interface LanguageState {
  /** How often it has asked for another answer. */
  retries: number
}

/** So much of a text is looked at. */
const lookedAtLength = 10_000

/**
 * A processor that refuses inputs and answers in other languages than some, and answers in another than the user's.
 *
 * *Order*: in `inputProcessors` for the input, in `outputProcessors` for the answer.
 * *Cost*: 10 to 30 microseconds a text; the library is loaded with the first one.
 * *Throws*: `unknown-language`, `invalid-strategy`; in a run `missing-library`.
 */
export function language(options: LanguageOptions): Processor<'language', LanguageRefusal, LanguageState> {
  const { followInput = false, detect = eldDetection(), minLength = 20, strategy = 'block', maxRetries = 1 } = options
  checkStrategy('language', strategy, ['block', 'warn'])
  const allow = options.allow?.map(languageOf)
  if (!allow?.length && !followInput)
    throw new BuiltinError(
      'unknown-language',
      "The language guard has no language. Give allow: ['en'], or followInput.",
    )

  const told = async (text: string): Promise<DetectedLanguage | undefined> => {
    const prose = proseOf(text)
    const detected = prose.length < minLength ? undefined : await detect(prose)
    return detected && { ...detected, language: primaryOf(detected.language) }
  }

  return {
    id: 'language',
    name: 'Language',
    description: 'Keeps inputs and answers to some languages.',

    async processInput({ messages, requestContext, abort }) {
      if (!allow) return
      for (const message of options.lastMessageOnly ? messages.slice(-1) : messages) {
        const detected = await told(textOf(message))
        if (!detected) continue
        const isAllowed = !detected.isReliable || allow.includes(detected.language)
        options.onDetection?.({ ...detected, where: 'input', isAllowed, requestContext })
        if (isAllowed || strategy === 'warn') continue
        abort(`The input is in ${nameOf(detected.language)}. Write in ${choiceOf(allow)}.`, {
          metadata: { where: 'input', language: detected.language, allow },
        })
      }
    },

    async processOutputStep({ text, messages, requestContext, state, abort }) {
      const detected = await told(text)
      if (!detected) return
      const question = followInput ? await told(textOf(messages.findLast(({ role }) => role === 'user'))) : undefined
      const wanted = question?.isReliable ? [question.language] : allow
      const isAllowed = !detected.isReliable || !wanted || wanted.includes(detected.language)
      options.onDetection?.({ ...detected, where: 'text', isAllowed, requestContext })
      if (isAllowed || strategy === 'warn') return
      const retryCount = state.retries ?? 0
      state.retries = retryCount + 1
      abort(`The answer is in ${nameOf(detected.language)}. Answer in ${choiceOf(wanted)}.`, {
        retry: retryCount < maxRetries,
        metadata: { where: 'text', language: detected.language, allow: wanted },
      })
    },
  }
}

function languageOf(code: string): string {
  if (typeof code === 'string' && /^[a-z]{2,3}(?:-[\da-z]+)*$/i.test(code)) return primaryOf(code)
  throw new BuiltinError(
    'unknown-language',
    `${JSON.stringify(code)} is no code of a language. Give one of ISO 639-1, such as 'en'.`,
  )
}

function primaryOf(code: string): string {
  return code.split(/[-_]/, 1)[0]!.toLowerCase()
}

function nameOf(code: string): string {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code
}

function choiceOf(codes: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(codes.map(nameOf))
}

/** A text without code and links, which are in no language. */
function proseOf(text: string): string {
  return text
    .slice(0, lookedAtLength)
    .replaceAll(/```[^]*?(?:```|$)|`[^`\n]*`|https?:\/\/\S+/g, ' ')
    .trim()
}

function textOf(message: AgentMessage | undefined): string {
  return (message?.content.parts ?? []).flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}
