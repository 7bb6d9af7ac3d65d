// The contract itself: what it checks, what it leaves out, and what it says.
import { contractOf, processorLaws, TestingError, type ContractOptions, type LawName } from '@lockstep/testing'
import type { Processor } from '@lockstep/processors'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { pickyGuard, wordGuard } from './right-processors.ts'

const clauseOf = (law: LawName, make: () => Processor, options?: ContractOptions) =>
  contractOf(make, options).find(clause => clause.law === law)!

describe('a contract', () => {
  it('has a clause for each law, in the order of the laws', () => {
    expect(contractOf(pickyGuard).map(({ law }) => law)).toEqual(processorLaws.map(({ name }) => name))
    expect(new Set(processorLaws.map(({ meaning }) => meaning)).size).toBe(processorLaws.length)
  })

  it('says of a law that is not about the processor why', () => {
    expect(clauseOf('any-cut', pickyGuard).leftOut).toBe('does not apply: it does not see the stream')
    const held = () => ({ ...wordGuard(), hold: 'step' as const })
    expect(clauseOf('tail-at-abort', held).leftOut).toMatch(/^does not apply: it holds each step/)
    const observer = () => ({ id: 'log', processStepEnd: () => {} })
    expect(clauseOf('acts', observer).leftOut).toBe('does not apply: it has only hooks that observe')
  })

  it('says of a law that turned out to be about nothing that the processor does why', async () => {
    expect(await clauseOf('declared-errors', pickyGuard).check()).toMatch(/calls neither/)
  })

  it('leaves out what is skipped, with the reason', () => {
    const skip = [{ law: 'bounded-retries', reason: 'the caller bounds them' }] as const
    expect(clauseOf('bounded-retries', pickyGuard, { skip }).leftOut).toBe('skipped: the caller bounds them')
    expect(clauseOf('runs-apart', pickyGuard, { skip }).leftOut).toBeUndefined()
  })

  it.each([
    ['a law that there is not', [{ law: 'any-cuts', reason: 'x' }], 'unknown-law', /"any-cuts".*any-cut/],
    ['no reason', [{ law: 'any-cut', reason: ' ' }], 'missing-reason', /any-cut/],
  ])('refuses a skip of %s', (_what, skip, code, message) => {
    const make = () => contractOf(pickyGuard, { skip } as unknown as ContractOptions)
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })

  it('refuses what is no factory, and what has no hook', async () => {
    expect(() => contractOf(pickyGuard() as never)).toThrow(expect.objectContaining({ code: 'not-a-factory' }))
    expect(() => contractOf((() => undefined) as never)).toThrow(expect.objectContaining({ code: 'not-a-factory' }))
    await expect(clauseOf('any-content', () => ({ id: 'nothing' })).check()).rejects.toMatchObject({ code: 'no-hook' })
  })

  it('gives the same verdict each time', async () => {
    const wrong = (): Processor => ({
      id: 'wrong',
      processOutputStream: ({ part }) => (part.type === 'text-delta' && part.payload.text === 'noon' ? null : part),
    })
    const message = () => clauseOf('any-cut', wrong, { cutCount: 200 }).check().catch(String)
    expect(await message()).toBe(await message())
  })

  it('knows its errors from another copy of the package', () => {
    expect(TestingError.isInstance(new TestingError('no-hook', 'x'))).toBe(true)
    expect(TestingError.isInstance({ [Symbol.for('lockstep.testing-error')]: true })).toBe(true)
    expect([new Error('x'), undefined, 'x'].some(value => TestingError.isInstance(value))).toBe(false)
  })
})

it('is in the README, law by law', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const rows = [...readme.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, name, meaning]) => ({ name, meaning }))
  for (const { name, meaning } of processorLaws) expect(rows).toContainEqual({ name, meaning })
})

describe('a contract in Vitest', () => {
  it('has failed, passed and skipped tests that say what the law is, and why', async () => {
    const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
    const vitest = fileURLToPath(import.meta.resolve('vitest/package.json')).replace('package.json', 'vitest.mjs')
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-contract-'))
    const outputFile = join(folder, 'report.json')
    const args = [
      'run',
      '--config',
      pathOf('wrong-contract.config.ts'),
      '--reporter',
      'json',
      '--outputFile',
      outputFile,
    ]
    // It ends with an error, as a test run with a failed test does.
    await promisify(execFile)(process.execPath, [...process.execArgv, vitest, ...args]).catch(() => {})
    const report = JSON.parse(await readFile(outputFile, 'utf8')) as {
      readonly testResults: readonly [
        { readonly assertionResults: readonly { readonly title: string; readonly status: string }[] },
      ]
    }
    await rm(folder, { recursive: true })
    const tests = report.testResults[0].assertionResults
    expect(tests).toHaveLength(processorLaws.length)
    const statusOf = (law: string) => tests.find(({ title }) => title.startsWith(`${law}: `))
    expect(statusOf('any-cut')).toMatchObject({ status: 'failed' })
    expect(statusOf('frozen-input')).toMatchObject({ status: 'passed' })
    expect(statusOf('runs-apart')).toMatchObject({ status: 'skipped', title: 'runs-apart: skipped: it is a test' })
    expect(statusOf('declared-errors')).toMatchObject({ status: 'skipped' })
  })
})
