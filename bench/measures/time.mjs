// The time of a whole run, for each step or chunk of it.
import { observed } from '../observation.mjs'
import { medianOf } from '../rounds.mjs'

export const measure = (contestant, work, window) =>
  medianOf(async () => {
    const { start, end } = await observed(contestant, work)
    return { time: ((end - start) * 1000) / work.units }
  }, window)
