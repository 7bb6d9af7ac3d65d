// When the loop ends after a step.
import type { MaybePromise, StopReason } from '@lockstep/processors'
import type { StopCondition, ToolSet } from 'ai'
import { defaultMaxSteps } from './options.ts'
import type { Run } from './run.ts'
import type { FinishedStep } from '../step/step.ts'

/** Why the loop ends here, or undefined when it goes on. */
export function stopReasonAfter(run: Run, { goesOn }: FinishedStep): MaybePromise<StopReason | undefined> {
  if (!goesOn) return 'completed'
  const { stopWhen } = run.options
  return stopWhen === undefined ? stopReasonByCount(run) : stopReasonBy(run, [stopWhen].flat())
}

async function stopReasonBy(
  run: Run,
  conditions: readonly StopCondition<ToolSet, never>[],
): Promise<StopReason | undefined> {
  const steps = run.stepResults
  for (const condition of conditions)
    if (await run.whileRunning(condition({ steps: steps as never }))) return 'stop-condition'
  return stopReasonByCount(run)
}

function stopReasonByCount(run: Run): StopReason | undefined {
  const { maxSteps = defaultMaxSteps } = run.options
  if (run.steps.length < maxSteps) return undefined
  run.warnings.push(
    `The run ended after ${run.steps.length} steps (maxSteps) while the model still wanted to go on. Raise maxSteps to let it.`,
  )
  return 'max-steps'
}
