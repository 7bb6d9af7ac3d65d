// Goes on with another model when one has failed.
import type { ModelChoice, Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { readFailure, type FailureKind, type ModelFailure } from './model-failure.ts'

export type { FailureKind, ModelFailure } from './model-failure.ts'

/** A model that was given up for the next one. */
export interface ModelFallback {
  readonly failure: ModelFailure
  readonly model: ModelChoice
  /** The place of the model in `models`, from 0. */
  readonly index: number
}

/** Options of the fallback. */
export interface ModelFallbackOptions {
  /** In the order in which they are tried, after the run's own model. */
  readonly models: readonly ModelChoice[]
  /** The failures that another model may not have; all but `invalid` and `overflow` when absent. */
  readonly on?: readonly FailureKind[]
  readonly onFallback?: (fallback: ModelFallback) => void
}

/** What the fallback keeps of a run. */
export interface ModelFallbackState {
  stepNumber: number
  /** How many of the models were turned to. */
  usedCount: number
  /** The run stays with the model that it fell back to. */
  stays: boolean
}

const elsewhere: readonly FailureKind[] = [
  'rate-limit',
  'overloaded',
  'server',
  'timeout',
  'network',
  'quota',
  'auth',
  'not-found',
  'unknown',
]

/**
 * A processor that makes a failed call again with the next of some models.
 *
 * *Order*: in `errorProcessors` for the step that failed; the next step begins with the run's own model again. In
 * `inputProcessors` too, the same one, the run stays with the model that it fell back to.
 * *Throws*: `missing-model`.
 */
export function modelFallback(options: ModelFallbackOptions): Processor<'model-fallback', unknown, ModelFallbackState> {
  const { models, on = elsewhere, onFallback } = options
  if (!Array.isArray(models) || models.length === 0)
    throw new BuiltinError('missing-model', 'A fallback has no model to fall back to. Give models: [model].')
  return {
    id: 'model-fallback',
    name: 'Model fallback',
    description: 'Goes on with another model when one has failed.',

    processInputStep({ state }) {
      state.stays = true
      const model = models[(state.usedCount ?? 0) - 1]
      return model === undefined ? undefined : { model }
    },

    processAPIError({ error, stepNumber, state }) {
      const failure = readFailure(error, 0)
      const index = state.stays || state.stepNumber === stepNumber ? (state.usedCount ?? 0) : 0
      const model = models[index]
      if (model === undefined || !on.includes(failure.kind)) return
      state.stepNumber = stepNumber
      state.usedCount = index + 1
      onFallback?.({ failure, model, index })
      return { retry: true, model }
    },
  }
}
