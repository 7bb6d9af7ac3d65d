// A test file that fails: for the test of the contract in Vitest.
import { processorContract } from '@lockstep/testing/vitest'
import { brokenProcessors } from './broken-processors.ts'

const { make, options } = brokenProcessors.find(({ law }) => law === 'any-cut')!
processorContract(make, { ...options, skip: [{ law: 'runs-apart', reason: 'it is a test' }] })
