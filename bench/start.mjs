// `npm run bench`: installs the contestants on first use, builds the packages, then measures.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const here = import.meta.dirname
const root = join(here, '..')

const must = (command, args, cwd) => {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
})
const [what, ...rest] = positionals
if (what === 'plots') (await import('./report.mjs')).writeReport()
else {
  // Anew: what a cache brings back leaves older files beside it.
  must(join(root, 'node_modules/.bin/turbo'), ['run', 'build', '--force', '--output-logs=errors-only'], root)
  // A path is given from where the command was called.
  const called = process.env['INIT_CWD'] ?? process.cwd()
  if (what === 'memory') must(process.execPath, [join(here, 'memory.mjs')], here)
  else if (what === 'dialogues') must(process.execPath, [join(here, 'dialogues.mjs'), ...rest], called)
  else if (what === 'redaction') must(process.execPath, [join(here, 'redaction.mjs')], here)
  else await (await import('./bench.mjs')).bench({ ...values, names: positionals })
}
