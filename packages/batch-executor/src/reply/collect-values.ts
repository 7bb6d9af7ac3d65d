// What a message filled in: only what the route asks for is taken, and the rest is reported.
import { joinFields } from '../route/fields.ts'
import type { Issue } from '../issue.ts'
import { collectableFields, type Route } from '../route/route.ts'
import { isKnown, type Session } from '../session/session.ts'
import { setValues, type RawValues, type SessionChange } from '../session/set-values.ts'

/** The values that a message gave, and where to put them. */
export interface CollectOptions<TData> {
  readonly session: Session<TData>
  readonly route: Route<TData, never>
  /** Other routes that the message may have been about. */
  readonly others?: readonly Route<TData, never>[]
  /** By field name, not validated. */
  readonly values: Readonly<Record<string, unknown>>
  /** The user's words, kept as the provenance of what they gave. */
  readonly input?: string
}

/** What was taken, and what the route still lacks. */
export interface CollectedData<TData> extends SessionChange<TData> {
  /** The required fields that are unknown. */
  readonly missing: readonly string[]
}

/** Writes what a message gave into a session; a field that no step asks for belongs to code and is refused. */
export function collectValues<TData>(options: CollectOptions<TData>): CollectedData<TData> {
  const { session, route, others = [], values, input } = options
  const routes = [route, ...others]
  const fields = joinFields(routes.map(one => one.fields))
  const collectable: readonly string[] = routes.flatMap(one => collectableFields(one))
  const foreign = Object.keys(values).filter(name => fields.get(name) && !collectable.includes(name))
  const refused = foreign.map((field): Issue => {
    return { code: 'not-collected', field, message: `"${field}" is not for messages to give.` }
  })
  const own = Object.fromEntries(Object.entries(values).filter(([name]) => !foreign.includes(name)))
  const written = setValues(session, own as RawValues<TData>, {
    fields,
    source: 'message',
    routeId: route.id,
    ...(input !== undefined && { words: input }),
  })
  const missing = route.requiredFields.filter(field => !isKnown(written.session, route.fields, field))
  return { ...written, issues: [...refused, ...written.issues], missing }
}
