// The object that a run promised its caller: read from the last accepted step, and what becomes of the run without it.
import type { AcceptedStep } from '../step/accepted-step.ts'
import { textOf } from '../step/accepted-step.ts'
import type { Run } from '../run/run.ts'

/** Reads the object from the conversation as it stands now. Nothing is decided yet: an edit may still mend the answer. */
export async function readPromised(run: Run): Promise<void> {
  const outcome = await outcomeOf(run)
  run.object = outcome && 'object' in outcome ? outcome.object : undefined
}

/** Decides about the object. Throws: the AI SDK's `NoObjectGeneratedError` when there is none and the run is strict. */
export async function settlePromised(run: Run): Promise<void> {
  const outcome = await outcomeOf(run)
  run.object = outcome && 'object' in outcome ? outcome.object : undefined
  if (!outcome || 'object' in outcome) return
  const promised = run.options.structuredOutput!
  if (promised.errorStrategy === 'fallback') run.object = promised.fallbackValue
  else if (promised.errorStrategy === 'warn')
    run.warnings.push(`The answer is not the object that was asked for, so there is none. ${String(outcome.error)}`)
  else throw outcome.error
}

function outcomeOf(run: Run) {
  const promised = run.settings.structuredOutput
  const last = run.steps.at(-1)
  return promised && last ? run.objects.read(promised, textOf(run.list, last), last.result) : undefined
}

/** The object of a step after its text may have been edited. */
export async function rereadObject(run: Run, { asked, result }: AcceptedStep, text: string): Promise<unknown> {
  if (!asked || text === result.text) return result.object
  const outcome = await run.objects.read(asked, text, result)
  return 'object' in outcome ? outcome.object : undefined
}
