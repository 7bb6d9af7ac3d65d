// The contract of a processor as tests of Vitest: one test a law.
import { describe, test, type TestContext } from 'vitest'
import { contractOf, type ContractClause, type ContractOptions } from './contract.ts'
import type { ProcessorFactory } from './processor-law.ts'

export type { ContractOptions, SkippedLaw } from './contract.ts'
export type { ContractSamples, TextSample } from './contract-samples.ts'
export type { LawName, LawOptions, ProcessorFactory } from './processor-law.ts'

/**
 * Registers a test for each law of processors. A law that is skipped, or that is not about such a processor, is a skipped
 * test that says why.
 *
 * @example
 * processorContract(() => myGuard(), { texts: [{ text: 'Call 555-0199.', shown: 'Call [phone].' }] })
 */
export function processorContract(factory: ProcessorFactory, options: ContractOptions = {}): void {
  const clauses = contractOf(factory, options)
  describe(`the contract of the processor '${factory().id}'`, () => {
    for (const clause of clauses) register(clause)
  })
}

function register({ law, meaning, leftOut, check }: ContractClause): void {
  // A test that is left out says why in its name, where every reporter shows it.
  test.skipIf(leftOut !== undefined)(`${law}: ${leftOut ?? meaning}`, { timeout: 60_000 }, context =>
    expectKept(check, context),
  )
}

async function expectKept(check: ContractClause['check'], context: TestContext): Promise<void> {
  const silence = await check()
  if (silence !== undefined) context.skip(`does not apply: ${silence}`)
}
