// The contract of a processor: which laws are checked, which are left out and why. For any test runner.
import type { Processor } from '@lockstep/processors'
import { TestingError } from './errors.ts'
import type { LawName, LawOptions, ProcessorFactory } from './processor-law.ts'
import { processorLaws } from './processor-laws.ts'

/** A law that is left out, and why. */
export interface SkippedLaw {
  readonly law: LawName
  /** For whoever reads the tests: why the processor does not keep it. */
  readonly reason: string
}

/** What a contract is checked with: samples that the processor acts on, and the laws that it does not keep. */
export interface ContractOptions extends LawOptions {
  readonly skip?: readonly SkippedLaw[]
}

/** One law of a contract. */
export interface ContractClause {
  readonly law: LawName
  /** A sentence about the processor. */
  readonly meaning: string
  /** Why it is not checked: the author's reason, or that it is not about such a processor. */
  readonly leftOut: string | undefined
  /** As `ProcessorLaw.check`. */
  readonly check: () => Promise<string | void>
}

/**
 * The contract of a processor, law by law. `@lockstep/testing/vitest` makes tests of it.
 *
 * *Throws*: `not-a-factory`, `no-hook`, `unknown-law`, `missing-reason`.
 */
export function contractOf(factory: ProcessorFactory, options: ContractOptions = {}): readonly ContractClause[] {
  const processor = made(factory)
  const { skip = [], ...given } = options
  checkSkips(skip)
  return processorLaws.map(({ name, meaning, appliesTo, check }) => {
    const skipped = skip.find(({ law }) => law === name)
    const applies = appliesTo(processor)
    const leftOut =
      applies !== true ? `does not apply: ${applies}` : skipped === undefined ? undefined : `skipped: ${skipped.reason}`
    return { law: name, meaning, leftOut, check: () => check(factory, given) }
  })
}

function made(factory: ProcessorFactory): Processor {
  const processor: unknown = typeof factory === 'function' ? factory() : factory
  if (typeof factory === 'function' && typeof processor === 'object' && processor !== null && 'id' in processor)
    return processor as Processor
  throw new TestingError(
    'not-a-factory',
    `A contract was given ${typeof factory === 'function' ? 'a function that makes no processor' : 'no function'}. Give a function that makes the processor: processorContract(() => myGuard()).`,
  )
}

function checkSkips(skip: readonly SkippedLaw[]): void {
  const names = processorLaws.map(({ name }) => name)
  for (const { law, reason } of skip) {
    if (!names.includes(law))
      throw new TestingError(
        'unknown-law',
        `There is no law ${JSON.stringify(law)} to skip. The laws are ${names.join(', ')}.`,
      )
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new TestingError(
        'missing-reason',
        `The law '${law}' is skipped without a reason. Say why, for those who read the tests.`,
      )
  }
}
