// processRunEnd: once, on every way in which a run can end. Observes and cleans up.
import type { ProcessorContext, StepPosition } from '../context.ts'
import type { TripwirePayload } from '../chunk.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import type { Processor } from '../processor.ts'
import type { OutputResult, StopReason } from '../step-result.ts'

/** How the run ended. `result` has what there was. */
export interface RunEnd {
  readonly stopReason: StopReason
  readonly result: OutputResult
  /** When `stopReason` is `'error'`. */
  readonly error?: unknown
  /** When `stopReason` is `'tripwire'`: who refused and why; never what was refused. */
  readonly tripwire?: TripwirePayload
  /** When `stopReason` is `'suspended'`: the run as JSON, to be resumed in this process or another. */
  readonly loopState?: object
}

/** What `processRunEnd` is given. `abort` in it is an error; `abortSignal` may have fired already. */
export type ProcessRunEndArgs<TState extends object = Record<string, unknown>> = ProcessorContext<never, TState> &
  RunEnd

/**
 * Runs the hook of each processor in order, also after one that throws.
 * Throws: the first error, when all have run; what an abort ended comes after faults of their own.
 */
export function runProcessRunEnd(
  scope: HookScope,
  processors: readonly Processor[],
  at: { readonly position: StepPosition; readonly end: RunEnd },
): MaybePromise<void> {
  const errors: unknown[] = []
  const collect = (error: unknown) => void errors.push(error)
  const all = eachInOrder(processors, processor => {
    try {
      const call = new HookCall(scope, processor, { hook: 'processRunEnd', position: at.position })
      const args = { ...call.context(), ...at.end } as ProcessRunEndArgs
      const done = call.run(args, undefined)
      if (isPromiseLike(done)) return done.then(undefined, collect)
    } catch (error) {
      collect(error)
    }
  })
  const finish = () => {
    const { aborted, reason } = scope.host.abortSignal
    if (errors.length > 0) throw errors.find(error => !aborted || error !== reason) ?? errors[0]
  }
  return isPromiseLike(all) ? all.then(finish) : finish()
}
