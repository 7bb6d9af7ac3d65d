// A route: steps in reading order over the fields of a conversation, and the ways that lead through them.
import type { FieldName, Fields } from './fields.ts'
import { END_ROUTE, type Branch, type RouteStep } from './flow-step.ts'

/** A route that passed its checks. */
export interface Route<TData, TContext = unknown> {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly fields: Fields<TData>
  readonly requiredFields: readonly FieldName<TData>[]
  readonly optionalFields: readonly FieldName<TData>[]
  readonly steps: readonly (RouteStep<TData, TContext> | typeof END_ROUTE)[]
}

/** The fields that a message can fill: those that a step asks for, and those that the route lists. */
export function collectableFields<TData>(route: Route<TData, never>): readonly FieldName<TData>[] {
  const collected = stepsOf(route).flatMap(step => step.collect ?? [])
  return [...new Set([...collected, ...route.requiredFields, ...route.optionalFields])]
}

/** The steps of a route without the markers of its end. */
export function stepsOf<TData, TContext>(route: Route<TData, TContext>): readonly RouteStep<TData, TContext>[] {
  return route.steps.filter(step => step !== END_ROUTE)
}

/** A way out of a step. */
export interface Exit<TData> {
  readonly when: Branch<TData>['when']
  /** The position it leads to, past the last one when the route is complete; `undefined` when there is no such step. */
  readonly to: number | typeof END_ROUTE | undefined
  readonly name: string
}

/** The ways out of the step at a position, in the order they are tried; the last one always holds. */
export function exitsOf<TData>(route: Route<TData, never>, index: number): readonly Exit<TData>[] {
  const step = route.steps[index]
  if (step === undefined || step === END_ROUTE) return []
  const { next = [] } = step
  const branches: readonly Branch<TData>[] = typeof next === 'object' ? next : [{ to: next }]
  const exits = branches.map(({ when, to }): Exit<TData> => {
    const position = route.steps.findIndex(other => other !== END_ROUTE && other.id === to)
    return { when, to: to === END_ROUTE ? to : position < 0 ? undefined : position, name: String(to) }
  })
  const otherwise: Exit<TData> = { when: undefined, to: index + 1, name: 'the next step' }
  return exits.some(({ when }) => when === undefined) ? exits : [...exits, otherwise]
}
