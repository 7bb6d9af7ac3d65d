// Making a route: ids are settled, every name and branch is checked, and it is frozen from then on.
import { checkRoute } from './check-route.ts'
import { plainFields, type FieldName, type Fields, type PlainData } from './fields.ts'
import { END_ROUTE, type FlowStep, type RouteStep } from './flow-step.ts'
import type { Route } from './route.ts'

/** What an author gives to make a route. */
export interface RouteOptions<TData, TContext = unknown> {
  /** Absent: the title in lower case with hyphens. */
  readonly id?: string
  readonly title: string
  /** What the route is for, in words for the model. */
  readonly description?: string
  /** Absent: the fields that the route names, each of which takes any text, number or boolean. */
  readonly fields?: Fields<TData>
  /** Absent: every collected field that is not optional. */
  readonly requiredFields?: readonly FieldName<NoInfer<TData>>[]
  /** Taken when volunteered; asked for once if a step collects them, never otherwise. They hold nothing up. */
  readonly optionalFields?: readonly FieldName<NoInfer<TData>>[]
  readonly steps: readonly (FlowStep<NoInfer<TData>, TContext> | typeof END_ROUTE)[]
}

/**
 * Makes a route: settles the ids, checks every name and every branch, and freezes it.
 *
 * *Order:* a route is read from top to bottom, and `next` only goes forward, so that no route can go round for ever.
 *
 * *Throws* a `BatchError` that names the step and the cure for each mistake a route can hold.
 *
 * *Example:* `createRoute({ title: 'Booking', fields, steps: [{ prompt: 'Which hotel?', collect: ['hotel'] }] })`
 */
export function createRoute<TData = PlainData, TContext = unknown>(
  given: RouteOptions<TData, TContext>,
): Route<TData, TContext> {
  // Steps that are no list are none, and the check of the route says so.
  const options = Array.isArray(given.steps) ? given : { ...given, steps: [] }
  const { title, description, optionalFields = [] } = options
  // Without fields the data type is that of plain ones.
  const fields = options.fields ?? (plainFields(namedIn(options)) as Fields<unknown> as Fields<TData>)
  const steps = options.steps.map((step, index) =>
    step === END_ROUTE ? step : frozenStep({ ...step, id: step.id ?? `step-${index + 1}` }),
  )
  const collected = steps.flatMap(step => (step === END_ROUTE ? [] : (step.collect ?? [])))
  const required = options.requiredFields ?? collected.filter(field => !optionalFields.includes(field))
  const route: Route<TData, TContext> = Object.freeze({
    id: options.id ?? (title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['route']).join('-'),
    title,
    description,
    fields,
    requiredFields: Object.freeze([...new Set(required)]),
    optionalFields: Object.freeze([...optionalFields]),
    steps: Object.freeze(steps),
  })
  checkRoute(route)
  return route
}

/** The fields that a route names without saying what they hold. */
function namedIn<TData>(options: RouteOptions<TData, never>): readonly string[] {
  const { requiredFields = [], optionalFields = [], steps } = options
  const ofSteps = steps.flatMap(step => (step === END_ROUTE ? [] : [...(step.collect ?? []), ...(step.requires ?? [])]))
  return [...new Set<string>([...requiredFields, ...optionalFields, ...ofSteps])]
}

function frozenStep<TData, TContext>(step: RouteStep<TData, TContext>): RouteStep<TData, TContext> {
  return Object.freeze({
    ...step,
    ...(step.collect && { collect: Object.freeze([...step.collect]) }),
    ...(step.requires && { requires: Object.freeze([...step.requires]) }),
    ...(typeof step.next === 'object' && {
      next: Object.freeze(step.next.map(branch => Object.freeze({ ...branch }))),
    }),
  })
}
