// Clears the results of old tool calls out of prompts that have grown long: the calls stay, and the conversation too.
import type { Processor } from '@lockstep/processors'
import { ResultTexts, resultsIn, unreadIn, type PromptResult } from './shown-results.ts'
import { TokenCounter, type TokenCounting } from './token-counter.ts'

/** Results that the model is no longer shown. */
export interface ClearedResults {
  readonly toolCallIds: readonly string[]
  /** About how many tokens are saved. */
  readonly tokens: number
}

/** Options of the clearing. */
export interface ToolResultClearingOptions extends TokenCounting {
  /** A prompt may have so many tokens before anything is cleared; 30,000 when absent. */
  readonly trigger?: number
  /** How many of the newest results stay, and at least those that the model has not answered to; 3 when absent. */
  readonly keep?: number
  /** Less than this is not worth a prompt that begins otherwise: providers cache beginnings. 2,000 tokens when absent. */
  readonly atLeast?: number
  /** Tools whose results stay. */
  readonly exclude?: readonly string[]
  /** What the model reads in place of a result. */
  readonly placeholder?: string
  readonly onClear?: (cleared: ClearedResults) => void
}

/** What the clearing keeps of a run. */
export interface ToolResultClearingState {
  /** The calls whose results are cleared: once cleared, a result stays so for the run. */
  cleared: string[]
}

/**
 * A processor that clears the results of old calls when the prompt has grown long. The model is shown a placeholder in
 * their place; the conversation, and what is stored of it, keep them.
 *
 * *Order*: in `inputProcessors`, before a token limiter.
 */
export function toolResultClearing(
  options: ToolResultClearingOptions = {},
): Processor<'tool-result-clearing', unknown, ToolResultClearingState> {
  const { trigger = 30_000, keep = 3, atLeast = 2_000, exclude = [], onClear } = options
  const { placeholder = '[This result was cleared to save room. Call the tool again if it is needed.]' } = options
  const counter = new TokenCounter(options)
  const show = new ResultTexts()
  const saved = new WeakMap<PromptResult, number>()
  const savedBy = (result: PromptResult): number => {
    const known = saved.get(result)
    if (known !== undefined) return known
    const shown = { ...result, output: { type: 'text', value: placeholder } } as PromptResult
    const gain = counter.ofResult(result) - counter.ofResult(shown)
    saved.set(result, gain)
    return gain
  }
  const least = counter.ofMessage({ role: 'system', content: placeholder })

  return {
    id: 'tool-result-clearing',
    name: 'Tool result clearing',
    description: 'Clears the results of old tool calls out of long prompts.',

    processLLMRequest({ prompt, state }) {
      const results = resultsIn(prompt)
      let known = new Set(state.cleared)
      const tokens = results.reduce(
        (sum, result) => (known.has(result.toolCallId) ? sum - savedBy(result) : sum),
        counter.ofPrompt(prompt),
      )
      if (tokens > trigger) {
        const more = results
          .slice(0, Math.max(0, results.length - Math.max(keep, unreadIn(prompt).length)))
          .filter(({ toolCallId, toolName }) => !known.has(toolCallId) && !exclude.includes(toolName))
          .filter(result => savedBy(result) > least)
        const gain = more.reduce((sum, result) => sum + savedBy(result), 0)
        if (more.length > 0 && gain >= atLeast) {
          const toolCallIds = more.map(({ toolCallId }) => toolCallId)
          known = new Set([...known, ...toolCallIds])
          state.cleared = [...known]
          onClear?.({ toolCallIds, tokens: gain })
        }
      }
      const texts = new Map(
        results.filter(({ toolCallId }) => known.has(toolCallId)).map(result => [result, placeholder]),
      )
      return texts.size === 0 ? undefined : { prompt: show.apply(prompt, texts) }
    },
  }
}
