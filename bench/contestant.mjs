// One contestant and one work, in a process of its own: prints what was measured as JSON. For profiling, run it by hand:
//   node --cpu-prof contestant.mjs lockstep steps-200
import { contestantNamed } from './contestants.mjs'
import { windows } from './rounds.mjs'
import { works } from './works.mjs'

const [name, workName, quick] = process.argv.slice(2)
const work = works[workName]
if (!work) throw new Error(`There is no work '${workName}'. The works are: ${Object.keys(works).join(', ')}.`)
const { file, home } = contestantNamed(name)
const contestant = { file, home, ...(await import(file)) }
const lack = work.needs.map(need => contestant.lacks?.[need]).find(Boolean)
if (lack) console.log(JSON.stringify({ lack }))
else {
  const { measure } = await import(`./measures/${work.measure}.mjs`)
  const values = await measure(contestant, work, quick ? windows.quick : windows.whole)
  const note = work.processors > 0 ? contestant.notes?.processors : work.readers > 0 && contestant.notes?.readers
  console.log(JSON.stringify({ values, ...(note && { note }) }))
}
