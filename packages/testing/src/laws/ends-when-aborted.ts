// ends-when-aborted: after an abort the processor lets go.
import { isPromiseLike, type HookName, type Processor } from '@lockstep/processors'
import { eachUnit } from '../cut-model.ts'
import { broken, runScenario, type ProcessorFactory, type ProcessorLaw } from '../processor-law.ts'
import { errorText } from '../run-outcome.ts'
import type { ProcessorRun } from '../run-with.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'
import { watched } from '../watched-processor.ts'

/** How many places of a run are tried as the last one. */
const placeCount = 12

/** A run that is aborted leaves no hook behind that goes on. */
export const endsWhenAborted: ProcessorLaw = {
  name: 'ends-when-aborted',
  meaning: 'ends what it is doing when the run is aborted, at whatever chunk and in whatever hook',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const watch = new HookWatch()
      const { result, chunks } = await runScenario(watch.over(factory()), scenario, { cut: eachUnit })
      if (result.stopReason === 'error') continue
      for (const place of placesIn(watch.callCount)) await abortInCall(factory, scenario, place)
      for (const place of placesIn(chunks.length)) await abortAtChunk(factory, scenario, place)
    }
  },
}

function placesIn(count: number): readonly number[] {
  const stride = Math.max(1, Math.ceil(count / placeCount))
  return Array.from({ length: Math.ceil(count / stride) }, (_, index) => index * stride)
}

async function abortInCall(factory: ProcessorFactory, scenario: Scenario, place: number): Promise<void> {
  const controller = new AbortController()
  const watch = new HookWatch(callNumber => void (callNumber === place && controller.abort(enough())))
  const run = await runScenario(watch.over(factory()), scenario, { cut: eachUnit, abortSignal: controller.signal })
  await checkEnd(run, watch, `${scenario.name}, aborted in hook call ${place}`)
}

async function abortAtChunk(factory: ProcessorFactory, scenario: Scenario, place: number): Promise<void> {
  const controller = new AbortController()
  const watch = new HookWatch()
  let count = 0
  const run = await runScenario(watch.over(factory()), scenario, {
    cut: eachUnit,
    abortSignal: controller.signal,
    onChunk: () => void (count++ === place && controller.abort(enough())),
  })
  await checkEnd(run, watch, `${scenario.name}, aborted at chunk ${place}`)
}

async function checkEnd({ result }: ProcessorRun, watch: HookWatch, where: string): Promise<void> {
  // Whatever does not wait for a clock has ended after a few turns.
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
  const fact =
    watch.open.size > 0
      ? `${[...watch.open].join(' and ')} had not returned when the run was over`
      : result.stopReason === 'error'
        ? `the run ended with an error: ${errorText(result.error)}`
        : undefined
  if (fact !== undefined)
    throw broken('ends-when-aborted', {
      where,
      fact,
      cure: 'Give `abortSignal` to all that you wait for, and let `flush` and `processRunEnd` do without the rest.',
    })
}

function enough(): Error {
  return new Error('The reader has had enough.')
}

/** Counts the calls of hooks, and knows those that have not returned. */
class HookWatch {
  readonly open = new Set<HookName>()
  callCount = 0
  readonly #onCall: ((callNumber: number) => void) | undefined

  constructor(onCall?: (callNumber: number) => void) {
    this.#onCall = onCall
  }

  over(processor: Processor): Processor {
    return watched(processor, ({ hook, proceed }) => {
      const callNumber = this.callCount++
      const result = proceed()
      if (isPromiseLike(result)) {
        this.open.add(hook)
        const close = () => void this.open.delete(hook)
        void Promise.resolve(result).then(close, close)
      }
      this.#onCall?.(callNumber)
      return result
    })
  }
}
