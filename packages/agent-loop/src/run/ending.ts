// How a run ends, and what is done about it: processors clean up, the caller is told, readers see the last chunks.
import { TripWire, type Chunk, type StopReason, type TripwirePayload } from '@lockstep/processors'
import { finishReasonOf, resultOf, type Ending, type LoopResult } from './loop-result.ts'
import type { Run } from './run.ts'

/** After an abort: what processors had held back is shown, if the attempt was still being streamed. */
export async function flushed(run: Run, ending: Ending): Promise<Ending> {
  try {
    if (run.attempt && run.attempt.place === undefined) await run.attempt.flush('abort')
    return ending
  } catch (error) {
    // There is nothing left to refuse: the run is over.
    return TripWire.isInstance(error) || isAbort(run, error) ? ending : { stopReason: 'error', error }
  }
}

/** Whether something ended because the run was aborted, and not by a fault of its own. */
function isAbort({ signal }: Run, error: unknown): boolean {
  return signal.aborted && error === signal.reason
}

const failures: ReadonlySet<StopReason> = new Set<StopReason>(['error', 'aborted', 'tripwire'])

/** Lets the processors clean up; then nothing more is written. An error in that fails a run that had not failed before. */
export async function runEnded(run: Run, ending: Ending): Promise<Ending> {
  const told = await toldOfEnd(run, ending)
  run.endWriting()
  try {
    await run.attempt?.throwUnheard()
    return told
  } catch (error) {
    return failures.has(told.stopReason) || isAbort(run, error) ? told : { stopReason: 'error', error }
  }
}

async function toldOfEnd(run: Run, ending: Ending): Promise<Ending> {
  if (run.runner.plan.processRunEnd.length === 0) return ending
  try {
    const { stopReason, error, tripwire } = ending
    const refusal = tripwire === undefined ? {} : { tripwire: tripwirePayload(tripwire) }
    const loopState = stopReason === 'suspended' ? { loopState: run.loopState! } : {}
    const end = { stopReason, result: run.output(), error, ...refusal, ...loopState }
    await run.runner.runProcessRunEnd({ position: run.position, end })
    return ending
  } catch (error) {
    return ending.stopReason === 'error' || isAbort(run, error) ? ending : { stopReason: 'error', error }
  }
}

/** Tells the caller's one terminal callback. An error in it fails a run that had not failed before. */
export async function tellCaller(
  run: Run,
  ending: Ending,
): Promise<{ readonly ending: Ending; readonly result: LoopResult }> {
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

/** The last chunks: what went wrong, if something did, and `finish`. */
export async function showEnd(run: Run, ending: Ending): Promise<void> {
  run.dropHeld()
  const { finish } = run
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

/** The `finish` chunk of an ending. */
export function finishChunk(run: Run, ending: Ending): Chunk {
  return run.chunk('finish', {
    finishReason: finishReasonOf(run, ending),
    stopReason: ending.stopReason,
    totalUsage: run.usage.total,
  })
}
