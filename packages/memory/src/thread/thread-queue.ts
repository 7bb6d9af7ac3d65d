// One save after the other on one thread in this process: an abort lets a hook go before its save has ended, and runs that
// share a thread would only get into each other's way.
import type { ThreadStore } from '../stores/thread-store.ts'

/** The last save of each thread that has one going on, by store. */
const queues = new WeakMap<ThreadStore, Map<string, Promise<void>>>()

/** Does some work when all work on the thread before it has ended, well or not. */
export function inTurn(store: ThreadStore, threadId: string, work: () => Promise<void>): Promise<void> {
  const queue = queues.get(store) ?? new Map<string, Promise<void>>()
  queues.set(store, queue)
  const done = (queue.get(threadId) ?? Promise.resolve()).then(work)
  // Who asked hears of a failure; who comes next does not mind.
  const settled = done
    .catch(() => {})
    .then(() => {
      if (queue.get(threadId) === settled) queue.delete(threadId)
    })
  queue.set(threadId, settled)
  return done
}
