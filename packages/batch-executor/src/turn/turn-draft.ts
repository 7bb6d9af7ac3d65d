// What a turn changes while it is made, on sessions of its own: begin again and it is as if nothing had been done.
import { collectValues } from '../reply/collect-values.ts'
import { enterBatch } from './enter-batch.ts'
import type { HookTurn } from '../route/hook.ts'
import type { Issue } from '../issue.ts'
import { plan, spokenBy, type Plan, type PlanOptions } from './plan.ts'
import { stepsOf, type Route } from '../route/route.ts'
import type { Session } from '../session/session.ts'
import type { ValueChange } from '../session/set-values.ts'
import type { Speech } from './speech.ts'

/** What was said, and about which routes it may have been. */
export interface SaidValues<TData> {
  readonly routes: readonly Route<TData, never>[]
  readonly values: Readonly<Record<string, unknown>>
  readonly input?: string
}

/** The state of a turn: the session so far, the steps that were entered, what changed and what was refused. */
export class TurnDraft<TData, TContext> {
  readonly #options: PlanOptions
  #session: Session<TData>
  #entered: readonly string[] = []
  #changes: readonly ValueChange[] = []
  #issues: readonly Issue[] = []

  constructor(session: Session<TData>, options: PlanOptions) {
    this.#session = session
    this.#options = options
  }

  get session(): Session<TData> {
    return this.#session
  }

  /** The ids of the steps that were entered, in order. */
  get entered(): readonly string[] {
    return this.#entered
  }

  get changes(): readonly ValueChange[] {
    return this.#changes
  }

  get issues(): readonly Issue[] {
    return this.#issues
  }

  /** Adds issues that are not there yet. */
  report(issues: readonly Issue[]): void {
    const known = new Set(this.#issues.map(issue => JSON.stringify(issue)))
    this.#issues = [...this.#issues, ...issues.filter(issue => !known.has(JSON.stringify(issue)))]
  }

  /** Writes what was said, value by value. */
  collect({ routes: [route, ...others], values, input }: SaidValues<TData>): void {
    if (route === undefined) return
    const collected = collectValues({
      session: this.#session,
      route,
      others,
      values,
      ...(input !== undefined && { input }),
    })
    this.#session = collected.session
    this.#changes = [...this.#changes, ...collected.changes]
    this.#issues = [...this.#issues, ...collected.issues]
  }

  /**
   * Enters every step of a route that is satisfied, one batch after the other, and returns the plan that is left.
   *
   * Each plan on the way is passed to `tell`. *Throws* the `BatchError` of the prepare hook that failed.
   */
  async enter(turn: HookTurn<TData, TContext>, tell: (plan: Plan) => void): Promise<Plan> {
    const noted = (due: Plan) => {
      this.report(due.issues)
      tell(due)
    }
    for (;;) {
      const due = plan(this.#session, turn.route, this.#options)
      noted(due)
      const onEntered = (stepId: string, next: Plan) => {
        this.#entered = [...this.#entered, stepId]
        noted(next)
      }
      const entry = { plan: due, options: this.#options, before: this.#entered, onEntered }
      const batch = await enterBatch<TData, TContext>({ ...turn, session: this.#session }, entry)
      this.#session = batch.session
      if (batch.plan.stoppedReason !== 'max_steps_reached') return batch.plan
    }
  }

  /** What is to be said now: what the entered steps say, and the question of the plan that is left. */
  speechOf(route: Route<TData, never> | undefined, ending: Plan): Speech {
    if (route === undefined) return { routeId: null, says: [], ask: undefined }
    const issues: Issue[] = []
    const walk = { session: this.#session, route, options: this.#options, issues }
    const steps = stepsOf(route).filter(({ id }) => this.#entered.includes(id))
    const says = steps.flatMap(step => spokenBy(walk, step))
    this.report(issues)
    return { routeId: route.id, says, ask: ending.ask }
  }
}
