// Keeps the last turns of a conversation in the prompt.
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { promptOf, promptTurns, type Pinning } from './prompt-turns.ts'

/** Options of the sliding window. */
export interface SlidingWindowOptions extends Pinning {
  /** How many turns of earlier the prompt has, besides pinned ones and the run itself; 10 when absent. */
  readonly turns?: number
}

/**
 * A processor that leaves all but the last turns out of the prompt. A turn is a question with all that was said and done
 * until the next one. The conversation is not changed.
 *
 * *Order*: in `inputProcessors`.
 * *Throws*: `invalid-limit`.
 */
export function slidingWindow(options: SlidingWindowOptions = {}): Processor<'sliding-window'> {
  const { turns: limit = 10 } = options
  if (!(limit >= 0))
    throw new BuiltinError('invalid-limit', `A window of ${String(limit)} turns is none. Give 0 or more.`)
  return {
    id: 'sliding-window',
    name: 'Sliding window',
    description: 'Keeps the last turns of a conversation in the prompt.',

    processLLMRequest({ prompt, messageList }) {
      const parts = promptTurns(prompt, messageList, options)
      const { turns } = parts
      const kept = turns.filter(({ isPinned }, index) => isPinned || index >= turns.length - limit)
      return kept.length === turns.length ? undefined : { prompt: promptOf(parts, kept) }
    },
  }
}
