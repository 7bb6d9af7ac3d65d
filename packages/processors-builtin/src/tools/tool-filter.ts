// Leaves the tool calls of earlier turns out of the prompt, with their results: the conversation keeps them.
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { promptOf, promptTurns, type Pinning, type Turn } from '../context-window/prompt-turns.ts'
import type { PromptMessage } from '../context-window/token-counter.ts'
import { fitsSome } from './tool-name-pattern.ts'

/** Options of the filter. */
export interface ToolFilterOptions extends Pinning {
  /** The tools whose calls go, by name or pattern (`read_*`); all when absent. */
  readonly tools?: readonly string[]
  /** The tools whose calls stay, by name or pattern. */
  readonly exclude?: readonly string[]
  /** In how many of the last turns before the run calls stay; 0 when absent. */
  readonly keepTurns?: number
}

/**
 * A processor that leaves the calls of tools out of the prompt once their turn is over, with their results. What the run
 * itself calls stays, since the model works with it; so do the texts of the turns, and the conversation.
 *
 * *Order*: in `inputProcessors`, before a token limiter.
 * *Throws*: `invalid-limit`.
 */
export function toolFilter(options: ToolFilterOptions = {}): Processor<'tool-filter'> {
  const { tools = ['*'], exclude = [], keepTurns = 0 } = options
  if (!(keepTurns >= 0))
    throw new BuiltinError('invalid-limit', `Calls cannot stay in ${String(keepTurns)} turns. Give 0 or more.`)
  const isLeftOut = (toolName: string) => fitsSome(toolName, tools) && !fitsSome(toolName, exclude)
  const filter = new TurnFilter(isLeftOut)
  return {
    id: 'tool-filter',
    name: 'Tool filter',
    description: 'Leaves the tool calls of earlier turns out of prompts, with their results.',

    processLLMRequest({ prompt, messageList }) {
      const parts = promptTurns(prompt, messageList, options)
      const filtered = parts.turns.map((turn, index) =>
        turn.isPinned || index >= parts.turns.length - keepTurns ? turn : filter.apply(turn),
      )
      return filtered.every((turn, index) => turn === parts.turns[index])
        ? undefined
        : { prompt: promptOf(parts, filtered) }
    },
  }
}

type Spoken = Extract<PromptMessage, { readonly role: 'assistant' | 'tool' }>
type Part = Spoken['content'][number]

/** Filters turns. One that is as it was is not read again, and its messages are the same, so that what is known of them stays known. */
class TurnFilter {
  readonly #isLeftOut: (toolName: string) => boolean
  readonly #turns = new WeakMap<PromptMessage, { readonly given: Turn['messages']; readonly kept: Turn['messages'] }>()

  constructor(isLeftOut: (toolName: string) => boolean) {
    this.#isLeftOut = isLeftOut
  }

  apply(turn: Turn): Turn {
    const given = turn.messages
    const known = this.#turns.get(given[0]!)
    const isKnown =
      known?.given.length === given.length && given.every((message, index) => message === known.given[index])
    const kept = isKnown ? known.kept : this.#filtered(turn)
    if (!isKnown) this.#turns.set(given[0]!, { given, kept })
    return kept === given ? turn : { ...turn, messages: kept }
  }

  #filtered(turn: Turn): Turn['messages'] {
    const pairs = this.#pairsIn(turn)
    return pairs.size === 0 ? turn.messages : turn.messages.flatMap(message => filtered(message, pairs))
  }

  /** The calls that go: both they and their results are in this turn. */
  #pairsIn({ messages }: Turn): ReadonlySet<string> {
    // The answer to a provider that asked a person names no call, so it stays, and the calls that it may be about.
    const isAnswered = messages.some(
      ({ role, content }) => role === 'tool' && content.some(({ type }) => type === 'tool-approval-response'),
    )
    const calls = new Set<string>()
    const pairs = new Set<string>()
    for (const message of messages) {
      if (message.role !== 'assistant' && message.role !== 'tool') continue
      for (const part of message.content) {
        if (part.type === 'tool-call' && this.#isLeftOut(part.toolName) && !(isAnswered && part.providerExecuted))
          calls.add(part.toolCallId)
        if (part.type === 'tool-result' && calls.has(part.toolCallId)) pairs.add(part.toolCallId)
      }
    }
    return pairs
  }
}

function filtered(message: PromptMessage, pairs: ReadonlySet<string>): readonly PromptMessage[] {
  if (message.role !== 'assistant' && message.role !== 'tool') return [message]
  const goes = (part: Part) => 'toolCallId' in part && pairs.has(part.toolCallId)
  if (!message.content.some(goes)) return [message]
  const content = withoutBareReasoning(message.content, goes).filter(part => !goes(part))
  return content.length === 0 ? [] : [{ ...message, content } as Spoken]
}

/** Providers refuse reasoning without what it led to: when all that goes, the reasoning goes too. */
function withoutBareReasoning(content: readonly Part[], goes: (part: Part) => boolean): readonly Part[] {
  const isReasoning = ({ type }: Part) => type === 'reasoning' || type === 'reasoning-file'
  return content.filter((part, index) => {
    if (!isReasoning(part)) return true
    const rest = content.slice(index)
    const led = rest.slice(rest.findIndex(one => !isReasoning(one)))
    const end = led.findIndex(isReasoning)
    const group = isReasoning(led[0]!) ? [] : led.slice(0, end === -1 ? undefined : end)
    return group.length === 0 || !group.every(goes)
  })
}
