// One contestant, one work, in a process of its own: warms up, measures, prints JSON. For profiling, run it by hand:
//   node --cpu-prof contestant.mjs lockstep steps-200
import { works } from './works.mjs'

const [name, workName, rounds = '9'] = process.argv.slice(2)
const work = works[workName]
if (!work) throw new Error(`There is no work '${workName}'. The works are: ${Object.keys(works).join(', ')}.`)
const { prepare, run } = await import(`./contestants/${name}.mjs`)

const expected = work.deltas * 'word '.length
const times = []
for (let round = -3; round < Number(rounds); round++) {
  const prepared = await prepare?.(work)
  const start = performance.now()
  const length = await run(work, prepared)
  const microseconds = ((performance.now() - start) * 1000) / work.count
  if (length !== expected)
    throw new Error(`${name} gave ${length} characters instead of ${expected}: it did not do the work.`)
  if (round >= 0) times.push(microseconds)
}
times.sort((a, b) => a - b)
console.log(
  JSON.stringify({ name, work: workName, unit: work.unit, median: times[times.length >> 1], fastest: times[0] }),
)
