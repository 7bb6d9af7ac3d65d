// Where a conversation stands: what is known and from where, what was asked, which steps were visited. Frozen JSON.
import type { Fields, FieldName } from '../route/fields.ts'
import type { KnownData } from '../route/flow-step.ts'

/** Who gave a value: it was there at the start, a message said it, a hook returned it, or other code set it. */
export type Source = 'initial' | 'message' | 'hook' | 'code'

/** Where one value comes from. */
export interface Provenance {
  readonly source: Source
  /** The turn, counted from 0. */
  readonly turn: number
  /** The write, counted from 1 over the whole session: a value that was replaced has a higher one. */
  readonly revision: number
  /** The words the value came from. */
  readonly words?: string
  /** The step whose hook returned the value. */
  readonly stepId?: string
}

/** That a step was satisfied and its hooks ran, and the revisions of the values it saw. */
export interface Visit {
  readonly routeId: string
  readonly stepId: string
  /** How many times the step was visited, this time included. */
  readonly count: number
  readonly turn: number
  readonly saw: Readonly<Record<string, number>>
}

/** The question that the user is about to answer, and the revisions of all values when it was asked. */
export interface Asking {
  readonly routeId: string
  readonly stepId: string
  readonly fields: readonly string[]
  readonly saw: Readonly<Record<string, number>>
}

/**
 * The state of a conversation: frozen, versioned JSON. Every operation returns another one.
 *
 * There is no position in it: `plan` derives that from what is known.
 */
export interface Session<TData> {
  readonly version: 1
  readonly id: string
  /** How many turns were settled. */
  readonly turn: number
  /** How many writes were made. */
  readonly revision: number
  readonly data: KnownData<TData>
  readonly provenance: Readonly<Partial<Record<FieldName<TData>, Provenance>>>
  /** How often each field was asked for since it was last known. */
  readonly asks: Readonly<Partial<Record<FieldName<TData>, number>>>
  readonly visits: readonly Visit[]
  readonly asking?: Asking
  /** The route that the conversation is on. */
  readonly routeId?: string
}

/** The revision of a field's value, 0 when it has none. */
export function revisionOf<TData>(session: Session<TData>, field: string): number {
  return own<Provenance>(session.provenance, field)?.revision ?? 0
}

/** How often a field was asked for since it was last known. */
export function asksOf<TData>(session: Session<TData>, field: string): number {
  return own<number>(session.asks, field) ?? 0
}

/** The value of a field, `undefined` when it has none. */
export function valueOf<TData>(session: Session<TData>, field: string): unknown {
  return own<unknown>(session.data, field)
}

// A field may be called `constructor`: only what the record itself holds counts.
function own<T>(record: object, key: string): T | undefined {
  return Object.hasOwn(record, key) ? (record as Record<string, T>)[key] : undefined
}

/** The revisions of some fields, for comparing later. */
export function revisionsOf<TData>(
  session: Session<TData>,
  fields: readonly string[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(fields.map(field => [field, revisionOf(session, field)]))
}

/** Tells whether a value says something: `undefined`, `null` and `''` do not. */
export function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** Tells whether a field is known. A field that confirms others is known only when it is `true`. */
export function isKnown<TData>(session: Session<TData>, fields: Fields<TData>, name: string): boolean {
  const value = valueOf(session, name)
  return fields.get(name)?.confirms.length ? value === true : isSaid(value)
}
