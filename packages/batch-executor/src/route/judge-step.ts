// One step looked at: whether it is done, skipped or satisfied, or which question has to be asked first.
import type { RouteStep } from './flow-step.ts'
import { lineOf, type Line } from '../turn/line.ts'
import { stepsOf } from './route.ts'
import { asksOf, isKnown } from '../session/session.ts'
import { isVisited } from '../session/visit.ts'
import { holds, type Walk } from './walk.ts'

/** What a plan finds when it looks at a step. */
export type Verdict =
  | { readonly status: 'skipped' | 'done' | 'batched' | 'exhausted' | 'blocked'; readonly reason: string }
  | { readonly status: 'asked'; readonly reason: string; readonly ask: Line }

/** Looks at one step with the data of now. */
export function judgeStep<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): Verdict {
  if (step.skipIf && holds(walk, step.id, ['skipIf', step.skipIf])) {
    return { status: 'skipped', reason: 'its skipIf holds' }
  }
  if (isVisited(walk.session, walk.route, step)) return { status: 'done', reason: 'visited with these values' }
  const required = missingRequirements(walk, step)
  if (required.length > 0) return askElsewhere(walk, step, required)
  const missing = missingFields(walk, step)
  if (missing.length > 0) return askNow(walk, step, missing)
  const { collect = [] } = step
  if (collect.length > 0 && !collect.some(field => isKnown(walk.session, walk.route.fields, field))) {
    return { status: 'skipped', reason: `${collect.join(', ')} is optional and was not given` }
  }
  return { status: 'batched', reason: 'all requirements satisfied' }
}

/** The unknown fields that a step needs from before: what it requires, and what its question confirms. */
function missingRequirements<TData>({ session, route }: Walk<TData>, step: RouteStep<TData, never>): readonly string[] {
  const collect: readonly string[] = step.collect ?? []
  const optional: readonly string[] = route.optionalFields
  const confirmed = collect
    .flatMap(field => route.fields.get(field)?.confirms ?? [])
    .filter(field => !optional.includes(field))
  const needed = new Set<string>([...(step.requires ?? []), ...confirmed])
  return [...needed].filter(field => !collect.includes(field) && !isKnown(session, route.fields, field))
}

/** The unknown fields that a step asks for, without the optional ones that were asked for often enough. */
export function missingFields<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): readonly string[] {
  const { session, route, options } = walk
  const { collect = [], requires = [], satisfiedBy = options.satisfiedBy ?? 'all', maxAsks = 1 } = step
  const unknown = collect.filter(field => !isKnown(session, route.fields, field))
  const enough = satisfiedBy === 'any' && unknown.length < collect.length
  return unknown.filter(
    field =>
      requires.includes(field) ||
      (!enough && (!route.optionalFields.includes(field) || asksOf(session, field) < maxAsks)),
  )
}

function askNow<TData>(walk: Walk<TData>, step: RouteStep<TData, never>, fields: readonly string[]): Verdict {
  const { maxAsks = walk.options.maxAsks ?? Infinity } = step
  const spent = fields.find(field => !isOptional(walk, field) && asksOf(walk.session, field) >= maxAsks)
  if (spent !== undefined) {
    return { status: 'exhausted', reason: `${spent} was asked for ${asksOf(walk.session, spent)} times` }
  }
  const ask = lineOf(walk, step, fields)
  const reason = `missing ${fields.join(', ')}`
  return ask === undefined ? { status: 'blocked', reason } : { status: 'asked', reason, ask }
}

function isOptional<TData>({ route }: Walk<TData>, field: string): boolean {
  return (route.optionalFields as readonly string[]).includes(field)
}

function askElsewhere<TData>(walk: Walk<TData>, step: RouteStep<TData, never>, missing: readonly string[]): Verdict {
  const found = collectorOf(walk, missing, [])
  if (found !== undefined) return askNow(walk, found.step, found.fields)
  const reason = `requires ${missing.join(', ')}, which no step asks for`
  return { status: 'blocked', reason }
}

/** The step that asks for what is missing; when that one lacks something itself, the step that asks for that. */
function collectorOf<TData>(
  walk: Walk<TData>,
  missing: readonly string[],
  passed: readonly string[],
): { readonly step: RouteStep<TData, never>; readonly fields: readonly string[] } | undefined {
  const step = stepsOf(walk.route).find(({ collect }) => collect?.some(field => missing.includes(field)))
  if (step === undefined || passed.includes(step.id)) return undefined
  const before = missingRequirements(walk, step)
  if (before.length > 0) return collectorOf(walk, before, [...passed, step.id])
  return { step, fields: (step.collect ?? []).filter(field => missing.includes(field)) }
}
