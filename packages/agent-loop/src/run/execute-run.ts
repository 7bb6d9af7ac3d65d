// The loop: input, steps until one says stop, the result. One path for every way in which a run can end.
import type { Snapshot } from '@lockstep/message-list'
import { isPromiseLike, TripWire, type Chunk, type StopReason } from '@lockstep/processors'
import { resultAccepted } from './accept-response.ts'
import { continueAnswered, enterAnswers } from '../tools/answered-calls.ts'
import { Attempt } from '../step/attempt.ts'
import type { Emit } from './chunk-channel.ts'
import { flushed, runEnded, showEnd, tellCaller } from './ending.ts'
import { enterSteered } from './enter-steered.ts'
import { resultOf, type Ending, type LoopResult } from './loop-result.ts'
import { saveRun } from './loop-state.ts'
import { defaultMaxSteps, type RunLoopOptions } from './options.ts'
import type { ResumedRun } from './resumed-run.ts'
import { Run } from './run.ts'
import { runStep, type FinishedStep, type SuspendedStep } from '../step/step.ts'
import { stopReasonAfter } from './stop.ts'
import { listenersOf } from '../telemetry/listeners.ts'

export { resumedRun } from './resumed-run.ts'

/** A run that was made and has done nothing yet. */
export interface StartedRun {
  readonly run: Run
  /** What has to be read before the run goes on. */
  readonly resumed?: () => Promise<ResumedRun>
}

/** Makes a run that begins. */
export function begunRun(options: RunLoopOptions, emit: Emit<Chunk>): StartedRun {
  return { run: new Run(options, emit) }
}

/** Takes a run to its end, whatever that is. Rejects for a run that could not be taken up. */
export async function executeRun({ run, resumed }: StartedRun): Promise<LoopResult> {
  const resumedAt = await resumed?.()
  const listeners = listenersOf(run.options.telemetry)
  if (listeners) run.telemetry = new (await import('../telemetry/telemetry.ts')).RunTelemetry(run, listeners)
  return execute(run, resumedAt)
}

async function execute(run: Run, resumed?: ResumedRun): Promise<LoopResult> {
  let ending = await endingOf(run, () => takeSteps(run, resumed))
  if (ending.stopReason === 'aborted') ending = await flushed(run, ending)
  run.attempt?.close()
  ending = await runEnded(run, ending)
  if (run.telemetry) await run.telemetry.end(ending)
  const told = await tellCaller(run, ending)
  try {
    await showEnd(run, told.ending)
    return told.result
  } catch (error) {
    // A callback for chunks that fails at the last one: it is not called for the chunks that say so.
    const failed: Ending = { stopReason: 'error', error }
    await showEnd(run, failed)
    return resultOf(run, failed)
  }
}

/** The way a piece of the run ends, as a value. */
async function endingOf(run: Run, work: () => Promise<StopReason>): Promise<Ending> {
  try {
    return { stopReason: await work() }
  } catch (error) {
    if (run.signal.aborted) return { stopReason: 'aborted', error: run.signal.reason }
    return TripWire.isInstance(error) ? { stopReason: 'tripwire', tripwire: error } : { stopReason: 'error', error }
  }
}

/** From the input, or from where the run was put down, to the accepted response. */
async function takeSteps(run: Run, resumed: ResumedRun | undefined): Promise<StopReason> {
  if (!resumed) continueAnswered(run)
  await run.show(run.chunk('start', { messageId: run.responseId() }))
  run.opened = resumed ? resumed.opened : await begun(run)
  let made = await (resumed ? resumed.takeUp() : nextStep(run))
  for (;;) {
    run.signal.throwIfAborted()
    if ('suspended' in made) {
      run.loopState = saveRun(run, made.suspended)
      return 'suspended'
    }
    const judged = stopReasonAfter(run, made)
    const stopReason = isPromiseLike(judged) ? await judged : judged
    if (stopReason === undefined || isToldMore(run, stopReason)) run.stepNumber++
    else if (await resultAccepted(run, { ...made, stopReason })) return stopReason
    made = await nextStep(run)
  }
}

function nextStep(run: Run): Promise<FinishedStep | SuspendedStep> {
  run.signal.throwIfAborted()
  const unheard = () => run.attempt?.throwUnheard()
  const entered = enterSteered(run)
  const ready = entered ? entered.then(unheard) : unheard()
  return ready ? Promise.resolve(ready).then(() => runStep(run)) : runStep(run)
}

/** An answer is not the end when somebody has said more, and there is a step left to hear it. */
function isToldMore({ options, steps }: Run, stopReason: StopReason): boolean {
  if (stopReason !== 'completed' || steps.length >= (options.maxSteps ?? defaultMaxSteps)) return false
  return options.steering?.hasMore() === true
}

/** Passes the input through the processors. Gives the conversation as the first step finds it. */
async function begun(run: Run): Promise<Snapshot> {
  const prologue = new Attempt(run)
  run.begin(prologue)
  await run.runner.runProcessInput(run.position)
  await prologue.throwUnheard()
  run.originalSystemMessages = run.list.getAllSystemMessages()
  await prologue.release()
  await enterAnswers(run, prologue)
  run.prologueParts = prologue.response.parts
  return run.list.snapshot()
}
