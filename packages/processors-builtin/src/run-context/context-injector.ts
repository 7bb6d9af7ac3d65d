// Puts something into the prompt that is not part of the conversation: what was retrieved, the date, the state of a page.
import {
  isPromiseLike,
  untilAborted,
  type MaybePromise,
  type Processor,
  type ProcessorContext,
} from '@lockstep/processors'
import type { AgentMessage } from '@lockstep/message-list'
import { BuiltinError } from '../errors.ts'
import { fenced } from '../texts/fence.ts'
import { promptTurns } from '../context-window/prompt-turns.ts'
import type { Prompt, PromptMessage } from '../context-window/token-counter.ts'

/** What the context is asked for. */
export interface ContextRequest extends Pick<
  ProcessorContext,
  'messages' | 'stepNumber' | 'requestContext' | 'abortSignal'
> {
  /** The text of the user's last message. */
  readonly question: string
  readonly now: Date
}

/** Where the context stands: as an instruction, in front of the run's question, or after all that was said. */
export type ContextPosition = 'system' | 'question' | 'end'

/** Options of the injector. */
export interface ContextInjectorOptions {
  /** Gives the context; nothing, or an empty text, for none. */
  readonly context: (request: ContextRequest) => MaybePromise<string | undefined>
  /** When it is asked for: once for the run (when absent), or for each step. */
  readonly every?: 'run' | 'step'
  /** `'question'` when absent; with `every: 'step'` it is `'end'`. */
  readonly position?: ContextPosition
  /** The name in the fence around it, `<name>…</name>`; `'context'` when absent. */
  readonly name?: string
  /** Makes it part of the conversation, in front of the question: it is stored, and later runs see it. */
  readonly persist?: boolean
  /** Two injectors of a run need two; `'context-injector'` when absent. */
  readonly id?: string
  /** The time; `() => new Date()` when absent. */
  readonly now?: () => Date
}

/** What the injector keeps of a run. */
export interface ContextInjectorState {
  /** The context of the run; empty when there was none. */
  text: string
}

type Context = Pick<ProcessorContext, 'messages' | 'stepNumber' | 'requestContext' | 'abortSignal'>

/**
 * A processor that puts context into prompts, in a fence that it cannot leave. The conversation has none of it, unless it is
 * asked to keep it.
 *
 * *Order*: in `inputProcessors`, after what shortens prompts.
 * *Throws*: `missing-context`, `invalid-rule`.
 */
export function contextInjector(options: ContextInjectorOptions): Processor<string, unknown, ContextInjectorState> {
  const { context, every = 'run', name = 'context', persist = false, id = 'context-injector' } = options
  const { position = every === 'run' ? 'question' : 'end', now = () => new Date() } = options
  if (typeof context !== 'function')
    throw new BuiltinError('missing-context', 'A context injector needs context: (request) => text.')
  if (!/^[\w-]+$/.test(name))
    throw new BuiltinError(
      'invalid-rule',
      `The name of a fence cannot be '${name}'. Give letters, digits, '_' and '-'.`,
    )
  if (persist && (every !== 'run' || position !== 'question'))
    throw new BuiltinError(
      'invalid-rule',
      `Context that is kept stands in front of the question, once: it cannot be every '${every}' at '${position}'.`,
    )
  const ask = ({ messages, stepNumber, requestContext, abortSignal }: Context): MaybePromise<string> => {
    const question = questionIn(messages)
    const given = context({ question, messages, stepNumber, requestContext, abortSignal, now: now() })
    const read = (text: string | undefined) => (text === undefined || text === '' ? '' : fenced(text, name))
    return isPromiseLike(given) ? untilAborted(given, abortSignal).then(read) : read(given as string | undefined)
  }
  const shape = {
    id,
    name: 'Context injector',
    description: 'Puts context into the prompt that is not part of the conversation.',
  }

  if (persist)
    return {
      ...shape,
      processInput(args) {
        const { messages, messageList, state } = args
        const question = messages.findLast(({ role }) => role === 'user')
        if (question === undefined || state.text !== undefined) return
        const keep = (text: string) => {
          state.text = text
          if (text !== '')
            messageList.update(question.id, ({ content }) => void content.parts.unshift({ type: 'text', text }))
        }
        const text = ask(args)
        return isPromiseLike(text) ? text.then(keep) : keep(text as string)
      },
    }
  return {
    ...shape,
    processLLMRequest(args) {
      const { prompt, state, messageList } = args
      const insert = (text: string) => {
        if (every === 'run') state.text = text
        return text === '' ? undefined : { prompt: placed(text, prompt, beginOf(prompt, messageList, position)) }
      }
      const text = state.text ?? ask(args)
      return isPromiseLike(text) ? text.then(insert) : insert(text as string)
    },
  }
}

interface Place {
  readonly index: number
  readonly position: ContextPosition
}

function beginOf(prompt: Prompt, list: ProcessorContext['messageList'], position: ContextPosition): Place {
  const head = prompt.findIndex(({ role }) => role !== 'system')
  if (position === 'system') return { index: head === -1 ? prompt.length : head, position }
  if (position === 'end') return { index: prompt.length, position }
  const { current } = promptTurns(prompt, list)
  const begin = prompt.length - current.length
  const isFound = begin > Math.max(head, 0) || current[0]?.role === 'user'
  const index = isFound ? prompt.findIndex(({ role }, at) => at >= begin && role === 'user') : -1
  return index === -1 ? { index: prompt.length, position: 'end' } : { index, position }
}

/** The prompt with the text in its place. A question is one message still: some providers take no two in a row. */
function placed(text: string, prompt: Prompt, { index, position }: Place): Prompt {
  const before = prompt.slice(0, index)
  if (position === 'system') return [...before, { role: 'system', content: text }, ...prompt.slice(index)]
  const part = { type: 'text', text } as const
  const neighbour = prompt[position === 'end' ? index - 1 : index]
  // Options of a message may mark where a cache ends: what is added stands behind it.
  const isApart = neighbour?.role !== 'user' || (position === 'end' && neighbour.providerOptions !== undefined)
  if (isApart) return [...before, { role: 'user', content: [part] }, ...prompt.slice(index)]
  const content = position === 'end' ? [...neighbour.content, part] : [part, ...neighbour.content]
  const message: PromptMessage = { ...neighbour, content }
  return prompt.map(one => (one === neighbour ? message : one))
}

function questionIn(messages: readonly AgentMessage[]): string {
  const parts = messages.findLast(({ role }) => role === 'user')?.content.parts ?? []
  return parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}
