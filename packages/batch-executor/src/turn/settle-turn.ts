// The end of a turn: what it asked is counted and remembered, and the next turn begins.
import type { FieldName } from '../route/fields.ts'
import { frozenJson } from '../frozen-json.ts'
import type { Plan } from './plan.ts'
import { asksOf, revisionsOf, type Session } from '../session/session.ts'

/**
 * Closes a turn with the plan it ended on: the conversation is on its route from now on.
 *
 * Each field of the plan's question counts as asked once more, and the question is remembered together with the
 * revisions of all values, so that a confirmation can tell what it was asked about.
 */
export function settleTurn<TData>(session: Session<TData>, plan: Plan): Session<TData> {
  const { routeId } = plan
  const { asking: _, ...before } = session
  const rest = { ...before, turn: session.turn + 1, ...(routeId !== null && { routeId }) }
  if (plan.ask === undefined || routeId === null) return frozenJson(rest, 'session')
  const { stepId, fields } = plan.ask
  const asks = { ...session.asks, ...Object.fromEntries(fields.map(field => [field, asksOf(session, field) + 1])) }
  const saw = revisionsOf(session, Object.keys(session.data) as FieldName<TData>[])
  return frozenJson({ ...rest, asks, asking: { routeId, stepId, fields, saw } }, 'session')
}
