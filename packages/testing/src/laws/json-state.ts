// json-state: what a processor knows of a run is JSON, and all of it is in `state`.
import { resumeLoop, type LoopResult, type LoopState, type Resumption } from '@lockstep/agent-loop'
import { ProcessorError, type Chunk, type Processor } from '@lockstep/processors'
import type { TestingError } from '../errors.ts'
import { arraysFor } from '../processor-places.ts'
import {
  broken,
  runScenario,
  scenarioOptions,
  type LawOptions,
  type ProcessorFactory,
  type ProcessorLaw,
} from '../processor-law.ts'
import { differenceOf, errorText, outcomeOf, type RunOutcome } from '../run-outcome.ts'
import { endedRun, startRun, type RunWithOptions, type StartedRun } from '../run-with.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

/** A run that is put down and taken up in another process goes on as if nothing had been. */
export const jsonState: ProcessorLaw = {
  name: 'json-state',
  meaning: 'keeps its state as JSON, so that a run can be put down after any step and taken up by another instance',
  appliesTo: () => true,
  async check(factory, options: LawOptions = {}) {
    for (const scenario of scenariosOf(options)) {
      const run = await runScenario(factory(), scenario)
      const { error, stopReason } = run.result
      if (ProcessorError.isInstance(error) && error.code === 'state-not-json')
        throw brokenAt(scenario, 'put down to ask a person', error.message)
      const expected = outcomeOf(run)
      for (let stepNumber = 0; stepNumber < expected.steps.length; stepNumber++) {
        const where = `put down after step ${stepNumber} and taken up by another instance`
        const resumed = await putDownAfter(stepNumber, factory, scenario)
        if (resumed === undefined) break
        compare(scenario, where, typeof resumed === 'string' ? resumed : differenceOf(expected, resumed))
      }
      if (stopReason !== 'suspended') continue
      const same = await approvedBy(scenario, factory(), undefined)
      const other = await approvedBy(scenario, factory(), factory())
      compare(scenario, 'put down to ask a person and taken up by another instance', differenceOf(same, other))
    }
  },
}

function compare(scenario: Scenario, where: string, difference: string | undefined): void {
  if (difference !== undefined) throw brokenAt(scenario, where, difference)
}

function brokenAt(scenario: Scenario, where: string, fact: string): TestingError {
  return broken('json-state', {
    where: `${scenario.name}, ${where}`,
    fact,
    cure: 'Keep plain values in `state` (no Map, Date, function or instance), and nothing that a run needs anywhere else.',
  })
}

/** A run that can be put down: its ids go on, and its model. */
class Interrupted {
  readonly #options: RunWithOptions
  readonly #chunks: Chunk[] = []
  readonly #started: StartedRun

  constructor(processor: Processor, scenario: Scenario, options: RunWithOptions = {}) {
    let count = 0
    const generateId = () => `id-${++count}`
    this.#options = scenarioOptions(scenario, { ...options, generateId })
    this.#started = startRun(processor, this.#options)
  }

  toItsEnd(): Promise<LoopResult> {
    return this.#read(this.#started.loop)
  }

  async takenUp(processor: Processor, resumption: Resumption): Promise<RunOutcome> {
    const { input: _input, history: _history, abortSignal: _signal, onStepFinish: _saved, ...again } = this.#options
    const loop = resumeLoop(resumption, { ...again, ...arraysFor([processor]), model: this.#started.model })
    const result = await this.#read(loop)
    return outcomeOf(endedRun(result, this.#chunks, this.#started.calls))
  }

  async #read(loop: StartedRun['loop']): Promise<LoopResult> {
    for (;;) {
      const next = await loop.next()
      if (next.done) return next.value
      this.#chunks.push(next.value)
    }
  }
}

/** What the run comes to, why it could not be put down, or nothing when it had ended before. */
async function putDownAfter(
  stepNumber: number,
  factory: ProcessorFactory,
  scenario: Scenario,
): Promise<RunOutcome | string | undefined> {
  const controller = new AbortController()
  let state: LoopState | undefined
  let failure: string | undefined
  const run = new Interrupted(factory(), scenario, {
    abortSignal: controller.signal,
    onStepFinish(step, { loopState }) {
      if (step.stepNumber !== stepNumber) return
      try {
        state = loopState()
      } catch (error) {
        failure = errorText(error)
      }
      controller.abort(new Error('Put down.'))
    },
  })
  await run.toItsEnd()
  return failure ?? (state && (await run.takenUp(factory(), { state })))
}

/** What a run comes to that asks a person, who approves; then another instance goes on, or the same. */
async function approvedBy(scenario: Scenario, processor: Processor, other: Processor | undefined): Promise<RunOutcome> {
  const run = new Interrupted(processor, scenario)
  const { loopState: state, pendingApprovals } = await run.toItsEnd()
  // With an input, as a person who edits it: so the call passes processToolCall again.
  const decisions = pendingApprovals.map(({ approvalId, input }) => ({ approvalId, approved: true, input }))
  return run.takenUp(other ?? processor, { state: state!, decisions })
}
