// The size gate: what the built JavaScript of a package may weigh at most, gzipped, all its entries together.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const ceilingsInBytes: Readonly<Record<string, number>> = {
  'message-list': 36_000,
  processors: 15_000,
  'agent-loop': 44_000,
  'batch-executor': 27_000,
  // Half of it is carried: the table of letters that look alike.
  'processors-builtin': 148_000,
  memory: 27_000,
  testing: 18_000,
  agent: 20_000,
  'create-lockstep-processor': 6_500,
}

const packages = join(import.meta.dirname, '../packages')

const sizeOf = (dist: string): number =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.js'))
    .reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).byteLength, 0)

/** One line for the package, and whether it is within its ceiling. */
const weigh = (name: string): boolean => {
  const dist = join(packages, name, 'dist')
  const ceiling = ceilingsInBytes[name]
  const size = existsSync(dist) ? sizeOf(dist) : 0
  const fault =
    ceiling === undefined
      ? 'has no ceiling: add one to .ci/size.ts'
      : size === 0
        ? 'is not built: run `turbo run build`'
        : size > ceiling
          ? 'is above its ceiling: make it smaller, or raise the ceiling in .ci/size.ts and say why'
          : ''
  console.log(`${name.padEnd(20)} ${String(size).padStart(7)} of ${String(ceiling ?? 0).padStart(7)} bytes  ${fault}`)
  return fault === ''
}

if (!readdirSync(packages).map(weigh).every(Boolean)) process.exitCode = 1
