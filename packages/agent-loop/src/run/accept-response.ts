// The response as a whole: processOutputResult has its say, and the object that was promised is settled.
import type { Snapshot } from '@lockstep/message-list'
import { TripWire, type StopReason } from '@lockstep/processors'
import { contentOf, partsOf, type AcceptedStep } from '../step/accepted-step.ts'
import { finishChunk } from './ending.ts'
import { readPromised, rereadObject, settlePromised } from '../object/promised-object.ts'
import { feedbackOn, type Run } from './run.ts'

/** A response that waits to be accepted. */
export interface Response {
  /** From before the last step. */
  readonly before: Snapshot
  readonly stopReason: StopReason
}

/** Passes the response through `processOutputResult`; false when its last step is to be made again. */
export async function resultAccepted(run: Run, response: Response): Promise<boolean> {
  try {
    await readPromised(run)
    await run.runner.runProcessOutputResult(() => ({ position: run.position, own: { result: run.output() } }))
    await rereadSteps(run)
    await settlePromised(run)
    run.finish = await run.attempt!.takeFrame(finishChunk(run, { stopReason: response.stopReason }))
    await run.attempt!.throwUnheard()
    if (run.object !== undefined) await run.show(run.chunk('object', { object: run.object }))
    await run.release()
    return true
  } catch (error) {
    if (!TripWire.isInstance(error)) throw error
    run.object = undefined
    if (!run.grantRetry(error)) {
      await withdrawAll(run, error)
      throw error
    }
    run.withdrawTo(response.before)
    run.replaceSteps(run.steps.slice(0, -1))
    if (!run.dropHeldOfStep())
      await run.show(run.chunk('step-reset', { stepNumber: run.stepNumber, reason: error.reason }))
    run.feedback = feedbackOn(error.reason)
    return false
  }
}

/** Takes the whole response back; what it said is kept for the tripwire alone. */
async function withdrawAll(run: Run, tripwire: TripWire): Promise<void> {
  const steps = run.stepResults
  run.replaceSteps([])
  run.rejected = {
    text: steps.map(step => step.text).join(''),
    toolCalls: steps.flatMap(step => step.toolCalls),
    steps,
  }
  run.withdrawTo(run.opened!)
  if (!run.dropHeld()) await run.show(run.chunk('step-reset', { stepNumber: 0, reason: tripwire.reason }))
}

/** The records say what the conversation says, after the last processor had its turn. */
async function rereadSteps(run: Run): Promise<void> {
  if (run.runner.plan.processOutputResult.length === 0) return
  const reread = run.steps.map(async (step): Promise<AcceptedStep> => {
    const content = contentOf(partsOf(run.list, step.place))
    const object = await rereadObject(run, step, content.text)
    return { ...step, result: Object.freeze({ ...step.result, ...content, object }) }
  })
  run.replaceSteps(await Promise.all(reread))
}
