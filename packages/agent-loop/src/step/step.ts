// One step: attempts until one is accepted, then its tools, then the record of it.
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Snapshot } from '@lockstep/message-list'
import {
  isPromiseLike,
  ProcessorError,
  TripWire,
  type MaybePromise,
  type PreparedStep,
  type StepResult,
  type StepSettings,
} from '@lockstep/processors'
import { contentOf, partsOf, toolPartsOf, type AcceptedStep } from './accepted-step.ts'
import { Attempt, runAttempt, toolCallInfo, type AttemptStart } from './attempt.ts'
import { restoredAttempt, saveRun, type OpenStep } from '../run/loop-state.ts'
import { ProviderFailure } from '../model/model-answer.ts'
import { defaultMaxSteps } from '../run/options.ts'
import { enterDecisions, type DecidedCall } from '../tools/pending-approval.ts'
import { failureText, feedbackOn, type Run } from '../run/run.ts'
import { InvalidObject } from '../object/structured-answer.ts'
import { stepResultOf } from './step-result-of.ts'
import { deadline } from '../run/timeouts.ts'
import { allCallsAnswered, awaitsProvider, runToolPhase } from '../tools/tool-phase.ts'
import type { AttemptTrace } from '../run/trace.ts'

/** A step that is done. */
export interface FinishedStep {
  /** The model has to be called again to hear what came of its calls. */
  readonly goesOn: boolean
  /** The conversation before it. */
  readonly before: Snapshot
}

/** A step whose tools wait for a person. */
export interface SuspendedStep {
  readonly suspended: { readonly attempt: Attempt; readonly before: Snapshot }
}

/** Makes the step `run.stepNumber`. Throws what ended the run: a tripwire, an error, the reason of an abort. */
export function runStep(run: Run): Promise<FinishedStep | SuspendedStep> {
  return inTime(run, async () => {
    const before = run.list.snapshot()
    const shown = run.show(run.chunk('step-start', { stepNumber: run.stepNumber, messageId: run.responseId() }))
    if (shown) await shown
    const attempt = await acceptedAttempt(run)
    return completeStep(run, { attempt, before }, () => attempt.release())
  })
}

/** A step that was put down, with what has been decided about its calls since. */
export interface ResumedStep {
  readonly open: OpenStep
  readonly before: Snapshot
  readonly decided: readonly DecidedCall[]
}

/** Goes on with an open step: the calls that were decided about, and no other. Throws as `runStep` does. */
export function resumeStep(run: Run, { open, before, decided }: ResumedStep): Promise<FinishedStep | SuspendedStep> {
  return inTime(run, async () => {
    const attempt = restoredAttempt(run, open)
    run.begin(attempt)
    return completeStep(run, { attempt, before }, async () => {
      await attempt.release()
      await enterDecisions(run, attempt, decided)
    })
  })
}

function inTime<T>(run: Run, step: () => Promise<T>): Promise<T> {
  return run.timeouts.stepMs === undefined && !run.telemetry ? step() : timed(run, step)
}

async function timed<T>(run: Run, step: () => Promise<T>): Promise<T> {
  const stopClock = deadline({ ms: run.timeouts.stepMs, of: `Step ${run.stepNumber}` }, error => run.abort(error))
  try {
    if (run.telemetry) await run.telemetry.beginStep()
    return await step()
  } finally {
    stopClock()
  }
}

/** Runs the tools of an accepted attempt and makes the record of the step. */
async function completeStep(
  run: Run,
  { attempt, before }: SuspendedStep['suspended'],
  begin: () => MaybePromise<void>,
): Promise<FinishedStep | SuspendedStep> {
  const acceptedCount = run.steps.length
  try {
    const begun = begin()
    if (begun) await begun
    await runToolPhase(run, attempt)
    const unheard = attempt.throwUnheard()
    if (unheard) await unheard
    if (run.pendingCalls.length > 0) return { suspended: { attempt, before } }
    const finished = await finishStep(run, attempt, before)
    const late = attempt.throwUnheard()
    if (late) await late
    return finished
  } catch (error) {
    await attempt.passed()
    if (TripWire.isInstance(error)) {
      run.rejected = rejectedOf(attempt)
      run.withdrawTo(before)
      run.replaceSteps(run.steps.slice(0, acceptedCount))
      await reset(run, attempt, error.reason)
    }
    throw error
  } finally {
    attempt.account()
  }
}

/** What the step is called with. The last one that may be made is kept for the object: it calls no tools. */
function settingsFor(run: Run): StepSettings {
  const isLast = run.stepNumber + 1 === (run.options.maxSteps ?? defaultMaxSteps)
  return isLast && run.settings.structuredOutput ? { ...run.settings, toolChoice: 'none' } : run.settings
}

/** Where the next try begins, and the conversation as a withdrawal finds it again. */
interface NextTry {
  readonly start: AttemptStart
  readonly before: Snapshot
}

/** Tries until an attempt passes all guards. What failed for good leaves nothing in the conversation. */
async function acceptedAttempt(run: Run): Promise<Attempt> {
  let next: NextTry = { start: { settings: settingsFor(run), prepared: undefined }, before: run.list.snapshot() }
  for (run.attemptNumber = run.recorder.attemptCountOf(run.stepNumber); ; run.attemptNumber++) {
    const attempt = new Attempt(run)
    run.begin(attempt)
    try {
      await runAttempt(run, attempt, next.start)
      record(run, attempt, { outcome: 'accepted' })
      attempt.account()
      if (run.telemetry) await run.telemetry.endCall(attempt)
      return attempt
    } catch (error) {
      attempt.account()
      if (run.telemetry) await run.telemetry.endCall(attempt, { error })
      next = await afterFailure(run, attempt, { error, ...next })
    }
  }
}

/** What a failed attempt leads to: another one, or the end of the run, which is thrown. */
async function afterFailure(
  run: Run,
  attempt: Attempt,
  failed: NextTry & { readonly error: unknown },
): Promise<NextTry> {
  const { error, start, before } = failed
  try {
    run.signal.throwIfAborted()
    attempt.hears(error)
    if (mayTryAgain(error)) await attempt.throwUnheard()
    if (!(error instanceof ProviderFailure)) throw error
    return { start: await repaired(run, attempt, { error: error.cause, start }), before: run.list.snapshot() }
  } catch (final) {
    await attempt.passed()
    run.withdrawTo(before)
    if (TripWire.isInstance(final)) await refused(run, attempt, final)
    else if (final instanceof InvalidObject) await misread(run, attempt, final)
    else {
      if (ProcessorError.isInstance(final)) await reset(run, attempt, final.message)
      throw final
    }
    return { start: { settings: start.settings, prepared: undefined }, before }
  }
}

/** Whether another try may follow, so that what else came of the attempt would be forgotten. */
function mayTryAgain(error: unknown): boolean {
  return (
    error instanceof ProviderFailure || error instanceof InvalidObject || (TripWire.isInstance(error) && error.retry)
  )
}

/** After a failure of the provider: asks the processors. Throws: the provider's error when none wants a retry. */
async function repaired(
  run: Run,
  attempt: Attempt,
  failure: { readonly error: unknown; readonly start: AttemptStart },
): Promise<AttemptStart> {
  const { error, start } = failure
  record(run, attempt, { outcome: 'failed', reason: failureText(error) })
  const { stepNumber, attemptNumber, steps } = run.position
  const position = { stepNumber, attemptNumber, steps, retryCount: run.apiRetryCount }
  const wish = await run.runner.runProcessAPIError({ position, error, shownChunkCount: attempt.shownCount })
  if (!wish || run.apiRetryCount >= run.retryBudget) throw error
  run.apiRetryCount++
  await reset(run, attempt, failureText(error))
  return withModel(start, attempt.prepared, wish.model)
}

function withModel(
  start: AttemptStart,
  prepared: PreparedStep | undefined,
  model: LanguageModelV4 | undefined,
): AttemptStart {
  const change = <T extends StepSettings>(settings: T): T => (model === undefined ? settings : { ...settings, model })
  return {
    settings: change(start.settings),
    prepared: prepared && { ...prepared, settings: change(prepared.settings) },
  }
}

/** After a refusal of an attempt that is withdrawn already. Throws: the tripwire, when no other is wanted or granted. */
async function refused(run: Run, attempt: Attempt, tripwire: TripWire): Promise<void> {
  const again = run.grantRetry(tripwire)
  record(run, attempt, { outcome: again ? 'retried' : 'refused', reason: tripwire.reason })
  await reset(run, attempt, tripwire.reason)
  if (!again) {
    run.rejected = rejectedOf(attempt)
    throw tripwire
  }
  run.feedback = feedbackOn(tripwire.reason)
}

/** After an answer that is not the object that was asked for: the model hears what is wrong with it. */
async function misread(run: Run, attempt: Attempt, { message }: InvalidObject): Promise<void> {
  record(run, attempt, { outcome: 'invalid-object', reason: message })
  await reset(run, attempt, message)
  run.feedback = feedbackOn(message)
}

/** What an attempt said, for the tripwire alone. */
function rejectedOf(attempt: Attempt): Run['rejected'] {
  return {
    text: attempt.response.text,
    toolCalls: toolPartsOf(attempt.response.parts).map(toolCallInfo),
    steps: [],
  }
}

/** Tells readers to forget what they saw of the attempt. */
async function reset(run: Run, attempt: Attempt, reason: string): Promise<void> {
  if (attempt.shownCount > 0) await run.show(run.chunk('step-reset', { stepNumber: run.stepNumber, reason }))
}

/** The record of the step, after its `step-finish` has passed the processors. */
async function finishStep(run: Run, attempt: Attempt, before: Snapshot): Promise<FinishedStep> {
  const result = stepResultOf(run, attempt, contentOf(partsOf(run.list, attempt.place!)))
  const { stepNumber, finishReason, usage, providerMetadata, warnings } = result
  const payload = { stepNumber, finishReason, usage, warnings }
  const finish = run.chunk('step-finish', providerMetadata === undefined ? payload : { ...payload, providerMetadata })
  const framed = attempt.takeFrame(finish)
  const shown = run.show(isPromiseLike(framed) ? await framed : framed)
  if (shown) await shown
  const step: AcceptedStep = { place: attempt.place!, asked: attempt.asked, result }
  run.addStep(step)
  const observed = run.runner.runProcessStepEnd({ position: run.position, step: result as StepResult })
  if (observed) await observed
  const isUnheard = attempt.toolCalls.length > 0 || awaitsProvider(run, attempt)
  const goesOn = isUnheard && allCallsAnswered(run, attempt)
  const { onStepFinish } = run.options
  if (onStepFinish)
    await run.whileRunning(onStepFinish(result as never, { loopState: () => saveRun(run, { goesOn, before }) }))
  return { goesOn, before }
}

function record(run: Run, attempt: Attempt, { outcome, reason }: Pick<AttemptTrace, 'outcome' | 'reason'>): void {
  const { summary, prepared } = attempt
  const { modelId } = (prepared ?? run).settings.model
  const trace: { -readonly [key in keyof AttemptTrace]: AttemptTrace[key] } = {
    attemptNumber: run.attemptNumber,
    modelId,
    outcome,
  }
  if (reason !== undefined) trace.reason = reason
  if (summary) trace.finishReason = summary.finishReason
  if (summary?.usage.totalTokens !== undefined) trace.tokenCount = summary.usage.totalTokens
  run.recorder.attempt(run.stepNumber, trace)
}
