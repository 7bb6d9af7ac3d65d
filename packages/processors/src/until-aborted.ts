// Waiting that an abort ends, at the cost of an entry in a set: adding a listener to a signal costs more than a small step.

/** Who waits, by signal. Each signal is listened to once, however many wait; it takes its waiters with it. */
const waiters = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once the signal is aborted, unless the function that it gives is called before. */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  const waiting = waitersOf(signal)
  if (signal.aborted) callback()
  waiting.add(callback)
  return () => void waiting.delete(callback)
}

/** Settles as the promise does, or rejects with the signal's reason when that comes first. */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error)
    if (signal.aborted) leave()
    const waiting = waitersOf(signal)
    waiting.add(leave)
    promise.then(
      value => {
        waiting.delete(leave)
        resolve(value)
      },
      (error: unknown) => {
        waiting.delete(leave)
        reject(error as Error)
      },
    )
  })
}

function waitersOf(signal: AbortSignal): Set<() => void> {
  const known = waiters.get(signal)
  if (known) return known
  const waiting = new Set<() => void>()
  waiters.set(signal, waiting)
  signal.addEventListener('abort', () => waiting.forEach(leave => leave()), { once: true })
  return waiting
}
