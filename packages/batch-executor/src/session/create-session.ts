// The beginning of a conversation, with what is known before anybody spoke.
import { BatchError } from '../errors.ts'
import type { Fields } from '../route/fields.ts'
import type { KnownData } from '../route/flow-step.ts'
import { frozenJson } from '../frozen-json.ts'
import type { Session } from './session.ts'
import { setValues } from './set-values.ts'

/** How a session begins. */
export interface SessionStart<TData> {
  readonly fields: Fields<TData>
  /** Absent: a random UUID. */
  readonly id?: string
  /** What is known from the start. Values that are `undefined`, `null` or `''` say nothing. */
  readonly data?: KnownData<TData>
}

/**
 * Begins a conversation.
 *
 * *Throws* `invalid-data` when a value given at the start is not valid.
 */
export function createSession<TData>(start: SessionStart<TData>): Session<TData> {
  const { fields, id = crypto.randomUUID(), data = {} } = start
  const nothing: Session<unknown> = {
    version: 1,
    id,
    turn: 0,
    revision: 0,
    data: {},
    provenance: {},
    asks: {},
    visits: [],
  }
  const empty = frozenJson(nothing, 'session') as Session<TData>
  const { session, issues } = setValues(empty, data, { fields, source: 'initial' })
  if (issues.length === 0) return session
  throw new BatchError(
    'invalid-data',
    `A session cannot start with these values: ${issues.map(issue => issue.message).join(' ')} Correct them, or leave them out to have them asked.`,
  )
}
