// What is allocated in a run, for each step or chunk of it: bytes, whether they are collected at once or kept, and promises.
// Both are counts, so that they are about the same on every machine, however busy.
import { createHook } from 'node:async_hooks'
import { allocatedIn } from '../heap-samples.mjs'
import { observed } from '../observation.mjs'

export async function measure(contestant, work) {
  const run = () => observed(contestant, work)
  await run()
  const bytes = [...(await allocatedIn(run)).values()].reduce((sum, count) => sum + count, 0)
  return { bytes: bytes / work.units, promises: (await promisesIn(run)) / work.units }
}

async function promisesIn(run) {
  let count = 0
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && count++) }).enable()
  await run()
  hook.disable()
  return count
}
