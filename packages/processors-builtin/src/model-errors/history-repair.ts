// Repairs the history of a conversation for a provider that refuses it: for the prompts of this run, not in the list.
import type { Processor } from '@lockstep/processors'
import { readFailure } from './model-failure.ts'
import { promptRepairs, type PromptRepairName } from './prompt-repairs.ts'

export type { PromptRepairName } from './prompt-repairs.ts'

/** A refusal that was recognised, and what is done about it from now on. */
export interface HistoryRepair {
  readonly repair: PromptRepairName
  /** What the provider said. */
  readonly refusal: string
}

/** Options of the history repair. */
export interface HistoryRepairOptions {
  readonly onRepair?: (repair: HistoryRepair) => void
}

/** What the history repair keeps of a run. */
export interface HistoryRepairState {
  /** Prompts pass through it. */
  shapesPrompts: boolean
  /** In the order in which they became necessary; each prompt of the run gets all of them. */
  repairs: PromptRepairName[]
}

/**
 * A processor that recognises what a provider has against the history, repairs the prompt, and calls again. Each repair is
 * tried once in a run and kept for the rest of it.
 *
 * *Order*: in `inputProcessors`, last, and in `errorProcessors`, the same one.
 * *Cost*: nothing until a call fails; then one pass over each prompt of the run for each repair.
 */
export function historyRepair(
  options: HistoryRepairOptions = {},
): Processor<'history-repair', unknown, HistoryRepairState> {
  return {
    id: 'history-repair',
    name: 'History repair',
    description: 'Repairs prompts that a provider refuses because of what was said before.',

    processLLMRequest({ prompt, state }) {
      state.shapesPrompts = true
      if (!state.repairs) return
      return { prompt: state.repairs.reduce((repaired, name) => promptRepairs[name].repair(repaired), prompt) }
    },

    processAPIError({ error, state }) {
      const { statusCode, text } = readFailure(error, 0)
      // Where prompts do not pass through it, another call would be the same call.
      if (!state.shapesPrompts || (statusCode !== undefined && (statusCode < 400 || statusCode >= 500))) return
      const { repairs = [] } = state
      const names = Object.keys(promptRepairs) as PromptRepairName[]
      const repair = names.find(name => !repairs.includes(name) && promptRepairs[name].refusal.test(text))
      if (repair === undefined) return
      state.repairs = [...repairs, repair]
      options.onRepair?.({ repair, refusal: text })
      return { retry: true }
    },
  }
}
