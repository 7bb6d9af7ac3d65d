// The checks of a route: every mistake an author can make is found before the first message, and named with its cure.
import { BatchError, type BatchErrorCode } from '../errors.ts'
import { END_ROUTE, type RouteStep } from './flow-step.ts'
import { exitsOf, stepsOf, type Route } from './route.ts'

/** Throws a `BatchError` for the first mistake in a route. */
export function checkRoute<TData>(route: Route<TData, never>): void {
  if (stepsOf(route).length === 0) throw mistake(route, 'empty-route', 'has no steps. Give it at least one.')
  for (const step of stepsOf(route)) checkStep(route, step)
  checkFieldLists(route)
  for (const [index, step] of route.steps.entries()) if (step !== END_ROUTE) checkExits(route, step, index)
  checkReach(route)
}

function mistake<TData>(route: Route<TData, never>, code: BatchErrorCode, fact: string): BatchError {
  return new BatchError(code, `Route "${route.title}" ${fact}`, { routeId: route.id })
}

function checkStep<TData>(route: Route<TData, never>, step: RouteStep<TData, never>): void {
  const { id, collect = [], requires = [], prompt, maxAsks } = step
  const wrong = (code: BatchErrorCode, fact: string) =>
    new BatchError(code, `Step "${id}" of route "${route.title}" ${fact}`, { routeId: route.id, stepId: id })
  if (stepsOf(route).filter(other => other.id === id).length > 1) {
    throw wrong('duplicate-step', 'is there more than once. Give each step an id of its own.')
  }
  const unknown = [...collect, ...requires].find(field => route.fields.get(field) === undefined)
  if (unknown !== undefined) {
    throw wrong('unknown-field', `names the field "${unknown}", but the fields are ${route.fields.names.join(', ')}.`)
  }
  if (collect.length > 0 && (prompt === undefined || prompt === '')) {
    throw wrong('missing-prompt', `collects ${collect.join(', ')} but asks nothing. Give it a prompt.`)
  }
  if (maxAsks !== undefined && !(maxAsks >= 0)) {
    throw wrong('invalid-option', `has maxAsks ${maxAsks}. Give a number from 0, or leave it out.`)
  }
}

function checkFieldLists<TData>(route: Route<TData, never>): void {
  const { requiredFields, optionalFields, fields } = route
  const unknown = [...requiredFields, ...optionalFields].find(field => fields.get(field) === undefined)
  if (unknown !== undefined) {
    throw mistake(route, 'unknown-field', `lists "${unknown}", but the fields are ${fields.names.join(', ')}.`)
  }
  const both = requiredFields.find(field => optionalFields.includes(field))
  if (both !== undefined) {
    throw mistake(route, 'conflicting-fields', `lists "${both}" as required and as optional. Keep one of them.`)
  }
  const asked = stepsOf(route).flatMap(step => step.collect ?? [])
  const unasked = requiredFields.find(field => !asked.includes(field))
  if (unasked !== undefined) {
    throw mistake(
      route,
      'uncollected-field',
      `requires "${unasked}", but no step collects it. Add a step that asks for it, or list it in optionalFields.`,
    )
  }
}

function checkExits<TData>(route: Route<TData, never>, step: RouteStep<TData, never>, index: number): void {
  const wrong = (code: BatchErrorCode, fact: string) =>
    new BatchError(code, `Step "${step.id}" of route "${route.title}" ${fact}`, { routeId: route.id, stepId: step.id })
  for (const { to, name } of exitsOf(route, index)) {
    if (to === undefined) {
      const ids = stepsOf(route).map(({ id }) => id)
      throw wrong('unknown-step', `goes to "${name}", but the steps are ${ids.join(', ')}.`)
    }
    if (to !== END_ROUTE && to <= index) {
      throw wrong(
        'backward-branch',
        `goes back to "${name}", and a route that goes back can go round for ever. Put "${name}" further down; to ask something again, clear its value.`,
      )
    }
  }
}

function checkReach<TData>(route: Route<TData, never>): void {
  const reached = new Set<unknown>([0])
  for (const [index, step] of route.steps.entries()) {
    if (step === END_ROUTE) continue
    if (!reached.has(index)) {
      throw mistake(
        route,
        'unreachable-step',
        `never gets to step "${step.id}": every step before it goes elsewhere. Remove it, or lead a branch to it.`,
      )
    }
    for (const { to } of exitsOf(route, index)) reached.add(to)
  }
}
