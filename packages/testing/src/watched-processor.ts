// A processor with somebody looking over its shoulder: the same hooks, each call told to a watcher.
import { hookNames, type HookName, type Processor } from '@lockstep/processors'
import { hasHook } from './processor-places.ts'

/** One call of a hook, before it is made. */
export interface WatchedCall {
  readonly hook: HookName
  readonly args: HookArgs
  /** Makes the call, with some of the arguments replaced. */
  readonly proceed: (replaced?: Partial<HookArgs>) => unknown
}

/** The arguments of any hook. */
export type HookArgs = Parameters<NonNullable<Processor['processInput']>>[0] & { readonly [name: string]: unknown }

/** The same processor; `around` makes each call and gives its result. */
export function watched(processor: Processor, around: (call: WatchedCall) => unknown): Processor {
  const { id, name, description, processDataParts, hold, onError } = processor
  const given = Object.entries({ id, name, description, processDataParts, hold, onError })
  const hooks = hookNames
    .filter(hook => hasHook(processor, hook))
    .map(hook => {
      const call = processor[hook] as (args: HookArgs) => unknown
      const proceed = (args: HookArgs, replaced?: Partial<HookArgs>) =>
        call.call(processor, replaced === undefined ? args : withReplaced(args, replaced))
      return [hook, (args: HookArgs) => around({ hook, args, proceed: replaced => proceed(args, replaced) })] as const
    })
  return Object.fromEntries([...given.filter(([, value]) => value !== undefined), ...hooks]) as unknown as Processor
}

/** The arguments with others in their place. Those that are read when somebody asks stay so. */
function withReplaced(args: HookArgs, replaced: Partial<HookArgs>): HookArgs {
  return Object.assign(Object.create(Object.getPrototypeOf(args) as object) as object, args, replaced) as HookArgs
}
