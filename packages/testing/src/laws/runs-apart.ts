// runs-apart: one instance serves many runs, one after the other and at the same time.
import type { Processor } from '@lockstep/processors'
import { eachUnit } from '../cut-model.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { differenceOf, outcomeOf, type RunOutcome } from '../run-outcome.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

/** Runs that share an instance are as if each had its own. */
export const runsApart: ProcessorLaw = {
  name: 'runs-apart',
  meaning: 'does the same in a run alone, after another run, and beside another run',
  appliesTo: () => true,
  async check(factory, options = {}) {
    const scenarios = scenariosOf(options)
    const alone: RunOutcome[] = []
    for (const scenario of scenarios) alone.push(await outcome(factory(), scenario))
    for (const [index, scenario] of scenarios.entries()) {
      const next = (index + 1) % scenarios.length
      const other = scenarios[next]!
      const compare = (how: string, [one, two]: readonly [RunOutcome, RunOutcome]) => {
        const difference = differenceOf(alone[index], one) ?? differenceOf(alone[next], two)
        if (difference !== undefined)
          throw broken('runs-apart', {
            where: `${scenario.name} and ${other.name} ${how}`,
            fact: `${difference}, as it is in a run alone`,
            cure: 'Keep what belongs to a run in `state`, which every hook is given, and nothing of it in the closure or on `this`.',
          })
      }
      const shared = factory()
      compare('one after the other', [await outcome(shared, scenario), await outcome(shared, other)])
      const both = factory()
      compare('at the same time', await Promise.all([outcome(both, scenario), outcome(both, other)]))
    }
  },
}

async function outcome(processor: Processor, scenario: Scenario): Promise<RunOutcome> {
  return outcomeOf(await runScenario(processor, scenario, { cut: eachUnit }))
}
