// `npm run bench`: installs the contestants on first use, builds the packages, then measures.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

const here = import.meta.dirname
const root = join(here, '..')

const must = (command, args, cwd) => {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

const installed = join(here, 'node_modules/.package-lock.json')
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(join(here, 'package.json')).mtimeMs)
  must('npm', ['install', '--no-package-lock', '--ignore-scripts', '--loglevel=error'], here)
must(join(root, 'node_modules/.bin/turbo'), ['run', 'build', '--output-logs=errors-only'], root)
const [what, ...rest] = process.argv.slice(2)
// A path is given from where the command was called.
const called = process.env['INIT_CWD'] ?? process.cwd()
if (what === 'lists' || what === 'memory') must(process.execPath, [join(here, `${what}.mjs`), ...rest], here)
else if (what === 'dialogues') must(process.execPath, [join(here, 'dialogues.mjs'), ...rest], called)
else if (what === 'redaction') must(process.execPath, [join(here, 'redaction.mjs')], here)
else must(process.execPath, [join(here, 'bench.mjs'), ...process.argv.slice(2)], here)
