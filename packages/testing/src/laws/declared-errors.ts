// declared-errors: when what a processor needs fails, the run does what `onError` says.
import { ProcessorError, type Processor } from '@lockstep/processors'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { errorText } from '../run-outcome.ts'
import { scenariosOf } from '../scenario.ts'
import { watched } from '../watched-processor.ts'

/** A failure of a model call or of the writer ends as the processor has declared. */
export const declaredErrors: ProcessorLaw = {
  name: 'declared-errors',
  meaning: "fails closed when a call of `callModel` or `writer` fails, or goes on if it says `onError: 'skip'`",
  appliesTo: () => true,
  async check(factory, options = {}) {
    let failureCount = 0
    for (const scenario of scenariosOf(options)) {
      let failed = false
      const processor = factory()
      const { result } = await runScenario(
        failing(processor, () => (failed = true)),
        scenario,
      )
      if (!failed) continue
      failureCount++
      const closed = result.tripwire?.processorId === processor.id || isOwnError(result.error, processor)
      const skips = processor.onError === 'skip'
      if (skips && isOwnError(result.error, processor))
        throw broken('declared-errors', {
          where: scenario.name,
          fact: `a failure ended the run although onError is 'skip': ${errorText(result.error)}`,
          cure: 'Throw an `Error` from the hook and nothing else.',
        })
      if (!skips && !closed)
        throw broken('declared-errors', {
          where: scenario.name,
          fact: `a failure of what the processor needs was caught, and the run ended as '${result.stopReason}'`,
          cure: "Let the error leave the hook, or `abort` (fail closed); a processor that a run can do without says `onError: 'skip'`.",
        })
    }
    return failureCount === 0 ? 'with these samples it calls neither callModel nor writer' : undefined
  },
}

function failing(processor: Processor, noteFailure: () => void): Processor {
  const fail = () => {
    noteFailure()
    return Promise.reject(new Error('The service is down.'))
  }
  return watched(processor, ({ args, proceed }) =>
    proceed({ callModel: fail as typeof args.callModel, writer: { custom: fail } as typeof args.writer }),
  )
}

function isOwnError(error: unknown, processor: Processor): boolean {
  return ProcessorError.isInstance(error) && error.processorId === processor.id
}
