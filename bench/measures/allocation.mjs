// What is allocated in a run, for each step or chunk of it: bytes, whether they are collected at once or kept, and promises.
// Both are counts, so that they are about the same on every machine, however busy.
import { createHook } from 'node:async_hooks'
import { Session } from 'node:inspector/promises'
import { Observation } from '../observation.mjs'

export async function measure(contestant, work) {
  await observed(contestant, work)
  return {
    bytes: (await bytesIn(() => observed(contestant, work))) / work.units,
    promises: (await promisesIn(() => observed(contestant, work))) / work.units,
  }
}

async function observed(contestant, work) {
  const seen = new Observation(work)
  await contestant.run(work, await contestant.prepare(work), seen)
  seen.check(contestant)
}

/** An estimate from samples: one for each 4 KB on the average. */
async function bytesIn(run) {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  await run()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const sizeOf = node => node.selfSize + node.children.reduce((sum, child) => sum + sizeOf(child), 0)
  return sizeOf(profile.head)
}

async function promisesIn(run) {
  let count = 0
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && count++) }).enable()
  await run()
  hook.disable()
  return count
}
