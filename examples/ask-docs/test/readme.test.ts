import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownRepository } from '../src/command-line.ts'
import { run } from './command.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')

it('prints what the README says that it prints', async () => {
  const [, folder = '', question = '', output] =
    /```console\n\$ npm start -- --docs (\S+) "(.+)"\n([\s\S]*?)```/.exec(readme) ?? []
  const { stdout } = await run(['--docs', folder, question], {}, ownRepository)
  expect(stdout).toBe(output)
})
