import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from './command.ts'

describe('the command', () => {
  it('prints what the README says that it prints', async () => {
    const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
    const [, args = '', output] =
      /```console\n\$ npm run booking -- --today 2026-11-21 (.+)\n([\s\S]*?)```/.exec(readme) ?? []
    const lines = [...args.matchAll(/"([^"]+)"/g)].map(([, line = '']) => line)
    const { stdout, stderr } = await run(lines)
    expect([stdout, stderr]).toEqual([output, ''])
  })

  it('keeps a conversation at its prompt, and ends with an empty line', async () => {
    const { code, stdout, stderr } = await run([], 'the harbour\ntomorrow, two of us\nyes\n\nnever said\n')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Booked. Your reference at the Harbour Inn is HB-001.')
    expect(stdout).not.toContain('never said')
  })

  it('shows what the executor decides', async () => {
    const { stdout } = await run(['--debug', 'the Grand Hotel'])
    expect(stdout).toContain('[BatchExecutor] Including step ask-hotel in batch (all requirements satisfied)\n')
    expect(stdout).toContain('[BatchExecutor] Step ask-date needs input, stopping batch\n')
  })

  it('explains itself, also when it does not understand the arguments', async () => {
    expect((await run(['--help'])).stdout).toContain('npm run booking')
    const { code, stderr } = await run(['--hotel'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Unknown option '--hotel'[^]*npm run booking/)])
    expect((await run(['--today', 'soon'])).stderr).toContain('"soon" is not a date')
  })
})
