// Where a run is, as hooks are told.
import type { StepPosition, StepResult } from '@lockstep/processors'
import type { Run } from './run.ts'

/** A place in a run. The records are put together when a hook is called, and most steps have none. */
export class Position implements StepPosition {
  readonly stepNumber: number
  readonly attemptNumber: number
  readonly retryCount: number
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
    this.stepNumber = run.stepNumber
    this.attemptNumber = run.attemptNumber
    this.retryCount = run.processorRetryCount
  }

  get steps(): readonly StepResult[] {
    return this.#run.stepResults
  }
}
