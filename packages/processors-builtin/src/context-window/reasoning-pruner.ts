// Leaves the reasoning of earlier turns out of the prompt: the conversation keeps it, and what providers want back stays.
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { promptTurns, type Pinning, type PromptTurns, type Turn } from './prompt-turns.ts'
import { ReasoningCut, type PrunedMessage } from './reasoning-cut.ts'
import { TokenCounter, type Prompt, type PromptMessage, type TokenCounting } from './token-counter.ts'

/** What prompts of a run are spared. */
export interface PrunedReasoning {
  readonly partCount: number
  /** About how many tokens each prompt has less. */
  readonly tokens: number
}

/** Options of the pruner. */
export interface ReasoningPrunerOptions extends TokenCounting, Pinning {
  /** In how many of the last turns before the run reasoning stays; 0 when absent. */
  readonly keepTurns?: number
  /** In how many of the last steps of the run reasoning stays that has no mark of a provider; in all when absent. */
  readonly keepSteps?: number
  /**
   * Which reasoning goes from turns in which tools were called: that with a mark of its provider, such as a signature
   * (`'signed'`, when absent), all, or none.
   */
  readonly withCalls?: 'signed' | 'all' | 'none'
  /** Less than this is not worth a prompt that begins otherwise: providers cache beginnings. 1,000 tokens when absent. */
  readonly atLeast?: number
  /** Is told when the prompts of a run are spared more than before. */
  readonly onPrune?: (pruned: PrunedReasoning) => void
}

/** What the pruner keeps of a run. */
export interface ReasoningPrunerState {
  /** What was told of the run. */
  tokens: number
}

/**
 * A processor that leaves reasoning out of the prompt once its turn is over. In the run itself signatures, encrypted and
 * redacted reasoning and items stay; calls and results stay everywhere, with their own signatures.
 *
 * *Order*: in `inputProcessors`, before a token limiter.
 * *Throws*: `invalid-limit`.
 */
export function reasoningPruner(
  options: ReasoningPrunerOptions = {},
): Processor<'reasoning-pruner', unknown, ReasoningPrunerState> {
  const { keepTurns = 0, keepSteps = Infinity, withCalls = 'signed', atLeast = 1_000, onPrune } = options
  if (!(keepTurns >= 0))
    throw new BuiltinError('invalid-limit', `Reasoning cannot stay in ${String(keepTurns)} turns. Give 0 or more.`)
  if (!(keepSteps >= 1))
    throw new BuiltinError('invalid-limit', `Reasoning cannot stay in ${String(keepSteps)} steps. Give 1 or more.`)
  const cut = new ReasoningCut(new TokenCounter(options))
  const ofTurn = (turn: Turn) => {
    const kind = hasCalls(turn) ? withCalls : 'all'
    return kind === 'none' ? [] : turn.messages.flatMap(message => cut.of(message, kind) ?? [])
  }
  return {
    id: 'reasoning-pruner',
    name: 'Reasoning pruner',
    description: 'Leaves the reasoning of earlier turns out of prompts.',

    processLLMRequest({ prompt, messageList, providerOptions, state }) {
      if (isKeptByProvider(providerOptions)) return
      const parts = promptTurns(prompt, messageList, options)
      const turns = parts.turns.slice(0, -keepTurns || undefined).filter(turn => !turn.isPinned && !isOpen(turn, parts))
      const steps = stepsBefore(parts.current, keepSteps).flatMap(message => cut.of(message, 'plain') ?? [])
      const worth = worthIt([...turns.flatMap(ofTurn), ...steps], atLeast)
      if (worth.length === 0) return
      const partCount = worth.reduce((sum, pruned) => sum + pruned.partCount, 0)
      const tokens = worth.reduce((sum, pruned) => sum + pruned.tokens, 0)
      if (tokens > (state.tokens ?? 0)) {
        state.tokens = tokens
        onPrune?.({ partCount, tokens })
      }
      return { prompt: shown(prompt, worth) }
    },
  }
}

/** A provider that has the conversation itself is only sent what it has not, and knows the rest by its ids. */
function isKeptByProvider(providerOptions: Readonly<Record<string, object | undefined>> | undefined): boolean {
  return Object.values(providerOptions ?? {}).some(
    options => options !== undefined && ('conversation' in options || 'previousResponseId' in options),
  )
}

function hasCalls({ messages }: Turn): boolean {
  return messages.some(({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'tool-call'))
}

/** The last turn was broken off behind a result: for a provider that loop of tools is not over. */
function isOpen(turn: Turn, { turns }: PromptTurns): boolean {
  return turn === turns.at(-1) && turn.messages.at(-1)?.role === 'tool'
}

/** What the model said in the run, but for the last steps. */
function stepsBefore(current: readonly PromptMessage[], keepSteps: number): readonly PromptMessage[] {
  if (keepSteps === Infinity) return []
  const steps = current.filter(({ role }) => role === 'assistant')
  return steps.slice(0, -keepSteps)
}

/**
 * From the oldest on, as many together as it takes to be worth it. What comes later changes nothing about them, so the
 * prompts of all runs begin alike until there is as much again.
 */
function worthIt(all: readonly PrunedMessage[], atLeast: number): readonly PrunedMessage[] {
  let count = 0
  let tokens = 0
  for (const [index, pruned] of all.entries()) {
    tokens += pruned.tokens
    if (tokens < atLeast) continue
    count = index + 1
    tokens = 0
  }
  return all.slice(0, count)
}

function shown(prompt: Prompt, worth: readonly PrunedMessage[]): Prompt {
  const byMessage = new Map(worth.map(pruned => [pruned.message, pruned.shown]))
  return prompt.flatMap(message => (byMessage.has(message) ? (byMessage.get(message) ?? []) : message))
}
