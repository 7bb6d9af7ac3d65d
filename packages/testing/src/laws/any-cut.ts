// any-cut: what is said does not depend on how it was cut on the way.
import fc from 'fast-check'
import { cutAt, eachUnit, type Cut } from '../cut-model.ts'
import { hasHook } from '../processor-places.ts'
import { broken, runScenario, type LawOptions, type ProcessorFactory, type ProcessorLaw } from '../processor-law.ts'
import { differenceOf, inShort, outcomeOf, type RunOutcome } from '../run-outcome.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

/** The same text in other pieces has the same effect. */
export const anyCut: ProcessorLaw = {
  name: 'any-cut',
  meaning: 'has the same effect however the text is cut: whole, one character at a time, within a surrogate pair',
  appliesTo: processor => hasHook(processor, 'processOutputStream', 'flush') || 'it does not see the stream',
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const run = await runScenario(factory(), scenario)
      if (scenario.shown !== undefined && run.screen !== scenario.shown)
        throw broken('any-cut', {
          where: scenario.name,
          fact: `the screen shows ${inShort(run.screen)} and not ${inShort(scenario.shown)}, although the text came whole`,
          cure: 'Mend the processor, or the `shown` of the sample.',
        })
      await checkCuts(factory, scenario, { ...options, expected: outcomeOf(run) })
    }
  },
}

async function checkCuts(
  factory: ProcessorFactory,
  scenario: Scenario,
  { expected, cutCount = 25, seed = 1 }: LawOptions & { readonly expected: RunOutcome },
): Promise<void> {
  const differenceWith = async (cut: Cut) =>
    differenceOf(expected, outcomeOf(await runScenario(factory(), scenario, { cut })))
  const complain = (cut: Cut, difference: string) =>
    broken('any-cut', {
      where: scenario.name,
      fact: `cut like ${cut(sampleOf(scenario)).map(inShort).join(' | ')}, ${difference}, as it is when each text comes whole`,
      cure: 'Hold back what may still become a match (in `state`, by block id), and let go of it in `flush`.',
    })
  const found = await fc.check(
    fc.asyncProperty(fc.array(fc.nat({ max: 499 }), { maxLength: 12 }), async places => {
      return (await differenceWith(cutAt(places))) === undefined
    }),
    { numRuns: cutCount, seed },
  )
  const places = found.counterexample?.[0]
  if (places) {
    const difference = await differenceWith(cutAt(places))
    throw complain(cutAt(places), difference ?? 'the outcome differs')
  }
  const difference = await differenceWith(eachUnit)
  if (difference !== undefined) throw complain(eachUnit, difference)
}

/** A text of the scenario, to show in a message how it was cut. */
function sampleOf({ turns }: Scenario): string {
  const texts = turns.flatMap(turn => {
    if (typeof turn === 'string') return [turn]
    return typeof turn === 'object' && 'text' in turn && turn.text !== undefined ? [[turn.text].flat().join('')] : []
  })
  return (texts.find(text => text.length > 8) ?? texts[0] ?? 'a text').slice(0, 60)
}
