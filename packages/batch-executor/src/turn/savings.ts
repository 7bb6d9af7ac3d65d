// What a turn cost, and what the same would have cost with one model call for each step.
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'

/** What model calls took, as the model reported it, else as the prompt budget counts. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

/**
 * What batching saved against one call for each step that speaks or asks. Below zero when a turn took more calls.
 *
 * The tokens are an estimate: each call that was saved would have taken what those that were made took.
 */
export interface Savings {
  readonly callCount: number
  readonly tokenCount: number
}

/** What was done in a turn, for counting. */
export interface TurnWork {
  readonly callCount: number
  readonly usage: Usage
  /** The steps with words that were executed. */
  readonly spokenStepCount: number
  /** Something was to be read or said, which takes one call at least. */
  readonly needsCall: boolean
  /** The prompt that a turn without a call would have sent. */
  readonly prompt: () => BatchPrompt
}

/** Compares a turn with one that makes a call for each of its steps. */
export function savingsOf({ callCount, usage, spokenStepCount, needsCall, prompt }: TurnWork): Savings {
  const saved = Math.max(spokenStepCount, needsCall ? 1 : 0) - callCount
  if (saved === 0) return { callCount: 0, tokenCount: 0 }
  const perCall = callCount === 0 ? prompt().tokenCount : (usage.inputTokens + usage.outputTokens) / callCount
  return { callCount: saved, tokenCount: Math.round(saved * perCall) }
}
