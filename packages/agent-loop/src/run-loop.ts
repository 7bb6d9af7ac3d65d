// The loop: input, steps until one says stop, the result. One path for every way in which a run can end.
import type { Snapshot } from '@lockstep/message-list'
import { TripWire, type Chunk, type StopReason } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import { resultAccepted } from './accept-response.ts'
import { continueAnswered, enterAnswers } from './answered-calls.ts'
import { Attempt } from './attempt.ts'
import { ChunkChannel, type Emit } from './chunk-channel.ts'
import { flushed, runEnded, showEnd, tellCaller } from './ending.ts'
import { enterSteered } from './enter-steered.ts'
import { resultOf, type Ending, type LoopResult } from './loop-result.ts'
import { saveRun, type LoopState } from './loop-state.ts'
import type { RunLoopOptions } from './options.ts'
import type { ApprovalDecision } from './pending-approval.ts'
import { resumedRun, type ResumedRun } from './resumed-run.ts'
import { Run } from './run.ts'
import { runStep, type FinishedStep, type SuspendedStep } from './step.ts'
import { defaultMaxSteps, stopReasonAfter } from './stop.ts'
import { listenersOf } from './telemetry-listeners.ts'

/**
 * Runs an agent's loop. The generator yields the run's chunks and returns its result; it does not throw for what can
 * happen in a run: `stopReason` and `error` of the result say it.
 *
 * *Order*: nothing happens before the first read. Leaving the generator early aborts the run.
 */
export function runLoop<TOOLS extends ToolSet = ToolSet, OBJECT = undefined>(
  options: RunLoopOptions<TOOLS, OBJECT>,
): AsyncGenerator<Chunk, LoopResult<TOOLS, OBJECT>, void> {
  return looped(options, emit => ({ run: new Run(options as unknown as RunLoopOptions, emit) }))
}

/** What a run is resumed with: everything `runLoop` takes but what the state has. */
export type ResumeLoopOptions<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> = Omit<
  RunLoopOptions<TOOLS, OBJECT>,
  'messageList' | 'runId'
>

/** A run that was put down, and what a person decided about its open calls. */
export interface Resumption {
  readonly state: LoopState
  readonly decisions?: readonly ApprovalDecision[]
}

/**
 * Goes on with a run that was suspended, in this process or another. It is the same run: it takes the tools, the processors
 * and the other options again, and no tool that ran is run again. Calls that nobody decided about suspend it once more.
 *
 * *Throws*, on the first read: `invalid-state`, `unsupported-state`, `processors-changed`, `unknown-approval`,
 * `already-decided`, `unknown-tool`, `invalid-decision`. Nothing has happened then.
 */
export function resumeLoop<TOOLS extends ToolSet = ToolSet, OBJECT = undefined>(
  resumption: Resumption,
  options: ResumeLoopOptions<TOOLS, OBJECT>,
): AsyncGenerator<Chunk, LoopResult<TOOLS, OBJECT>, void> {
  return looped(options, emit => resumedRun(resumption, options as unknown as ResumeLoopOptions, emit))
}

interface StartedRun {
  readonly run: Run
  /** What has to be read before the run goes on. */
  readonly resumed?: () => Promise<ResumedRun>
}

function looped<TOOLS extends ToolSet, OBJECT>(
  { steering }: Pick<RunLoopOptions, 'steering'>,
  start: (emit: Emit<Chunk>) => StartedRun,
): AsyncGenerator<Chunk, LoopResult<TOOLS, OBJECT>, void> {
  let run: Run | undefined
  const produce = async (emit: Emit<Chunk>) => {
    let result: LoopResult | undefined
    try {
      const started = start(emit)
      run = started.run
      const resumed = await started.resumed?.()
      const listeners = listenersOf(run.options.telemetry)
      if (listeners) run.telemetry = new (await import('./telemetry.ts')).RunTelemetry(run, listeners)
      result = await execute(run, resumed)
      return result as unknown as LoopResult<TOOLS, OBJECT>
    } finally {
      steering?.end(result?.stopReason ?? 'error')
      run?.close()
    }
  }
  return new ChunkChannel(produce, () => run?.abort(new DOMException('The reader left the stream.', 'AbortError')))
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
    const stopReason = await stopReasonAfter(run, made)
    if (stopReason === undefined || isToldMore(run, stopReason)) run.stepNumber++
    else if (await resultAccepted(run, { ...made, stopReason })) return stopReason
    made = await nextStep(run)
  }
}

async function nextStep(run: Run): Promise<FinishedStep | SuspendedStep> {
  run.signal.throwIfAborted()
  await enterSteered(run)
  return runStep(run)
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
  run.originalSystemMessages = run.list.getAllSystemMessages()
  await prologue.release()
  await enterAnswers(run, prologue)
  run.prologueParts = prologue.response.parts
  return run.list.snapshot()
}
