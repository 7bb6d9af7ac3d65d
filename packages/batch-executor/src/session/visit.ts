// That a step is behind us: marked in the session with the revisions of the values it saw, and undone by a new value.
import type { RouteStep } from '../route/flow-step.ts'
import { frozenJson } from '../frozen-json.ts'
import { stepsOf, type Route } from '../route/route.ts'
import { revisionsOf, type Session, type Visit } from './session.ts'

function seenBy<TData>(session: Session<TData>, step: RouteStep<TData, never>): Readonly<Record<string, number>> {
  return revisionsOf(session, [...new Set([...(step.requires ?? []), ...(step.collect ?? [])])])
}

function visitOf<TData>(session: Session<TData>, routeId: string, stepId: string): Visit | undefined {
  return session.visits.find(visit => visit.routeId === routeId && visit.stepId === stepId)
}

/** Tells whether a step was visited and none of the values it collects or requires has changed since. */
export function isVisited<TData>(
  session: Session<TData>,
  route: Route<TData, never>,
  step: RouteStep<TData, never>,
): boolean {
  const visit = visitOf(session, route.id, step.id)
  if (visit === undefined) return false
  return Object.entries(seenBy(session, step)).every(([field, revision]) => visit.saw[field] === revision)
}

/** How often a step has been visited. */
export function visitCount<TData>(session: Session<TData>, routeId: string, stepId: string): number {
  return visitOf(session, routeId, stepId)?.count ?? 0
}

/** Marks one more visit of a step. */
export function markVisit<TData>(
  session: Session<TData>,
  route: Route<TData, never>,
  step: RouteStep<TData, never>,
): Session<TData> {
  const count = visitCount(session, route.id, step.id) + 1
  const visit: Visit = { routeId: route.id, stepId: step.id, count, turn: session.turn, saw: seenBy(session, step) }
  const others = session.visits.filter(other => other.routeId !== route.id || other.stepId !== step.id)
  return frozenJson({ ...session, visits: [...others, visit] }, 'session')
}

/** Takes what the values are now as what these visited steps saw: the visit stays the same one. */
export function renewVisits<TData>(
  session: Session<TData>,
  route: Route<TData, never>,
  stepIds: readonly string[],
): Session<TData> {
  const renewed = stepsOf(route).filter(({ id }) => stepIds.includes(id))
  const visits = session.visits.map(visit => {
    const step = visit.routeId === route.id ? renewed.find(({ id }) => id === visit.stepId) : undefined
    return step === undefined ? visit : { ...visit, saw: seenBy(session, step) }
  })
  return frozenJson({ ...session, visits }, 'session')
}
