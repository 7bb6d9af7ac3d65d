// An approval that comes in a client's message counts once: the run that waits for it is taken out of the store with it.
import type { AgentMessage } from '@lockstep/message-list'
import { MemoryError } from '../errors.ts'
import type { ThreadStore } from '../stores/thread-store.ts'
import { responseOf } from './withheld-steps.ts'

/**
 * Takes the suspended runs that wait for these approvals, so that no other request and no resumption goes on with them.
 * Gives what they had said.
 *
 * Throws: `already-answered` when one of them is not waited for any more.
 */
export async function takeAnsweredRuns(
  store: ThreadStore,
  threadId: string,
  approvalIds: readonly string[],
): Promise<readonly AgentMessage[]> {
  if (approvalIds.length === 0) return []
  const runs = await store.listRuns(threadId)
  // The state of a run is the loop's; that it waits for an approval is seen by its id, which is unlike any other text.
  const waiting = runs.map(run => ({ run, text: JSON.stringify(run.state) }))
  const taken = waiting.filter(({ text }) => approvalIds.some(id => text.includes(JSON.stringify(id))))
  const lost = approvalIds.find(id => !taken.some(({ text }) => text.includes(JSON.stringify(id))))
  const responses = taken.flatMap(({ run }) => responseOf(run))
  const isTaken = await Promise.all(taken.map(({ run }) => store.removeRun(run.runId)))
  if (lost === undefined && isTaken.every(Boolean)) return responses
  throw new MemoryError(
    'already-answered',
    `The approval "${lost ?? approvalIds[0]!}" in the thread "${threadId}" was answered before, or its run goes on elsewhere; the call is not made twice. Load the thread again to see what came of it.`,
  )
}
