// Every work by every contestant, each time in a new process, the contestants taking turns; and what came out of it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { median } from './rounds.mjs'
import { works } from './works.mjs'

const script = join(import.meta.dirname, 'contestant.mjs')

/**
 * The rows of the comparison: the median of the processes for each work, contestant and metric, or why there is none.
 * `failures` says which folders of contestants are not installed.
 */
export function compare({ contestants, chosen, quick, failures }) {
  const rows = []
  for (const name of chosen) {
    const reports = new Map(contestants.map(contestant => [contestant.name, []]))
    for (let round = 0; round < (quick ? 1 : 3); round++)
      for (const contestant of contestants) {
        const failure = failures.get(contestant.home)
        reports.get(contestant.name).push(failure ? { lack: failure } : measured(contestant.name, name, quick))
      }
    console.error(name)
    for (const [contestant, ofContestant] of reports) rows.push(...rowsOf(name, contestant, ofContestant))
  }
  return { node: process.version, processor: cpus()[0].model, cores: cpus().length, quick, rows }
}

function rowsOf(work, contestant, reports) {
  const lack = reports.find(report => report.lack)?.lack
  return Object.entries(works[work].metrics).map(([metric, unit]) => ({
    work,
    metric,
    unit,
    contestant,
    ...(lack ? { lack } : { value: median(reports.map(({ values }) => values[metric])), note: reports[0].note }),
  }))
}

/** On one core where the machine can say so, for works of which that is a part. */
function measured(contestant, work, quick) {
  const args = ['--expose-gc', script, contestant, work, ...(quick ? ['2'] : [])]
  const pinned = works[work].streams && hasTaskset()
  const [command, ...rest] = pinned ? ['taskset', '-c', '0', process.execPath, ...args] : [process.execPath, ...args]
  try {
    const output = execFileSync(command, rest, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    })
    return JSON.parse(output.trim().split('\n').at(-1))
  } catch (error) {
    const line = String(error.stderr)
      .split('\n')
      .find(text => /Error/.test(text))
    return { lack: `fails: ${line ?? error.message}` }
  }
}

let taskset
const hasTaskset = () => (taskset ??= spawnSync('taskset', ['--version']).status === 0)
