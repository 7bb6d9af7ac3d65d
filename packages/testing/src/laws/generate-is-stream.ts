// generate-is-stream: who waits for the whole answer gets what a reader of the stream gets.
import { eachUnit } from '../cut-model.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { differenceOf, outcomeOf } from '../run-outcome.ts'
import { scenariosOf } from '../scenario.ts'

/** Held or live, a run comes to the same. */
export const generateIsStream: ProcessorLaw = {
  name: 'generate-is-stream',
  meaning: 'has the same effect when chunks are shown at once, when each step is held and when the run is held',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const live = outcomeOf(await runScenario(factory(), scenario, { cut: eachUnit }))
      for (const hold of ['step', 'run'] as const) {
        const held = outcomeOf(await runScenario(factory(), scenario, { cut: eachUnit, hold }))
        const difference = differenceOf(
          live,
          live.ended === 'completed' ? held : { ...held, screen: live.screen, data: live.data },
        )
        if (difference !== undefined)
          throw broken('generate-is-stream', {
            where: `${scenario.name} and hold: '${hold}'`,
            fact: `${difference}, as it is in a live stream`,
            cure: 'Decide by what the hook is given, not by when it is called.',
          })
      }
    }
  },
}
