// The finalize hooks of the steps that a turn entered: all of them run, whatever one of them throws.
import { BatchError } from '../errors.ts'
import { runHook, type HookTurn } from '../route/hook.ts'
import { stepsOf } from '../route/route.ts'
import { visitCount } from '../session/visit.ts'

/**
 * Runs the finalize hooks of these steps in the order given, and returns the errors of those that failed.
 *
 * *Throws* `aborted` when the signal ends it; the hooks after that do not run.
 */
export async function finalizeSteps<TData, TContext>(
  turn: HookTurn<TData, TContext>,
  stepIds: readonly string[],
): Promise<readonly BatchError[]> {
  const errors: BatchError[] = []
  for (const stepId of stepIds) {
    const step = stepsOf(turn.route).find(({ id }) => id === stepId)
    if (step === undefined) continue
    try {
      await runHook(turn, { name: 'finalize', step, visit: visitCount(turn.session, turn.route.id, stepId) })
    } catch (thrown) {
      if (!BatchError.isInstance(thrown) || thrown.code !== 'finalize-failed') throw thrown
      errors.push(thrown)
    }
  }
  return errors
}
