// Every work by every contestant, each time in a new process, the contestants taking turns; and what came out of it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { median } from './rounds.mjs'
import { works } from './works.mjs'

const script = join(import.meta.dirname, 'contestant.mjs')

/**
 * The rows of the comparison: what each process told of each work, contestant and metric, and the median; or why there is
 * none. The whole is done in rounds, so that a machine that is busy for a while spoils one value of a row and not its median.
 * `failures` says which folders of contestants are not installed.
 */
export function compare({ contestants, chosen, rounds, quick, failures }) {
  const cells = chosen.flatMap(work => contestants.map(contestant => ({ work, contestant, reports: [] })))
  for (let round = 1; round <= rounds; round++)
    for (const { work, contestant, reports } of cells) {
      if (contestant === contestants[0]) console.error(`round ${round} of ${rounds}: ${work}`)
      if (reports.some(report => report.lack)) continue
      const failure = failures.get(contestant.home)
      reports.push(failure ? { lack: failure } : measured(contestant.name, work, quick))
    }
  const rows = cells.flatMap(({ work, contestant, reports }) => rowsOf(work, contestant.name, reports))
  return { node: process.version, processor: cpus()[0].model, cores: cpus().length, quick, rounds, rows }
}

function rowsOf(work, contestant, reports) {
  const lack = reports.find(report => report.lack)?.lack
  return Object.entries(works[work].metrics).map(([metric, unit]) => {
    const row = { work, metric, unit, contestant }
    if (lack) return { ...row, lack }
    const values = reports.map(report => report.values[metric])
    return { ...row, value: median(values), values, note: reports[0].note }
  })
}

/** On one core where the machine can say so, for works of which that is a part. */
function measured(contestant, work, quick) {
  const args = ['--expose-gc', script, contestant, work, ...(quick ? ['quick'] : [])]
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
