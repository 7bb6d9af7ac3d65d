// Calls the model again after a failure that passes: later each time, and when the provider says.
import type { Processor } from '@lockstep/processors'
import { readFailure, type FailureKind, type ModelFailure } from './model-failure.ts'

export type { FailureKind, ModelFailure } from './model-failure.ts'

/** A failed call that is made again. */
export interface ModelRetry {
  readonly failure: ModelFailure
  readonly delayMs: number
  /** Counted from 1 in each step. */
  readonly retryNumber: number
}

/** Options of the retry. */
export interface ModelRetryOptions {
  /** How often a step is tried again; 3 when absent. */
  readonly maxRetries?: number
  /** The failures that pass; `rate-limit`, `overloaded`, `server`, `timeout` and `network` when absent. */
  readonly on?: readonly FailureKind[]
  /** The wait before the first retry; 1,000 when absent. It doubles each time. */
  readonly initialDelayMs?: number
  /** The longest wait that is not the provider's own; 30,000 when absent. */
  readonly maxDelayMs?: number
  /** A provider that wants to be left alone for longer is not asked again; 60,000 when absent. */
  readonly maxRetryAfterMs?: number
  readonly onRetry?: (retry: ModelRetry) => void
  /** Waits; a timer that ends with the run when absent. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
  /** A number from 0 to 1, so that those who failed together do not come back together; `Math.random` when absent. */
  readonly random?: () => number
  /** The time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number
}

/** What the retry keeps of a run. */
export interface ModelRetryState {
  stepNumber: number
  retryCount: number
}

const passing: readonly FailureKind[] = ['rate-limit', 'overloaded', 'server', 'timeout', 'network']

/**
 * A processor that calls the model again when it failed for a reason that passes, before or during its answer.
 *
 * *Order*: in `errorProcessors`, before a fallback, so that a model is given up only after its retries.
 * *Cost*: nothing until a call fails.
 */
export function modelRetry(options: ModelRetryOptions = {}): Processor<'model-retry', unknown, ModelRetryState> {
  const { maxRetries = 3, on = passing, maxRetryAfterMs = 60_000, onRetry } = options
  const { wait = waitFor, now = Date.now } = options
  return {
    id: 'model-retry',
    name: 'Model retry',
    description: 'Calls the model again after a failure that passes.',

    async processAPIError({ error, stepNumber, state, abortSignal }) {
      const failure = readFailure(error, now())
      const { kind, retryAfterMs = 0, forbidsRetry } = failure
      const retryNumber = (state.stepNumber === stepNumber ? (state.retryCount ?? 0) : 0) + 1
      if (forbidsRetry || !on.includes(kind) || retryNumber > maxRetries || retryAfterMs > maxRetryAfterMs) return
      state.stepNumber = stepNumber
      state.retryCount = retryNumber
      const delayMs = failure.retryAfterMs ?? backoff(retryNumber, options)
      onRetry?.({ failure, delayMs, retryNumber })
      await wait(delayMs, abortSignal)
      return { retry: true }
    },
  }
}

/** Doubles, and takes off up to a half at random. */
function backoff(retryNumber: number, options: ModelRetryOptions): number {
  const { initialDelayMs = 1_000, maxDelayMs = 30_000, random = Math.random } = options
  return Math.min(initialDelayMs * 2 ** (retryNumber - 1), maxDelayMs) * (1 - random() / 2)
}

/** Waits, and no longer than the run. */
function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
