// Every gate in one command: the `check:*` scripts of package.json, in their order, none stopped by another's failure.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from 'node:util'

const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const gates = Object.entries(scripts).flatMap(([name, script]) =>
  name.startsWith('check:') ? [{ name: name.slice('check:'.length), script }] : [],
)
const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  TURBO_NO_UPDATE_NOTIFIER: '1',
  TURBO_UI: 'false',
  NO_COLOR: '1',
}

interface Verdict {
  readonly name: string
  readonly script: string
  readonly passed: boolean
  readonly output: string
}

const run = ({ name, script }: { readonly name: string; readonly script: string }): Verdict => {
  const startedAt = performance.now()
  const done = spawnSync(script, { cwd: root, env, shell: true, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 })
  if (done.signal) process.kill(process.pid, done.signal)
  const passed = done.status === 0
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)
  console.log(`${passed ? styleText('green', 'ok    ') : styleText('red', 'FAILED')} ${name.padEnd(8)} ${seconds} s`)
  return { name, script, passed, output: [done.error?.message, done.stdout, done.stderr].filter(Boolean).join('\n') }
}

const failures = gates.map(run).filter(verdict => !verdict.passed)
for (const { name, script, output } of failures) {
  console.log(`\n${styleText('red', `── ${name}`)}: ${script}\n${output.trim()}`)
}
console.log(`\n${gates.length - failures.length} of ${gates.length} gates passed`)
process.exitCode = failures.length > 0 || gates.length === 0 ? 1 : 0
