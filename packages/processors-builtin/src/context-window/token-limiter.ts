// Keeps prompts within a number of tokens: the oldest turns are left out, never what the run itself is about.
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { promptOf, promptTurns, type Pinning } from './prompt-turns.ts'
import { TokenCounter, type TokenCounting } from './token-counter.ts'

/** What was left out of a prompt. */
export interface TokenTrim {
  /** How many turns are not in the prompt. */
  readonly turnCount: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Options of the token limiter. */
export interface TokenLimiterOptions extends TokenCounting, Pinning {
  /** What instructions, tools and messages may have together. Leave room for the answer. */
  readonly limit: number
  /** When the run itself is larger: it is stopped with a tripwire (`'abort'`, when absent), or the call is made. */
  readonly over?: 'abort' | 'pass'
  /** Is told what was left out. Then all of a prompt is counted; without it, no more than what fits. */
  readonly onTrim?: (trim: TokenTrim) => void
}

/** Why a limiter stopped a run. */
export interface TokenOverrun {
  readonly tokens: number
  readonly limit: number
}

/** What the limiter keeps of a run. */
export interface TokenLimiterState {
  toolTokens: number
  /** How many turns are left out. They stay out for the run, so that its prompts begin alike. */
  cut: number
}

/**
 * A processor that leaves the oldest turns out of the prompt when it has too many tokens. A turn goes as a whole, with its
 * calls and results; pinned turns and the run's own stay. The conversation is not changed.
 *
 * *Order*: in `inputProcessors`, after what shortens or adds messages.
 * *Throws*: `invalid-limit`.
 */
export function tokenLimiter(
  options: TokenLimiterOptions,
): Processor<'token-limiter', TokenOverrun, TokenLimiterState> {
  const { limit, over = 'abort', onTrim } = options
  if (!(limit > 0))
    throw new BuiltinError('invalid-limit', `The limit of tokens is ${String(limit)}. Give a number above 0.`)
  const counter = new TokenCounter(options)
  return {
    id: 'token-limiter',
    name: 'Token limiter',
    description: 'Leaves the oldest turns out of prompts that have too many tokens.',

    processInputStep: step => counter.noteTools(step),

    processLLMRequest({ prompt, messageList, state, abort }) {
      const { toolTokens = 0, cut: cutBefore = 0 } = state
      if (cutBefore === 0 && counter.fits(prompt, limit - toolTokens)) return
      const parts = promptTurns(prompt, messageList, options)
      const { system, turns, current } = parts
      const pinned = turns.filter(({ isPinned }) => isPinned).flatMap(({ messages }) => messages)
      const least = toolTokens + counter.ofPrompt([...system, ...pinned, ...current])
      if (least > limit && over === 'abort')
        abort(`The conversation has ${least} tokens without its history, of ${limit} that it may have.`, {
          metadata: { tokens: least, limit },
        })
      let tokensAfter = least
      let cut = turns.length
      for (; cut > cutBefore; cut--) {
        const { isPinned, messages } = turns[cut - 1]!
        const size = isPinned ? 0 : counter.ofPrompt(messages)
        if (tokensAfter + size > limit) break
        tokensAfter += size
      }
      const kept = turns.filter(({ isPinned }, index) => isPinned || index >= cut)
      const turnCount = turns.length - kept.length
      if (cut > cutBefore) onTrim?.({ turnCount, tokensBefore: toolTokens + counter.ofPrompt(prompt), tokensAfter })
      state.cut = cut
      return turnCount === 0 ? undefined : { prompt: promptOf(parts, kept) }
    },
  }
}
