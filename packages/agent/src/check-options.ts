// Options that would otherwise fail far from where they were given, in words that say nothing.
import type { AgentMemory, RequestContext } from '@lockstep/processors'
import { AgentError } from './errors.ts'

/** Throws: `invalid-option` for a value that no request context can be. */
export function checkRequestContext(value: unknown): asserts value is RequestContext {
  if (!has(value, 'get'))
    throw invalid('requestContext', value, 'Give `new RequestContext({ … })` with what is to be in it.')
}

/** Throws: `invalid-option` for a value that is no memory, such as a store. */
export function checkMemory(value: unknown): asserts value is AgentMemory | undefined {
  if (value === undefined || has(value, 'around')) return
  const cure = has(value, 'commit')
    ? 'That is a store: give `memory({ store })` of @lockstep/memory.'
    : 'Give `memory({ store })` of @lockstep/memory, or leave it out.'
  throw invalid('memory', value, cure)
}

/** Throws: `invalid-option` for a value that is no list. */
export function checkList(name: string, value: unknown, entry: string): void {
  if (value !== undefined && !Array.isArray(value)) throw invalid(name, value, `Give an array: [${entry}].`)
}

function has(value: unknown, method: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function'
}

function invalid(name: string, value: unknown, cure: string): AgentError {
  const isObject = typeof value === 'object' && value !== null
  const given = isObject ? `an object with the keys ${JSON.stringify(Object.keys(value))}` : JSON.stringify(value)
  return new AgentError('invalid-option', `${name} is ${given ?? typeof value}. ${cure}`)
}
