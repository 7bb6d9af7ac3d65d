// The loop: input, steps until one says stop, the result. One path for every way in which a run can end.
import type { Snapshot } from '@lockstep/message-list'
import { TripWire, type Chunk, type StepResult, type StopReason, type TripwirePayload } from '@lockstep/processors'
import type { FinishReason, ToolSet } from 'ai'
import { continueAnswered, enterAnswers } from './answered-calls.ts'
import { enterSteered } from './enter-steered.ts'
import { contentOf, partsOf, type AcceptedStep } from './accepted-step.ts'
import { Attempt } from './attempt.ts'
import { ChunkChannel, type Emit } from './chunk-channel.ts'
import type { LoopResult, RunTripwire } from './loop-result.ts'
import type { RunLoopOptions } from './options.ts'
import { readPromised, rereadObject, settlePromised } from './promised-object.ts'
import { feedbackOn, Run } from './run.ts'
import { saveRun, type LoopState } from './loop-state.ts'
import type { ApprovalDecision } from './pending-approval.ts'
import { resumedRun, type ResumedRun } from './resumed-run.ts'
import { resumeStep, runStep } from './step.ts'
import { noResponse } from './step-result-of.ts'
import { defaultMaxSteps, stopReasonAfter } from './stop.ts'
import { sumUsage } from './usage.ts'

/** How a run ends. */
interface Ending {
  readonly stopReason: StopReason
  readonly tripwire?: TripWire
  readonly error?: unknown
}

/**
 * Runs an agent's loop. The generator yields the run's chunks and returns its result; it does not throw for what can
 * happen in a run: `stopReason` and `error` of the result say it.
 *
 * *Order*: nothing happens before the first read. Leaving the generator early aborts the run.
 */
export function runLoop<TOOLS extends ToolSet = ToolSet, OBJECT = undefined>(
  options: RunLoopOptions<TOOLS, OBJECT>,
): AsyncGenerator<Chunk, LoopResult<TOOLS, OBJECT>, void> {
  return looped(emit => ({ run: new Run(options as unknown as RunLoopOptions, emit) }))
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
  return looped(emit => resumedRun(resumption, options as unknown as ResumeLoopOptions, emit))
}

interface StartedRun {
  readonly run: Run
  /** What has to be read before the run goes on. */
  readonly resumed?: () => Promise<ResumedRun>
}

function looped<TOOLS extends ToolSet, OBJECT>(
  start: (emit: Emit<Chunk>) => StartedRun,
): AsyncGenerator<Chunk, LoopResult<TOOLS, OBJECT>, void> {
  let run: Run | undefined
  const produce = async (emit: Emit<Chunk>) => {
    const started = start(emit)
    run = started.run
    let result: LoopResult | undefined
    try {
      result = await execute(run, await started.resumed?.())
      return result as unknown as LoopResult<TOOLS, OBJECT>
    } finally {
      run.options.steering?.end(result?.stopReason ?? 'error')
      run.close()
    }
  }
  return new ChunkChannel(produce, () => run?.abort(new DOMException('The reader left the stream.', 'AbortError')))
}

async function execute(run: Run, resumed?: ResumedRun): Promise<LoopResult> {
  const accepted: Accepted = { finish: undefined }
  let ending = await endingOf(run, () => takeSteps(run, accepted, resumed))
  if (ending.stopReason === 'aborted') ending = await flushed(run, ending)
  ending = await runEnded(run, ending)
  const told = await tellCaller(run, ending)
  await showEnd(run, told.ending, accepted.finish)
  return told.result
}

/** The `finish` chunk as the processors left it; there when the response was accepted. */
interface Accepted {
  finish: Chunk | undefined
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
async function takeSteps(run: Run, accepted: Accepted, resumed: ResumedRun | undefined): Promise<StopReason> {
  if (!resumed) continueAnswered(run)
  await run.show(run.chunk('start', { messageId: run.responseId() }))
  run.opened = resumed ? resumed.opened : await begun(run)
  let open = resumed?.step
  for (;;) {
    run.signal.throwIfAborted()
    if (!open) await enterSteered(run)
    const before = { list: open?.before ?? run.list.snapshot(), heldCount: run.heldCount }
    const made = await (open ? resumeStep(run, open) : runStep(run))
    open = undefined
    if ('suspended' in made) {
      run.loopState = saveRun(run, made.suspended)
      return 'suspended'
    }
    const stopReason = await stopReasonAfter(run, made)
    if (stopReason === undefined || isToldMore(run, stopReason)) run.stepNumber++
    else if (await resultAccepted(run, { before, stopReason, accepted })) return stopReason
  }
}

/** An answer is not the end when somebody has said more, and there is a step left to hear it. */
function isToldMore({ options, steps }: Run, stopReason: StopReason): boolean {
  if (stopReason !== 'completed' || steps.length >= (options.maxSteps ?? defaultMaxSteps)) return false
  return options.steering?.hasMore() === true
}

/** Passes the input through the processors. Gives the conversation as the first step finds it. */
async function begun(run: Run): Promise<Snapshot> {
  const prologue = new Attempt(run)
  run.attempt = prologue
  await run.runner.runProcessInput(run.position)
  run.originalSystemMessages = run.list.getAllSystemMessages()
  await prologue.release()
  await enterAnswers(run, prologue)
  run.prologueParts = prologue.response.parts
  return run.list.snapshot()
}

interface Response {
  /** From before the last step. */
  readonly before: { readonly list: Snapshot; readonly heldCount: number }
  readonly stopReason: StopReason
  readonly accepted: Accepted
}

/** Passes the response through `processOutputResult`; false when its last step is to be made again. */
async function resultAccepted(run: Run, response: Response): Promise<boolean> {
  try {
    await readPromised(run)
    await run.runner.runProcessOutputResult(() => ({ position: run.position, own: { result: run.output() } }))
    await rereadSteps(run)
    await settlePromised(run)
    response.accepted.finish = await run.attempt!.takeFrame(finishChunk(run, { stopReason: response.stopReason }))
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
    run.withdrawTo(response.before.list)
    run.replaceSteps(run.steps.slice(0, -1))
    if (!run.dropHeldSince(response.before.heldCount))
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

/** After an abort: what processors had held back is shown, if the attempt was still being streamed. */
async function flushed(run: Run, ending: Ending): Promise<Ending> {
  try {
    if (run.attempt && run.attempt.place === undefined) await run.attempt.flush('abort')
    return ending
  } catch (error) {
    // There is nothing left to refuse: the run is over.
    return TripWire.isInstance(error) ? ending : { stopReason: 'error', error }
  }
}

/** Lets the processors clean up. An error in that fails a run that had not failed before. */
async function runEnded(run: Run, ending: Ending): Promise<Ending> {
  try {
    const { stopReason, error, tripwire } = ending
    const refusal = tripwire === undefined ? {} : { tripwire: tripwirePayload(tripwire) }
    const loopState = stopReason === 'suspended' ? { loopState: run.loopState! } : {}
    const end = { stopReason, result: run.output(), error, ...refusal, ...loopState }
    await run.runner.runProcessRunEnd({ position: run.position, end })
    return ending
  } catch (error) {
    return ending.stopReason === 'error' ? ending : { stopReason: 'error', error }
  }
}

/** Tells the caller's one terminal callback. An error in it fails a run that had not failed before. */
async function tellCaller(run: Run, ending: Ending): Promise<{ readonly ending: Ending; readonly result: LoopResult }> {
  const result = resultOf(run, ending)
  try {
    if (ending.stopReason === 'error') await run.options.onError?.({ error: ending.error, result })
    else if (ending.stopReason === 'aborted') await run.options.onAbort?.({ reason: ending.error, result })
    else await run.options.onFinish?.(result)
    return { ending, result }
  } catch (error) {
    if (ending.stopReason === 'error') return { ending, result }
    const failed: Ending = { stopReason: 'error', error }
    return { ending: failed, result: resultOf(run, failed) }
  }
}

async function showEnd(run: Run, ending: Ending, finish: Chunk | undefined): Promise<void> {
  run.dropHeld()
  const { stopReason, tripwire, error } = ending
  if (tripwire) await run.show(run.chunk('tripwire', tripwirePayload(tripwire)))
  if (stopReason === 'error') await run.show(run.chunk('error', { error }))
  if (stopReason === 'aborted') await run.show(run.chunk('abort', { reason: error }))
  const untouched = finish?.type === 'finish' && finish.payload.stopReason === stopReason
  await run.show(untouched ? finish : finishChunk(run, ending))
}

function tripwirePayload({ reason, retry, metadata, processorId }: TripWire): TripwirePayload {
  return { reason, retry, processorId, ...(metadata === undefined ? {} : { metadata }) }
}

function finishChunk(run: Run, ending: Ending): Chunk {
  return run.chunk('finish', {
    finishReason: finishReasonOf(run, ending),
    stopReason: ending.stopReason,
    totalUsage: run.usage.total,
  })
}

function finishReasonOf(run: Run, { stopReason }: Ending): FinishReason {
  if (stopReason === 'error') return 'error'
  if (stopReason === 'tripwire' || stopReason === 'aborted') return 'other'
  if (stopReason === 'suspended') return run.attempt!.summary!.finishReason
  return run.stepResults.at(-1)?.finishReason ?? 'other'
}

function resultOf(run: Run, ending: Ending): LoopResult {
  const steps = run.stepResults
  const last = steps.at(-1)
  return Object.freeze({
    runId: run.runId,
    text: last?.text ?? '',
    reasoning: last?.reasoning ?? [],
    reasoningText: last?.reasoningText,
    object: run.object,
    steps,
    toolCalls: steps.flatMap(step => step.toolCalls),
    toolResults: steps.flatMap(step => step.toolResults),
    usage: sumUsage(steps.map(step => step.usage)),
    totalUsage: run.usage.total,
    finishReason: finishReasonOf(run, ending),
    stopReason: ending.stopReason,
    tripwire: tripwireOf(run, ending.tripwire),
    ...suspensionOf(run, ending),
    response: responseOf(run, last),
    messages: run.list.get.response.db(),
    messageList: run.list,
    warnings: [...run.warnings],
    error: ending.stopReason === 'error' ? ending.error : undefined,
    abortReason: ending.stopReason === 'aborted' ? ending.error : undefined,
    trace: run.recorder.finish({
      runId: run.runId,
      processors: run.runner.plan.processors.map(({ id, name = id, description }) => ({ id, name, description })),
      events: run.runner.ledger.events,
      totals: run.runner.ledger.totals,
      usageByProcessor: run.usage.byProcessor,
      stopReason: ending.stopReason,
    }),
  })
}

/** What waits for a person. */
function suspensionOf(run: Run, { stopReason }: Ending): Pick<LoopResult, 'pendingApprovals' | 'loopState'> {
  if (stopReason !== 'suspended') return { pendingApprovals: [], loopState: undefined }
  const pendingApprovals = run.pendingCalls.map(({ dynamic: _, ...pending }) => pending)
  return { pendingApprovals, loopState: run.loopState }
}

/** The messages are converted when somebody asks for them. */
function responseOf(run: Run, last: StepResult | undefined): LoopResult['response'] {
  const view = run.list.get.response
  const { id, modelId, timestamp, headers } = last?.response ?? noResponse
  return Object.freeze({
    id,
    modelId,
    timestamp,
    headers,
    get messages() {
      return view.model()
    },
  })
}

function tripwireOf(run: Run, tripwire: TripWire | undefined): RunTripwire | undefined {
  if (!tripwire) return undefined
  const { reason, retry, metadata, processorId, hook } = tripwire
  return { reason, retry, metadata, processorId, hook, rejected: run.rejected }
}
