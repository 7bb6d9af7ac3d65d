// When the loop ends after a step.
import type { StopReason } from '@lockstep/processors'
import type { StopCondition } from 'ai'
import { defaultMaxSteps } from './options.ts'
import type { Run } from './run.ts'
import type { FinishedStep } from '../step/step.ts'

/** Why the loop ends here, or undefined when it goes on. */
export async function stopReasonAfter(run: Run, { goesOn }: FinishedStep): Promise<StopReason | undefined> {
  if (!goesOn) return 'completed'
  const steps = run.stepResults
  for (const condition of [run.options.stopWhen ?? []].flat() as readonly StopCondition<never, never>[])
    if (await run.whileRunning(condition({ steps: steps as never }))) return 'stop-condition'
  const { maxSteps = defaultMaxSteps } = run.options
  if (run.steps.length < maxSteps) return undefined
  run.warnings.push(
    `The run ended after ${run.steps.length} steps (maxSteps) while the model still wanted to go on. Raise maxSteps to let it.`,
  )
  return 'max-steps'
}
