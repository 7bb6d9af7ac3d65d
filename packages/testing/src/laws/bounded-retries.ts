// bounded-retries: a model that never gets better ends the run, before the caller's whole budget is gone.
import { MockLanguageModelV4 } from 'ai/test'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { hasHook } from '../processor-places.ts'
import { broken, scenarioOptions, type ProcessorFactory, type ProcessorLaw } from '../processor-law.ts'
import { runWith } from '../run-with.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

/** What a caller could grant: more than anybody should need. */
const budget = 30
/** Calls of models after which a run counts as endless: the budget, and ten for each step. */
const endless = 150

/** The processor gives up by itself. */
export const boundedRetries: ProcessorLaw = {
  name: 'bounded-retries',
  meaning: 'gives up by itself when the model does not get better',
  appliesTo: processor =>
    hasHook(processor, 'processInput', 'processInputStep', 'processLLMRequest', 'processAPIError') ||
    hasHook(processor, 'processOutputStream', 'flush', 'processLLMResponse', 'processOutputStep') ||
    hasHook(processor, 'processToolCall', 'processToolResult', 'processOutputResult') ||
    'it has no hook that can ask for a retry',
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      for (const [index] of scenario.turns.entries()) await checkRun(factory, stuckAt(scenario, index))
    }
  },
}

/** The model gives the same answer again and again, from this turn on. */
function stuckAt(scenario: Scenario, index: number): Scenario {
  return {
    ...scenario,
    name: `${scenario.name}, and turn ${index} for ever`,
    turns: scenario.turns.slice(0, index + 1),
  }
}

async function checkRun(factory: ProcessorFactory, scenario: Scenario): Promise<void> {
  const controller = new AbortController()
  const { turns } = scenario
  const script = scriptedModel([...turns, ...Array.from({ length: endless }, () => turns.at(-1)!)])
  let callCount = 0
  const model = new MockLanguageModelV4({
    provider: script.provider,
    modelId: script.modelId,
    doStream: options => {
      if (++callCount < endless) return script.doStream(options)
      controller.abort(new Error('The run does not end.'))
      return new Promise(() => {})
    },
  })
  const { result } = await runWith(factory(), {
    ...scenarioOptions(scenario, { model, maxProcessorRetries: budget, abortSignal: controller.signal, maxSteps: 4 }),
  })
  const retryCount = result.trace.steps
    .flatMap(({ attempts }) => attempts)
    .filter(({ outcome }) => outcome === 'retried' || outcome === 'failed').length
  const where = scenario.name
  if (callCount >= endless)
    throw broken('bounded-retries', {
      where,
      fact: `the model was called ${callCount} times and there was no end`,
      cure: 'Count your calls of `callModel`, and give up after a few.',
    })
  if (retryCount >= budget)
    throw broken('bounded-retries', {
      where,
      fact: `the processor asked for another attempt ${budget} times and would not have stopped`,
      cure: 'Look at `retryCount`: `abort(reason, { retry: retryCount < 2 })`; if the budget of the caller is all you want, skip this law and say so.',
    })
}
