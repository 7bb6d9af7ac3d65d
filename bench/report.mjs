// `npm run bench -- plots`: the last comparison as pages of docs/, with plots, the table, the goals and the numbers.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resultsFile } from './bench.mjs'
import { goalsOf } from './goals.mjs'
import { bars, colourAt, lines } from './plot.mjs'
import { tableOf } from './table.mjs'
import { works } from './works.mjs'

const folder = join(import.meta.dirname, '../docs/bench')

const plots = {
  step: { title: 'A tool step of 200', work: 'steps-200', metric: 'time' },
  history: {
    title: 'A step after so many messages',
    metric: 'step',
    works: { 0: 'after-0', '1,000': 'after-1000', '4,000': 'after-4000', '20,000': 'after-20000' },
  },
  chunk: {
    title: 'A chunk through so many processors',
    metric: 'time',
    works: { 0: 'chunks-0', 1: 'chunks-1', 5: 'chunks-5', 10: 'chunks-10' },
  },
  heap: { title: 'Memory kept after 400 steps, above what was said', work: 'heap-steps-400', metric: 'kept' },
  streams: { title: 'One of 1,000 streams', work: 'concurrent-1000', metric: 'gap' },
  install: { title: 'Installed', work: 'install', metric: 'size' },
}

/** Throws when the last comparison was of some works only, or not whole. */
export function writeReport() {
  const results = JSON.parse(readFileSync(resultsFile, 'utf8'))
  const missing = Object.keys(works).filter(work => !results.rows.some(row => row.work === work))
  if (missing.length > 0 || results.quick)
    throw new Error(`The last comparison was not a full one (without: ${missing}). Run \`npm run bench\` first.`)
  mkdirSync(folder, { recursive: true })
  for (const [name, plot] of Object.entries(plots)) writeFileSync(join(folder, `${name}.svg`), drawn(plot, results))
  copyFileSync(resultsFile, join(folder, 'results.json'))
  writeFileSync(join(folder, 'README.md'), pageOf(results))
}

function drawn({ title, metric, ...plot }, { rows, titles }) {
  const valueOf = (work, contestant) =>
    rows.find(row => row.work === work && row.metric === metric && row.contestant === contestant)?.value
  const named = Object.entries(titles).map(([contestant, name], index) => ({
    contestant,
    name,
    colour: colourAt(index),
  }))
  if (plot.work) {
    const entries = named.map(one => ({ ...one, value: valueOf(plot.work, one.contestant) }))
    return bars({ title, unit: works[plot.work].metrics[metric], entries })
  }
  const chosen = Object.values(plot.works)
  const entries = named
    .map(one => ({ ...one, values: chosen.map(work => valueOf(work, one.contestant)) }))
    .filter(({ values }) => values.filter(value => value > 0).length > 1)
  return lines({ title, unit: works[chosen[0]].metrics[metric], places: Object.keys(plot.works), entries })
}

const pageOf = results => `# Bench: one full run

Written by \`npm run bench -- plots\` from [results.json](results.json). How it is measured is in
[bench/README.md](../../bench/README.md). Node ${results.node}, ${results.cores} cores of ${results.processor}, shared with other work: read the
ratios, not the microseconds. Processes for each cell: ${results.rounds}, with 0.7 s to warm up and 1 s to
measure. A cell is their median; in brackets, how many times Lockstep's it is.
Why a goal is missed is in [profile.md](profile.md).

## Goals

${goalsOf(results)}

## All numbers

${tableOf(results)}

## Plots

${Object.entries(plots)
  .map(([name, { title }]) => `![${title}](${name}.svg)`)
  .join('\n\n')}
`
