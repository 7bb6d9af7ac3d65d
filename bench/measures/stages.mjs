// A run in two stages: until the tool is called first, which is where messages are read and the first prompt is made, and
// the steps from there to the end of the run.
import { Observation } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'

export const measure = (contestant, work, { rounds }) =>
  medianOf(async () => {
    const prepared = await contestant.prepare(work)
    const seen = new Observation(work)
    const start = performance.now()
    await contestant.run(work, prepared, seen)
    const end = performance.now()
    seen.check(contestant)
    return { step: ((end - seen.firstToolAt) * 1000) / work.units, entry: seen.firstToolAt - start }
  }, rounds)
