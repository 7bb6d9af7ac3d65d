// What is still in memory after a run, while its result is held, above the characters that were said in it.
import { Observation } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'
import { charactersSaid, nextTurn } from '../script.mjs'

export const measure = (contestant, work, { rounds }) =>
  medianOf(
    async () => {
      const prepared = await contestant.prepare(work)
      const seen = new Observation(work)
      const before = await settledHeap()
      const kept = [await contestant.run(work, prepared, seen)]
      const after = await settledHeap()
      seen.check(contestant)
      kept.pop()
      return { kept: (after - before - charactersSaid(work)) / 1024 }
    },
    Math.min(rounds, 3),
  )

/** Collects garbage until there is no more: what ended just now lets go of its last objects turns later. */
async function settledHeap() {
  let used = Number.POSITIVE_INFINITY
  for (let stable = 0; stable < 5;) {
    await nextTurn()
    globalThis.gc()
    const { heapUsed } = process.memoryUsage()
    stable = heapUsed < used - 1024 ? 0 : stable + 1
    used = Math.min(used, heapUsed)
  }
  return used
}
