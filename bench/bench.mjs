// Every work by every contestant, processes interleaved, and a table of medians and ratios: Markdown on the screen, JSON in
// results.json. `node bench.mjs steps-200` runs one work.
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { works } from './works.mjs'

const here = import.meta.dirname
const contestants = readdirSync(join(here, 'contestants')).map(file => file.replace(/\.mjs$/, ''))
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(works)
const rounds = 3

const measure = (name, work) =>
  JSON.parse(
    execFileSync(process.execPath, [join(here, 'contestant.mjs'), name, work], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )

const rows = []
for (const work of chosen) {
  const medians = Object.fromEntries(contestants.map(name => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const name of contestants) medians[name].push(measure(name, work).median)
  for (const name of contestants)
    rows.push({ work, unit: works[work].unit, name, microseconds: medians[name].sort((a, b) => a - b)[rounds >> 1] })
}

const lockstep = work => rows.find(row => row.work === work && row.name === 'lockstep').microseconds
console.log('| work | contestant | µs per unit | Lockstep = 1 |\n|---|---|---|---|')
for (const { work, unit, name, microseconds } of rows)
  console.log(
    `| ${work} | ${name} | ${microseconds.toFixed(2)} per ${unit} | ${(microseconds / lockstep(work)).toFixed(2)} |`,
  )
writeFileSync(join(here, 'results.json'), `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`)
