// What is still in memory after a run, while its result is held, above the characters that were said in it.
import { observed } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'
import { charactersSaid, nextTurn } from '../script.mjs'

export const measure = (contestant, work, window) =>
  medianOf(async () => {
    const before = await settledHeap()
    const runs = [await observed(contestant, work)]
    const after = await settledHeap()
    runs.pop()
    return { kept: (after - before - charactersSaid(work)) / 1024 }
  }, window)

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
