// A law is worth something when it catches who breaks it.
import { contractOf, processorLaws, TestingError } from '@lockstep/testing'
import { describe, expect, it } from 'vitest'
import { brokenProcessors, type BrokenProcessor } from './broken-processors.ts'

const failureOf = ({ make, options, law }: BrokenProcessor): Promise<unknown> => {
  const clause = contractOf(make, options).find(({ law: name }) => name === law)!
  expect(clause.leftOut).toBeUndefined()
  return clause.check().catch((error: unknown) => error)
}

describe('a processor that', () => {
  it.each(brokenProcessors)('$mistake is caught by $law', async broken => {
    const error = await failureOf(broken)
    expect(error).toBeInstanceOf(TestingError)
    expect(error).toMatchObject({
      code: 'law-broken',
      message: expect.stringMatching(new RegExp(`^${broken.law}: with `)),
    })
  })
})

it('has a broken processor for every law', () => {
  const caught = new Set(brokenProcessors.map(({ law }) => law))
  expect(processorLaws.map(({ name }) => name).filter(name => !caught.has(name))).toEqual([])
})
