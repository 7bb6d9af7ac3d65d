// Times for integrations, which are told of some things after they happened: whole milliseconds that never run backwards.

/** When something began. `at` is of `performance.now()`. */
export function startTime(at: number): number {
  return Math.floor(performance.timeOrigin + at)
}

/** When something ended, never before it began. */
export function endTime(at: number): number {
  return Math.ceil(performance.timeOrigin + at)
}
