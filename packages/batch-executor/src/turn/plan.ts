// The pure core: a session and a route give a plan, which says what is done, what runs now, what is asked and why it
// stops. Nothing waits here and nothing is remembered: the position follows from the data.
import { END_ROUTE, type RouteStep } from '../route/flow-step.ts'
import { frozenJson } from '../frozen-json.ts'
import type { Issue } from '../issue.ts'
import { judgeStep, missingFields, type Verdict } from '../route/judge-step.ts'
import { lineOf, type Line } from './line.ts'
import type { Route } from '../route/route.ts'
import type { Session } from '../session/session.ts'
import { isVisited } from '../session/visit.ts'
import { holds, placeAfter, stepAt, type Here, type Place, type Walk } from '../route/walk.ts'

/** Why a plan goes no further. */
export type PlanStop =
  | 'needs_input'
  | 'end_route'
  | 'route_complete'
  | 'max_steps_reached'
  | 'max_asks_reached'
  | 'blocked'
  | 'no_route'

/** How far a plan goes, and when a step counts as satisfied. */
export interface PlanOptions {
  /** How many steps one batch may hold, and how many questions one prompt looks ahead to. Absent: any number. */
  readonly maxSteps?: number
  /** How often a required field is asked for, unless its step says otherwise. Absent: any number. */
  readonly maxAsks?: number
  /** Whether a step needs all the fields it collects or any one, unless the step says otherwise. Absent: `'all'`. */
  readonly satisfiedBy?: 'all' | 'any'
}

/** One step that a plan looked at. */
export interface PlannedStep {
  readonly id: string
  /** Its position in the route. */
  readonly index: number
  /**
   * `done` before, `batched` now or `skipped`; or where the plan stops: `asked`, `exhausted` (asked too often),
   * `blocked` (it requires what nobody asks for) or `deferred` (the batch is full).
   */
  readonly status: Verdict['status'] | 'deferred'
  readonly reason: string
}

/** What happens next on a route: frozen JSON. */
export interface Plan {
  readonly sessionId: string
  /** `null` when no route was chosen yet: then `stoppedReason` is `'no_route'`. */
  readonly routeId: string | null
  /** The steps on the way, in order, up to where the plan stops. */
  readonly steps: readonly PlannedStep[]
  /** The ids of the steps that are satisfied and were not visited yet: their hooks are due. */
  readonly batch: readonly string[]
  /** The next question. There is one exactly when `stoppedReason` is `'needs_input'`. */
  readonly ask?: Line
  /** What the batch says, the question, then a guess at what follows when it is answered. */
  readonly agenda: readonly Line[]
  readonly stoppedReason: PlanStop
  readonly stoppedAtStep?: string
  readonly issues: readonly Issue[]
}

/** The plan of a conversation that is on none of its routes yet. */
export function planWithoutRoute<TData>(session: Session<TData>): Plan {
  const nothing: Plan = {
    sessionId: session.id,
    routeId: null,
    steps: [],
    batch: [],
    agenda: [],
    stoppedReason: 'no_route',
    issues: [],
  }
  return frozenJson(nothing, 'plan')
}

const stops = { asked: 'needs_input', exhausted: 'max_asks_reached', blocked: 'blocked' } as const

/**
 * Says what happens next on a route, from the data alone.
 *
 * *Order:* a step whose `skipIf` holds is skipped; one that was visited with these values is done; one that lacks
 * nothing is batched; at the first that lacks something the plan stops with its question. A step that requires an
 * unknown field stops it with the question of the step that collects the field.
 *
 * *Cost:* one pass over the steps. *Throws* nothing: code of the route that throws is reported in `issues`.
 */
export function plan<TData>(session: Session<TData>, route: Route<TData, never>, options: PlanOptions = {}): Plan {
  const { maxSteps = Infinity } = options
  const walk: Walk<TData> = { session, route, options, issues: [] }
  const found = { steps: [] as PlannedStep[], batch: [] as string[], agenda: [] as Line[] }
  const stop = (how: Pick<Plan, 'stoppedReason' | 'stoppedAtStep' | 'ask'>): Plan =>
    frozenJson({ sessionId: session.id, routeId: route.id, ...found, ...how, issues: walk.issues }, 'plan')

  let place: Place = 0
  for (;;) {
    const step: Here<TData> = stepAt(walk, place)
    if (typeof step === 'string') return stop({ stoppedReason: step })
    const at = { id: step.id, index: route.steps.indexOf(step) }
    const verdict = judgeStep(walk, step)
    if (verdict.status === 'batched' && found.batch.length >= maxSteps) {
      found.steps.push({ ...at, status: 'deferred', reason: `the batch is full with ${maxSteps}` })
      return stop({ stoppedReason: 'max_steps_reached', stoppedAtStep: step.id })
    }
    found.steps.push({ ...at, status: verdict.status, reason: verdict.reason })
    if (verdict.status === 'asked') found.agenda.push(verdict.ask, ...guessAfter(walk, step, verdict.ask))
    if (verdict.status === 'asked' || verdict.status === 'exhausted' || verdict.status === 'blocked') {
      const ask = verdict.status === 'asked' ? { ask: verdict.ask } : {}
      return stop({ stoppedReason: stops[verdict.status], stoppedAtStep: step.id, ...ask })
    }
    if (verdict.status === 'batched') {
      found.batch.push(step.id)
      found.agenda.push(...spokenBy(walk, step))
    }
    place = placeAfter(walk, step)
  }
}

/** What a satisfied step says: its prompt, unless that was a question. */
export function spokenBy<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): readonly Line[] {
  const line = step.collect?.length || step.prompt === undefined ? undefined : lineOf(walk, step, [])
  return line === undefined ? [] : [line]
}

/**
 * Guesses what follows once the question of a step is answered, by walking on with the data of now.
 *
 * Where code of the route fails for want of the answer the guess ends, which is not worth a report.
 */
function guessAfter<TData>(walk: Walk<TData>, stopped: RouteStep<TData, never>, ask: Line): readonly Line[] {
  const guess: Walk<TData> = { ...walk, issues: [] }
  const lines: Line[] = []
  // The question may be another step's, which the one that stopped the plan requires.
  let place: Place = ask.stepId === stopped.id ? placeAfter(guess, stopped) : walk.route.steps.indexOf(stopped)
  while (place !== END_ROUTE && guess.issues.length === 0) {
    const step: Here<TData> = stepAt(guess, place)
    if (typeof step === 'string') break
    const ahead = linesAhead(guess, step)
    if (guess.issues.length === 0) lines.push(...ahead.filter(line => line.stepId !== ask.stepId))
    place = placeAfter(guess, step)
  }
  return lines
}

function linesAhead<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): readonly Line[] {
  if (step.skipIf && holds(walk, step.id, ['skipIf', step.skipIf])) return []
  if (isVisited(walk.session, walk.route, step)) return []
  const missing = missingFields(walk, step)
  const line = missing.length > 0 ? lineOf(walk, step, missing) : undefined
  return line === undefined ? spokenBy(walk, step) : [line]
}
