// A law that every processor keeps: its name, what it means, whom it concerns, and the check of it.
import type { Processor } from '@lockstep/processors'
import type { ContractSamples } from './contract-samples.ts'
import { cutModel, whole, type Cut } from './cut-model.ts'
import { TestingError } from './errors.ts'
import { runWith, type ProcessorRun, type RunWithOptions } from './run-with.ts'
import { toolsOf, type Scenario } from './scenario.ts'

/** Makes the processor under contract. Called for each run, so that one run cannot hide what another did. */
export type ProcessorFactory = () => Processor

/** What a law is checked with. */
export interface LawOptions extends ContractSamples {
  /** How many random ways of cutting are tried for each scenario: 25 when absent. */
  readonly cutCount?: number
  /** The seed of what is random. The same each time when absent: 1. */
  readonly seed?: number
}

/** The names of the laws. They do not change: skips are written with them. */
export type LawName =
  | 'acts'
  | 'frozen-input'
  | 'any-cut'
  | 'tail-at-finish'
  | 'tail-at-abort'
  | 'whole-blocks'
  | 'blocks-apart'
  | 'clean-retry'
  | 'runs-apart'
  | 'json-state'
  | 'generate-is-stream'
  | 'tool-pairs'
  | 'thrown-refusal'
  | 'declared-errors'
  | 'any-content'
  | 'bounded-retries'
  | 'ends-when-aborted'

/** One law of processors. */
export interface ProcessorLaw {
  readonly name: LawName
  /** What it means, in one sentence about a processor. */
  readonly meaning: string
  /** `true`, or why the law says nothing about this processor. */
  readonly appliesTo: (processor: Processor) => true | string
  /**
   * Checks it. Gives why it said nothing, when it turned out that the processor did nothing that the law is about.
   * Throws a `TestingError` with the code `law-broken`: what happened, and the cure.
   */
  readonly check: (factory: ProcessorFactory, options?: LawOptions) => Promise<string | void>
}

/** The error of a broken law: what happened, where, and the cure. */
export function broken(
  law: LawName,
  { where, fact, cure }: { readonly where: string; readonly fact: string; readonly cure: string },
): TestingError {
  return new TestingError('law-broken', `${law}: with ${where}, ${fact.replace(/\.$/, '')}. ${cure}`)
}

/** Makes the run of a scenario. */
export function runScenario(
  processor: Processor,
  scenario: Scenario,
  options: RunWithOptions & { readonly cut?: Cut } = {},
): Promise<ProcessorRun> {
  return runWith(processor, scenarioOptions(scenario, options))
}

/** The options of a run of a scenario. Retries are granted, so that those who ask for one get it. */
export function scenarioOptions(
  { input, history, turns, toolResults }: Scenario,
  { cut = whole, ...options }: RunWithOptions & { readonly cut?: Cut } = {},
): RunWithOptions {
  return {
    input,
    ...(history === undefined ? {} : { history }),
    model: cutModel(turns, cut),
    tools: toolsOf({ toolResults }),
    maxSteps: 8,
    maxProcessorRetries: 2,
    modelSettings: { maxRetries: 0 },
    ...options,
  }
}
