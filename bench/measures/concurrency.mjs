// Many streams at once in one process: what a chunk costs, and how long the readers of a stream wait for the next one. Every
// stream's model gives one piece in each turn of the event loop.
import { Observation } from '../observation.mjs'

export async function measure(contestant, work) {
  await runAll(contestant, { ...work, streams: work.streams / 10 })
  return runAll(contestant, work)
}

async function runAll(contestant, work) {
  const gaps = []
  const runs = Array.from({ length: work.streams }, () => ({ seen: new Observation(work, gaps) }))
  for (const run of runs) run.prepared = await contestant.prepare(work)
  const start = performance.now()
  await Promise.all(runs.map(({ prepared, seen }) => contestant.run(work, prepared, seen)))
  const milliseconds = performance.now() - start
  for (const { seen } of runs) seen.check(contestant)
  gaps.sort((one, other) => one - other)
  return {
    time: (milliseconds * 1000) / (work.streams * work.deltas),
    gap: gaps[Math.floor(gaps.length * 0.99)],
  }
}
