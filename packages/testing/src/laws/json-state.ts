// json-state: what a processor knows of a run is JSON, and all of it is in `state`.
import { resumeLoop, type LoopState } from '@lockstep/agent-loop'
import type { Chunk } from '@lockstep/processors'
import { cutModel, whole } from '../cut-model.ts'
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
import { endedRun, startRun } from '../run-with.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

const cure =
  'Keep plain values in `state` (no Map, Date, function or instance), and nothing that a run needs anywhere else.'

/** A run that is put down after a step and taken up in another process goes on as if nothing had been. */
export const jsonState: ProcessorLaw = {
  name: 'json-state',
  meaning: 'keeps its state as JSON, so that a run can be put down after any step and taken up by another instance',
  appliesTo: () => true,
  async check(factory, options: LawOptions = {}) {
    for (const scenario of scenariosOf(options)) {
      const expected = outcomeOf(await runScenario(factory(), scenario))
      for (let stepNumber = 0; stepNumber < expected.steps.length; stepNumber++) {
        const resumed = await putDownAfter(stepNumber, factory, scenario)
        if (resumed === undefined) break
        const difference = typeof resumed === 'string' ? resumed : differenceOf(expected, resumed)
        if (difference !== undefined)
          throw broken('json-state', {
            where: `${scenario.name}, put down after step ${stepNumber} and taken up by another instance`,
            fact: difference,
            cure,
          })
      }
    }
  },
}

/** What the run comes to, why it could not be put down, or nothing when it had ended before. */
async function putDownAfter(
  stepNumber: number,
  factory: ProcessorFactory,
  scenario: Scenario,
): Promise<RunOutcome | string | undefined> {
  let count = 0
  const generateId = () => `id-${++count}`
  const controller = new AbortController()
  let state: LoopState | undefined
  let failure: string | undefined
  const options = scenarioOptions(scenario, { generateId, model: cutModel(scenario.turns, whole) })
  const started = startRun(factory(), {
    ...options,
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
  const chunks: Chunk[] = []
  for await (const chunk of started.loop) chunks.push(chunk)
  if (failure !== undefined || state === undefined) return failure
  const { model: _model, input: _input, history: _history, ...again } = options
  const loop = resumeLoop({ state }, { ...again, ...arraysFor([factory()]), model: started.model })
  for (;;) {
    const next = await loop.next()
    if (next.done) return outcomeOf(endedRun(next.value, chunks, started.calls))
    chunks.push(next.value)
  }
}
