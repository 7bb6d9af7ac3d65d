// The time of a whole run, for each step or chunk of it.
import { Observation } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'

export const measure = (contestant, work, { rounds }) =>
  medianOf(async () => {
    const prepared = await contestant.prepare(work)
    const seen = new Observation(work)
    const start = performance.now()
    await contestant.run(work, prepared, seen)
    const milliseconds = performance.now() - start
    seen.check(contestant)
    return { time: (milliseconds * 1000) / work.units }
  }, rounds)
