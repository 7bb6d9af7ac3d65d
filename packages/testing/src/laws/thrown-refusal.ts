// thrown-refusal: `abort` refuses by throwing; who catches it goes on with a run that is refused already.
import { isPromiseLike, TripWire, type HookName, type Processor } from '@lockstep/processors'
import { eachUnit, whole } from '../cut-model.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { scenariosOf } from '../scenario.ts'
import { watched } from '../watched-processor.ts'

/** What `abort` throws leaves the hook. */
export const thrownRefusal: ProcessorLaw = {
  name: 'thrown-refusal',
  meaning: 'lets what `abort` throws leave the hook',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options))
      for (const cut of [whole, eachUnit]) {
        const swallowed: HookName[] = []
        await runScenario(noting(factory(), swallowed), scenario, { cut })
        if (swallowed.length > 0)
          throw broken('thrown-refusal', {
            where: scenario.name,
            fact: `${swallowed[0]} called abort and caught what it throws; the run is refused all the same, and what the hook did after it is lost`,
            cure: 'Call `abort` outside of `try`, or throw it on: `if (TripWire.isInstance(error)) throw error`.',
          })
      }
  },
}

function noting(processor: Processor, swallowed: HookName[]): Processor {
  return watched(processor, ({ hook, args, proceed }) => {
    let refused = false
    const abort: typeof args.abort = (...given) => {
      refused = true
      return args.abort(...given)
    }
    const passed = <T>(result: T): T => {
      if (refused) swallowed.push(hook)
      return result
    }
    const failed = (error: unknown): never => {
      if (refused && !TripWire.isInstance(error)) swallowed.push(hook)
      throw error
    }
    try {
      const result = proceed({ abort })
      return isPromiseLike(result) ? result.then(passed, failed) : passed(result)
    } catch (error) {
      return failed(error)
    }
  })
}
