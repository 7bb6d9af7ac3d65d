// One step of a route: what it says or asks, what it needs, and the code that runs when it is satisfied.
import type { FieldName } from './fields.ts'
import type { Hook } from './hook.ts'

/** The end of a route: a target of `next`, or the last entry of `steps`. */
export const END_ROUTE: unique symbol = Symbol.for('lockstep.END_ROUTE')

/** The data of a session as conditions and prompts see it: nothing is certain to be there. */
export type KnownData<TData> = Readonly<Partial<TData>>

/** Code over the data alone, so that a position can be computed again from the data at any time. */
export type Condition<TData> = (data: KnownData<TData>) => boolean

/** Where to go, and when. Without `when` it holds always. */
export interface Branch<TData> {
  readonly when?: Condition<TData>
  readonly to: string | typeof END_ROUTE
}

/** A step of a route, as the author writes it. */
export interface FlowStep<TData, TContext = unknown> {
  /** Unique in its route; `step-1`, `step-2`, … by position when absent. */
  readonly id?: string
  /** The question of a step that collects, what to say in one that does not. Without it the step is silent. */
  readonly prompt?: string | ((data: KnownData<TData>) => string)
  /** The prompt is the text itself: it is sent word for word, and costs no model call. */
  readonly verbatim?: boolean
  /** The fields that the question is about. */
  readonly collect?: readonly FieldName<TData>[]
  /** The fields that must be known before this step. */
  readonly requires?: readonly FieldName<TData>[]
  /** Whether all the collected fields must be known, or any one of them. */
  readonly satisfiedBy?: 'all' | 'any'
  /** How often a field of this step is asked for. Unlimited for required fields, once for optional ones. */
  readonly maxAsks?: number
  /** When true the step is left out, its hooks included. When it throws the step stays, and the throw is reported. */
  readonly skipIf?: Condition<TData>
  /** Runs once a visit when the step is satisfied, before the reply; what it returns becomes data. */
  readonly prepare?: Hook<TData, TContext, KnownData<TData> | void>
  /** Runs once a visit after the reply. It reports and cannot change data. */
  readonly finalize?: Hook<TData, TContext, void>
  /** The step after this one, when it is not the next in the list: the first branch that holds. Only forward. */
  readonly next?: string | typeof END_ROUTE | readonly Branch<TData>[]
}

/** A step in a route: its id is settled. */
export type RouteStep<TData, TContext = unknown> = FlowStep<TData, TContext> & { readonly id: string }
