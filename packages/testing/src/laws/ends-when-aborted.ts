// ends-when-aborted: after an abort the processor lets go.
import { isPromiseLike, type HookName, type Processor } from '@lockstep/processors'
import { eachUnit } from '../cut-model.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { scenariosOf } from '../scenario.ts'
import { watched } from '../watched-processor.ts'

/** How many chunks of a run are tried as the last one. */
const placeCount = 12

/** A run that is aborted leaves no hook behind that goes on. */
export const endsWhenAborted: ProcessorLaw = {
  name: 'ends-when-aborted',
  meaning: 'ends what it is doing when the run is aborted, at whatever chunk',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const { chunks } = await runScenario(factory(), scenario, { cut: eachUnit })
      const stride = Math.max(1, Math.floor(chunks.length / placeCount))
      for (let place = 0; place < chunks.length; place += stride) {
        const open = new Set<HookName>()
        const controller = new AbortController()
        let count = 0
        const { result } = await runScenario(counting(factory(), open), scenario, {
          cut: eachUnit,
          abortSignal: controller.signal,
          onChunk: () => void (count++ === place && controller.abort(new Error('The reader has had enough.'))),
        })
        await settled()
        const fact =
          open.size > 0
            ? `${[...open].join(' and ')} had not returned when the run was over`
            : result.stopReason === 'error'
              ? `the run ended with an error: ${String(result.error)}`
              : undefined
        if (fact !== undefined && chunks.at(-2)?.type !== 'error')
          throw broken('ends-when-aborted', {
            where: `${scenario.name}, aborted at chunk ${place}`,
            fact,
            cure: 'Give `abortSignal` to all that you wait for, and let `flush` do without the rest.',
          })
      }
    }
  },
}

/** The processor, with the hooks that have not returned yet. */
function counting(processor: Processor, open: Set<HookName>): Processor {
  return watched(processor, ({ hook, proceed }) => {
    const result = proceed()
    if (!isPromiseLike(result)) return result
    open.add(hook)
    const close = () => void open.delete(hook)
    void Promise.resolve(result).then(close, close)
    return result
  })
}

/** Lets everything end that does not wait for a clock. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}
