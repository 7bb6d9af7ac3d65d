// The functions of a contestant that allocate most in a work: `node allocations.mjs lockstep chunks-0`.
import { contestantNamed } from './contestants.mjs'
import { allocatedIn } from './heap-samples.mjs'
import { observed } from './observation.mjs'
import { works, worksNamed } from './works.mjs'

const [name, workName] = process.argv.slice(2)
const [chosen] = worksNamed([workName])
const contestant = await import(contestantNamed(name).file)
const run = () => observed(contestant, works[chosen])
await run()
await run()
const bytes = [...(await allocatedIn(run))].toSorted((one, other) => other[1] - one[1])
const perUnit = count =>
  Math.round(count / works[chosen].units)
    .toLocaleString('en')
    .padStart(10)
console.log(`${perUnit(bytes.reduce((sum, [, count]) => sum + count, 0))} bytes for each step or chunk, of them by`)
for (const [functionName, count] of bytes.slice(0, 25)) console.log(perUnit(count), functionName)
