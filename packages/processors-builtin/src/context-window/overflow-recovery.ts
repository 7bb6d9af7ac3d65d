// Calls the model again with a shorter prompt when the prompt was too long for it.
import type { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { readFailure } from '../model-errors/model-failure.ts'
import { promptOf, promptTurns, type Pinning } from './prompt-turns.ts'
import { ResultTexts, resultsIn, shortened, textOf, unreadIn, type PromptResult } from './shown-results.ts'
import { TokenCounter, type Prompt, type TokenCounting } from './token-counter.ts'

/** A prompt that was too long, and how long the next one may be. */
export interface Overflow {
  readonly tokens: number
  readonly target: number
}

/** Options of the recovery. */
export interface OverflowRecoveryOptions extends TokenCounting, Pinning {
  /** What is left of a prompt that was too long; 0.5 when absent. */
  readonly factor?: number
  /** How often a run's prompts may be shortened; 3 when absent. */
  readonly maxAttempts?: number
  readonly onOverflow?: (overflow: Overflow) => void
}

/** What the recovery keeps of a run. */
export interface OverflowRecoveryState {
  /** What prompts may have from now on. */
  limit: number
  /** What is left of one that has more. */
  target: number
  /** How many tokens are left out: the same ones while prompts stay below the limit, so that they begin alike. */
  leftOut: number
  attemptCount: number
}

/** A result is not cut to less. */
const leastTokens = 200

/**
 * A processor that shortens the prompt when the provider says that it is too long, and calls again: first the oldest turns
 * go, then the older results of tools, then the middle of the longest results. The run's own messages, pinned turns and
 * the conversation itself stay. What was needed once holds for the rest of the run.
 *
 * *Order*: in `inputProcessors`, last, and in `errorProcessors`, the same one.
 * *Cost*: a call that failed.
 * *Throws*: `invalid-limit`.
 */
export function overflowRecovery(
  options: OverflowRecoveryOptions = {},
): Processor<'overflow-recovery', unknown, OverflowRecoveryState> {
  const { factor = 0.5, maxAttempts = 3, onOverflow } = options
  if (!(factor > 0 && factor < 1))
    throw new BuiltinError(
      'invalid-limit',
      `A factor of ${String(factor)} leaves nothing of a prompt, or all. Give one between 0 and 1.`,
    )
  const shrinker = new PromptShrinker(options)
  /** The prompts of the last calls, by the state of their run. They matter only until the call has ended. */
  const calls = new WeakMap<object, { readonly prompt: Prompt; readonly sent: Prompt }>()
  return {
    id: 'overflow-recovery',
    name: 'Overflow recovery',
    description: 'Calls again with a shorter prompt when the prompt was too long.',

    processLLMRequest({ prompt, messageList, state }) {
      const { limit = Infinity, target = 0, leftOut = 0 } = state
      const tokens = shrinker.counter.ofPrompt(prompt)
      if (tokens - leftOut > limit) state.leftOut = tokens - target
      const sent = shrinker.shrink(prompt, messageList, Math.max(target, tokens - (state.leftOut ?? 0)))
      calls.set(state, { prompt, sent })
      return sent === prompt ? undefined : { prompt: sent }
    },

    processAPIError({ error, messageList, state }) {
      const call = calls.get(state)
      const { attemptCount = 0 } = state
      if (call === undefined || attemptCount >= maxAttempts || readFailure(error, 0).kind !== 'overflow') return
      const { counter } = shrinker
      const tokens = counter.ofPrompt(call.sent)
      const target = Math.floor(tokens * factor)
      // Where nothing can be left out, another call would be the same call.
      if (counter.ofPrompt(shrinker.shrink(call.prompt, messageList, target)) >= tokens) return
      state.target = target
      state.limit = Math.floor((tokens + target) / 2)
      state.leftOut = counter.ofPrompt(call.prompt) - target
      state.attemptCount = attemptCount + 1
      onOverflow?.({ tokens, target })
      return { retry: true }
    },
  }
}

/** Shortens prompts. */
class PromptShrinker {
  readonly counter: TokenCounter
  readonly #pinning: Pinning
  readonly #texts = new ResultTexts()

  constructor(options: TokenCounting & Pinning) {
    this.counter = new TokenCounter(options)
    this.#pinning = options
  }

  /** The prompt with as little left out as will do; the same one when it is short enough. */
  shrink(prompt: Prompt, list: MessageList, target: number): Prompt {
    if (this.counter.ofPrompt(prompt) <= target) return prompt
    return this.#cutResults(this.#clearResults(this.#dropTurns(prompt, list, target), target), target)
  }

  #dropTurns(prompt: Prompt, list: MessageList, target: number): Prompt {
    const parts = promptTurns(prompt, list, this.#pinning)
    let over = this.counter.ofPrompt(prompt) - target
    const kept = parts.turns.filter(({ messages, isPinned }) => {
      if (isPinned || over <= 0) return true
      over -= this.counter.ofPrompt(messages)
      return false
    })
    return kept.length === parts.turns.length ? prompt : promptOf(parts, kept)
  }

  /** From the oldest on, all but those that the model has not answered to. */
  #clearResults(prompt: Prompt, target: number): Prompt {
    let over = this.counter.ofPrompt(prompt) - target
    const texts = new Map<PromptResult, string>()
    const results = resultsIn(prompt)
    for (const result of results.slice(0, results.length - unreadIn(prompt).length)) {
      if (over <= 0) break
      const gain = this.counter.ofResult(result) - leastTokens
      if (gain <= 0) continue
      texts.set(result, '[This result was left out, since there is no room for it.]')
      over -= gain
    }
    return texts.size === 0 ? prompt : this.#texts.apply(prompt, texts)
  }

  /** The longest are cut to the same length, half as long each time. */
  #cutResults(prompt: Prompt, target: number): Prompt {
    const results = resultsIn(prompt)
    const sizes = results.map(result => this.counter.ofResult(result))
    let shorter = prompt
    for (
      let most = sizes.reduce((one, other) => Math.max(one, other), 0) / 2;
      most >= leastTokens && this.counter.ofPrompt(shorter) > target;
      most /= 2
    ) {
      const long = results.flatMap((result, index): readonly (readonly [PromptResult, string])[] =>
        sizes[index]! > most ? [[result, shortened(textOf(result.output), most / sizes[index]!)]] : [],
      )
      shorter = this.#texts.apply(prompt, new Map(long))
    }
    return shorter
  }
}
