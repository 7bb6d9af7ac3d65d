// Taking up a run that was put down: its state is checked, its list and its counts are read, nothing is done yet.
import { MessageList, type Snapshot } from '@lockstep/message-list'
import type { Chunk } from '@lockstep/processors'
import { Attempt } from '../step/attempt.ts'
import type { Emit } from './chunk-channel.ts'
import { LoopError } from '../errors.ts'
import { checkState, restoreRun, snapshotBefore, type LoopState } from './loop-state.ts'
import { readDecisions, type ApprovalDecision } from '../tools/pending-approval.ts'
import type { RunLoopOptions } from './options.ts'
import { Run } from './run.ts'
import { resumeStep, type FinishedStep, type SuspendedStep } from '../step/step.ts'

/** Where a resumed run goes on. */
export interface ResumedRun {
  /** The list before the first step. */
  readonly opened: Snapshot
  /** Goes on with the open step, or from the end of the one that was done. */
  readonly takeUp: () => Promise<FinishedStep | SuspendedStep>
}

/** Makes the run again. Throws: `invalid-state`, `unsupported-state`, `processors-changed`; what reads it throws the rest. */
export function resumedRun(
  { state, decisions = [] }: { readonly state: LoopState; readonly decisions?: readonly ApprovalDecision[] },
  options: Omit<RunLoopOptions, 'messageList' | 'runId'>,
  emit: Emit<Chunk>,
): { readonly run: Run; readonly resumed: () => Promise<ResumedRun> } {
  checkState(state)
  const { generateId } = options
  const messageList = MessageList.fromJSON(state.messageList, generateId === undefined ? {} : { generateId })
  const run = new Run({ ...options, messageList, runId: state.runId }, emit, state.processors)
  try {
    checkProcessors(run, state)
    restoreRun(run, state)
  } catch (error) {
    run.close()
    throw error
  }
  const resumed = async (): Promise<ResumedRun> => {
    const decided = await readDecisions(run, run.pendingCalls, decisions)
    const { open, done } = state
    const before = snapshotBefore((open ?? done)!.before, state)
    return {
      opened: snapshotBefore(state.opened, state),
      takeUp: () =>
        open ? resumeStep(run, { open, before, decided }) : afterStep(run, { goesOn: done!.goesOn, before }),
    }
  }
  return { run, resumed }
}

/** Between two steps there is a chain for what is written there, and for the end. */
async function afterStep(run: Run, done: FinishedStep): Promise<FinishedStep> {
  const epilogue = new Attempt(run)
  run.begin(epilogue)
  await epilogue.release()
  return done
}

function checkProcessors(run: Run, { processorIds }: LoopState): void {
  const now = run.runner.plan.processors.map(processor => processor.id)
  if (now.length === processorIds.length && now.every((id, index) => id === processorIds[index])) return
  throw new LoopError(
    'processors-changed',
    `The run was begun with the processors ${JSON.stringify(processorIds)} and would go on with ${JSON.stringify(now)}. A guard that is missing would let pass what it was to stop: give the same processors in the same order.`,
  )
}
