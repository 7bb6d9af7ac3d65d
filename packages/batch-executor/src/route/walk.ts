// A walk over a route: what it reads, what it has to report, and which way it takes.
import { reasonOf } from '../errors.ts'
import { END_ROUTE, type Condition, type RouteStep } from './flow-step.ts'
import type { Issue } from '../issue.ts'
import type { PlanOptions } from '../turn/plan.ts'
import { exitsOf, type Route } from './route.ts'
import type { Session } from '../session/session.ts'

/** What a walk reads, and the issues it collects on the way. */
export interface Walk<TData> {
  readonly session: Session<TData>
  readonly route: Route<TData, never>
  readonly options: PlanOptions
  readonly issues: Issue[]
}

/** A place on a route: a position, past the last one when the route is complete, or its marked end. */
export type Place = number | typeof END_ROUTE

/** What is at a place: a step, or one of the two ends of a route. */
export type Here<TData> = RouteStep<TData, never> | 'end_route' | 'route_complete'

/** Looks at a place. */
export function stepAt<TData>(walk: Walk<TData>, place: Place): Here<TData> {
  const step = place === END_ROUTE ? END_ROUTE : walk.route.steps[place]
  return step === undefined ? 'route_complete' : step === END_ROUTE ? 'end_route' : step
}

/** Asks a condition of a step. One that throws, or answers anything but a boolean, does not hold and is reported. */
export function holds<TData>(walk: Walk<TData>, stepId: string, [name, condition]: NamedCondition<TData>): boolean {
  const report = (fact: string) => {
    const message = `${name} of step "${stepId}" ${fact}, so it does not hold.`
    walk.issues.push({ code: 'condition-failed', stepId, message })
    return false
  }
  try {
    const answer: unknown = condition(walk.session.data)
    return typeof answer === 'boolean' ? answer : report(`returned ${describe(answer)} instead of a boolean`)
  } catch (thrown) {
    return report(`threw: ${reasonOf(thrown)}`)
  }
}

/** A condition and what it is called in a report. */
export type NamedCondition<TData> = readonly [name: string, condition: Condition<TData>]

function describe(answer: unknown): string {
  if (!(answer instanceof Promise)) return answer === null ? 'null' : `a value of type ${typeof answer}`
  answer.catch(() => undefined)
  return 'a promise'
}

/** The place after a step: where the first of its branches that holds leads. */
export function placeAfter<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): Place {
  const index = walk.route.steps.indexOf(step)
  const exit = exitsOf(walk.route, index).find(
    ({ when, name }) => when === undefined || holds(walk, step.id, [`The branch to "${name}"`, when]),
  )
  return exit?.to ?? walk.route.steps.length
}
