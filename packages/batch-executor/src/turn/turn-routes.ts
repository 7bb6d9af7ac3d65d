// The routes of a turn: all that the message may choose from, and the one that the conversation is on.
import { BatchError } from '../errors.ts'
import { joinFields, type Field, type Fields } from '../route/fields.ts'
import { plan, planWithoutRoute, type Plan, type PlanOptions } from './plan.ts'
import type { Route } from '../route/route.ts'
import type { Session } from '../session/session.ts'

/** The routes of one turn. */
export class TurnRoutes<TData, TContext> {
  readonly all: readonly Route<TData, TContext>[]
  /** The route that the conversation is on when the turn begins: the only one, or that of the session. */
  readonly current: Route<TData, TContext> | undefined
  readonly #options: PlanOptions

  /**
   * *Throws* `duplicate-route` when two routes have one id, `empty-route` when there is none, `conflicting-fields` when two
   * have a field of the same name that behaves differently.
   */
  constructor(routes: readonly Route<TData, TContext>[], session: Session<TData>, options: PlanOptions) {
    const ids = routes.map(({ id }) => id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) {
      throw new BatchError('duplicate-route', `There are two routes "${twice}". Give each route an id of its own.`)
    }
    const [only, ...others] = routes
    if (only === undefined) throw new BatchError('empty-route', 'The turn has no routes. Give it at least one.')
    checkShared(routes.map(route => route.fields))
    this.all = routes
    this.current = others.length === 0 ? only : this.named(session.routeId)
    this.#options = { ...options, maxSteps: Infinity }
  }

  /** The fields of all routes. */
  get fields(): Fields<TData> {
    return joinFields(this.all.map(route => route.fields))
  }

  named(id: string | null | undefined): Route<TData, TContext> | undefined {
    return this.all.find(route => route.id === id)
  }

  /** All routes, with this one first. */
  inOrder(first: Route<TData, TContext> | undefined): readonly Route<TData, TContext>[] {
    return first === undefined ? this.all : [first, ...this.except(first)]
  }

  except(left: Route<TData, TContext> | undefined): readonly Route<TData, TContext>[] {
    return this.all.filter(route => route !== left)
  }

  /** Where a session stands on a route, or on none. */
  planOf(session: Session<TData>, route: Route<TData, TContext> | undefined): Plan {
    return route === undefined ? planWithoutRoute(session) : plan(session, route, this.#options)
  }
}

function checkShared<TData>(all: readonly Fields<TData>[]): void {
  const [first, ...others] = new Set(all)
  if (first === undefined || others.length === 0) return
  const policies = new Map<string, string>()
  for (const fields of [first, ...others]) {
    for (const name of fields.names) {
      const policy = policyOf(fields.get(name))
      if ((policies.get(name) ?? policy) !== policy) {
        throw new BatchError(
          'conflicting-fields',
          `Two routes have a field "${name}" that behaves differently, but a session has one value for it. Give them other names, or the same fields.`,
        )
      }
      policies.set(name, policy)
    }
  }
}

function policyOf({ dependsOn, confirms, locked, sensitive, quoted }: Partial<Field> = {}): string {
  return JSON.stringify([dependsOn, confirms, locked, sensitive, quoted])
}
