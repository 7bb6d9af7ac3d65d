#!/usr/bin/env node
// The command: `npm create lockstep-processor my-guard`.
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { CreateError } from './errors.ts'
import { createProcessorPackage } from './processor-package.ts'

const usage = `npm create lockstep-processor [folder] [-- --name <package name>]

Writes the package of a processor into the folder: a small processor that works, its contract test, README and changeset.

  folder   where it goes, and its name: my-guard when absent
  --name   another name for the package, for example @acme/my-guard
  --help   shows this`

try {
  await run()
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  if (!isUsage && !CreateError.isInstance(error)) throw error
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    // npm takes `--` away, pnpm hands it on.
    args: process.argv.slice(2).filter(argument => argument !== '--'),
    allowPositionals: true,
    options: { name: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return say(usage)
  if (positionals.length > 1)
    throw new CreateError(
      'bad-name',
      `There are ${positionals.length} folders: ${positionals.join(', ')}. Give one, without spaces.`,
    )
  const [folder = 'my-guard'] = positionals
  const created = await createProcessorPackage({ folder, ...(values.name === undefined ? {} : { name: values.name }) })
  say(`${created.name} is written:\n${created.files.map(file => `  ${file}`).join('\n')}\n`)
  say(`Go on with:\n  cd ${relative('.', created.folder) || '.'}\n  npm install\n  npm test`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
