// A run in two stages: until the tool is called first, which is where messages are read and the first prompt is made, and
// the steps from there to the end of the run.
import { observed } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'

export const measure = (contestant, work, window) =>
  medianOf(async () => {
    const { start, end, seen } = await observed(contestant, work)
    return { step: ((end - seen.firstToolAt) * 1000) / work.units, entry: seen.firstToolAt - start }
  }, window)
