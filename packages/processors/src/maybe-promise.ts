// Values that may be promises, handled so that what is not a promise is never awaited.

/** A value, or a promise of it. */
export type MaybePromise<T> = T | PromiseLike<T>

/** Tells whether a value must be awaited. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/**
 * Visits items in order, each after the one before has finished.
 * Stays synchronous until the first visit that returns a promise.
 */
export function eachInOrder<T>(items: readonly T[], visit: (item: T) => MaybePromise<void>): MaybePromise<void> {
  for (let index = 0; index < items.length; index++) {
    const pending = visit(items[index]!)
    if (isPromiseLike(pending)) return finishInOrder(pending, items.slice(index + 1), visit)
  }
}

async function finishInOrder<T>(
  pending: PromiseLike<void>,
  rest: readonly T[],
  visit: (item: T) => MaybePromise<void>,
) {
  await pending
  for (const item of rest) {
    const next = visit(item)
    if (isPromiseLike(next)) await next
  }
}
