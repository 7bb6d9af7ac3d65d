// A comparison from beginning to end: chooses, installs, measures, prints the table and the goals, and keeps the numbers.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from './comparison.mjs'
import { contestantNamed, contestants } from './contestants.mjs'
import { goalsOf } from './goals.mjs'
import { installContestants, installPacked } from './installation.mjs'
import { tableOf } from './table.mjs'
import { worksNamed } from './works.mjs'

/** The numbers of the last comparison. */
export const resultsFile = join(import.meta.dirname, 'results.json')

export async function bench({ names, only, quick, rounds }) {
  const chosen = worksNamed(names)
  const asked = only?.flatMap(list => list.split(',')).map(contestantNamed) ?? contestants
  const some = contestants.filter(contestant => asked.includes(contestant))
  const failures = installContestants()
  if (chosen.includes('install') && some.some(({ name }) => name === 'lockstep')) installPacked()
  const results = compare({ contestants: some, chosen, rounds: quick ? 1 : Number(rounds), quick, failures })
  const titles = Object.fromEntries(some.map(({ name, title }) => [name, title]))
  writeFileSync(resultsFile, `${JSON.stringify({ ...results, titles }, null, 1)}\n`)
  console.log(`${tableOf({ ...results, titles })}\n\n${goalsOf(results)}`)
}
