// The account of tokens: every call that a provider reported, whatever became of its answer.
import type { LanguageModelUsage } from 'ai'
import { addLanguageModelUsage, createNullLanguageModelUsage } from '../ai-internal.ts'

/** The sums of a run. */
export class UsageAccount {
  #total: LanguageModelUsage = Object.freeze(createNullLanguageModelUsage())
  readonly #byProcessor = new Map<string, LanguageModelUsage>()

  /** Everything that was billed: accepted and withdrawn attempts, and the calls that processors made. */
  get total(): LanguageModelUsage {
    return this.#total
  }

  /** What the detached calls of each processor used. */
  get byProcessor(): ReadonlyMap<string, LanguageModelUsage> {
    return this.#byProcessor
  }

  /** Goes on from the sums of a run that was put down. */
  restore(total: LanguageModelUsage, byProcessor: Readonly<Record<string, LanguageModelUsage>>): void {
    this.#total = Object.freeze(total)
    for (const [processorId, usage] of Object.entries(byProcessor)) this.#byProcessor.set(processorId, usage)
  }

  book(usage: LanguageModelUsage, processorId?: string): void {
    this.#total = Object.freeze(addLanguageModelUsage(this.#total, usage))
    if (processorId !== undefined)
      this.#byProcessor.set(processorId, sumUsage([this.#byProcessor.get(processorId), usage]))
  }
}

/** Adds usages; absent ones count as nothing. */
export function sumUsage(usages: readonly (LanguageModelUsage | undefined)[]): LanguageModelUsage {
  let sum = createNullLanguageModelUsage()
  for (const usage of usages) if (usage) sum = addLanguageModelUsage(sum, usage)
  return Object.freeze(sum)
}
