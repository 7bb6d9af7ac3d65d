// Entering a batch: its prepare hooks run one by one, what they return becomes data, and the visits are marked.
import { BatchError } from '../errors.ts'
import type { RouteStep } from '../route/flow-step.ts'
import { runHook, type HookTurn } from '../route/hook.ts'
import { plan, type Plan, type PlanOptions } from './plan.ts'
import { stepsOf, type Route } from '../route/route.ts'
import type { Session } from '../session/session.ts'
import { setValues } from '../session/set-values.ts'
import { markVisit, renewVisits, visitCount } from '../session/visit.ts'

/** A batch to be entered. */
export interface BatchEntry {
  readonly plan: Plan
  readonly options: PlanOptions
  /** Steps that this turn entered before. */
  readonly before: readonly string[]
  /** Told of each step once it is entered, with the plan made after it. */
  readonly onEntered: (stepId: string, plan: Plan) => void
}

/** A batch that was entered, with the session and the plan after it. */
export interface EnteredBatch<TData> {
  readonly session: Session<TData>
  readonly plan: Plan
}

/**
 * Enters the steps of a plan's batch in order.
 *
 * After each prepare hook the plan is made again with what the hook returned, so that a step which that made possible
 * joins the batch, and one which it made needless leaves it. What a hook returns undoes no visit of an earlier step, so
 * that hooks cannot go round; a later step that saw the old value is visited again.
 *
 * *Throws* the `BatchError` of the hook that failed.
 */
export async function enterBatch<TData, TContext>(
  turn: HookTurn<TData, TContext>,
  entry: BatchEntry,
): Promise<EnteredBatch<TData>> {
  const { route } = turn
  const { options, before } = entry
  const { maxSteps = Infinity } = options
  const entered: string[] = []
  let { session } = turn
  let current = entry.plan
  for (;;) {
    const step = stepsOf(route).find(({ id }) => id === current.batch[0])
    if (step === undefined) return { session, plan: current }
    const visit = visitCount(session, route.id, step.id) + 1
    const values = await runHook({ ...turn, session }, { name: 'prepare', step, visit })
    const earlier = [...before, ...entered, ...doneBefore(current, step.id)]
    const written = values === undefined ? session : writeFrom(route, session, { step, values })
    session = markVisit(written === session ? session : renewVisits(written, route, earlier), route, step)
    entered.push(step.id)
    current = plan(session, route, { ...options, maxSteps: maxSteps - entered.length })
    entry.onEntered(step.id, current)
  }
}

/** The steps on the way to this one that are done. */
function doneBefore({ steps }: Plan, stepId: string): readonly string[] {
  const here = steps.findIndex(({ id }) => id === stepId)
  return steps.slice(0, here).flatMap(({ id, status }) => (status === 'done' ? [id] : []))
}

function writeFrom<TData>(
  route: Route<TData, never>,
  session: Session<TData>,
  { step, values }: { readonly step: RouteStep<TData, never>; readonly values: Readonly<Record<string, unknown>> },
): Session<TData> {
  const { fields } = route
  const written = setValues(session, values as never, { fields, source: 'hook', stepId: step.id })
  if (written.issues.length === 0) return written.session
  throw new BatchError(
    'prepare-failed',
    `The prepare hook of step "${step.id}" returned values that cannot be kept: ${written.issues.map(issue => issue.message).join(' ')} Return valid fields of the route only.`,
    { routeId: route.id, stepId: step.id },
  )
}
