// Writing into a session: each value on its own, good ones kept, bad ones reported, what depended on them cleared.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { validateNow, validateValue, type Field, type FieldName, type Fields } from '../route/fields.ts'
import { frozenJson, sameJson } from '../frozen-json.ts'
import type { Issue } from '../issue.ts'
import { isSaid, revisionOf, valueOf, type Provenance, type Session, type Source } from './session.ts'

/** Values by field name, before they are validated. */
export type RawValues<TData> = { readonly [TName in FieldName<TData>]?: unknown }

/** Where the values of one write come from. */
export interface ValueOrigin<TData> {
  readonly fields: Fields<TData>
  readonly source: Source
  readonly words?: string
  readonly stepId?: string
  /** The route that the message is about: a confirmation counts only on the route that asked for it. */
  readonly routeId?: string
}

/** One field that changed: it was unknown, it was replaced, or it no longer holds because another one changed. */
export type ValueChange =
  | { readonly type: 'set'; readonly field: string }
  | { readonly type: 'corrected'; readonly field: string }
  | { readonly type: 'cleared'; readonly field: string; readonly because: string }

/** What a write did. */
export interface SessionChange<TData> {
  readonly session: Session<TData>
  readonly changes: readonly ValueChange[]
  readonly issues: readonly Issue[]
}

/** A write while it is being decided. */
interface Draft<TData> {
  readonly session: Session<TData>
  readonly origin: ValueOrigin<TData>
  /** The new values that differ from what is there. */
  readonly accepted: Map<string, unknown>
  /** What was said again without a change; it keeps its value even when what it depends on changed. */
  readonly repeated: Set<string>
  /** What another value of this write made impossible. */
  readonly broken: Map<string, string>
  readonly issues: Issue[]
}

/**
 * Writes values into a session, each validated on its own, and returns the session after it.
 *
 * `undefined`, `null` and `''` say nothing and are passed over; a value equal to the present one changes nothing. A
 * replaced value clears what depends on it, unless the same write gives that too. Rules between fields, if the schema
 * is one object with such rules, refuse the value they name, or clear it when it was there before.
 *
 * *Throws* `async-schema` and `not-json`, which are mistakes in the schema; a bad value is an issue, never a throw.
 */
export function setValues<TData>(
  session: Session<TData>,
  values: RawValues<TData>,
  origin: ValueOrigin<TData>,
): SessionChange<TData> {
  const draft: Draft<TData> = {
    session,
    origin,
    accepted: new Map(),
    repeated: new Set(),
    broken: new Map(),
    issues: [],
  }
  for (const [name, value] of Object.entries(values)) if (isSaid(value)) take(draft, name, value)
  for (const name of draft.accepted.keys()) refuseStrayConfirmation(draft, name)
  while (applyRulesBetweenFields(draft));
  return commit(draft)
}

/** Forgets values and everything that depends on them, so that they are asked again. */
export function clearValues<TData>(
  session: Session<TData>,
  names: readonly FieldName<TData>[],
  fields: Fields<TData>,
): SessionChange<TData> {
  const origin: ValueOrigin<TData> = { fields, source: 'code' }
  const broken = new Map<string, string>(names.filter(name => isThere(session, name)).map(name => [name, name]))
  return commit({ session, origin, accepted: new Map(), repeated: new Set(), broken, issues: [] })
}

function isThere<TData>(session: Session<TData>, name: string): boolean {
  return revisionOf(session, name) > 0
}

function take<TData>(draft: Draft<TData>, name: string, value: unknown): void {
  const { session, origin, issues } = draft
  const field = origin.fields.get(name)
  if (field === undefined) {
    issues.push({ code: 'unknown-field', field: name, message: `There is no field "${name}".` })
    return
  }
  const validation = validateValue(field, value)
  if (!validation.valid) {
    issues.push({ code: 'invalid-value', field: name, message: `"${name}" was refused: ${validation.reason}.` })
    return
  }
  if (!isSaid(validation.value)) return
  if (field.quoted && origin.words !== undefined && !isQuoted(value, origin.words)) {
    issues.push({ code: 'not-said', field: name, message: `"${name}" was refused: the message does not say it.` })
    return
  }
  const kept = frozenJson(validation.value, name)
  if (isThere(session, name) && sameJson(kept, valueOf(session, name))) {
    // A "yes" said again agrees to nothing new: it must not outlive a change in the same message.
    if (origin.source !== 'message' || field.confirms.length === 0) draft.repeated.add(name)
  } else if (origin.source === 'message' && field.locked && isThere(session, name)) {
    issues.push({ code: 'locked', field: name, message: `"${name}" is settled and cannot be changed.` })
  } else draft.accepted.set(name, kept)
}

/** Tells whether the words have this value in them, in any case and with any space and punctuation. */
function isQuoted(value: unknown, words: string): boolean {
  const plain = (text: string) => ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `
  return plain(words).includes(plain(typeof value === 'string' ? value : JSON.stringify(value)))
}

function refuseStrayConfirmation<TData>(draft: Draft<TData>, name: string): void {
  const { session, origin, accepted, issues } = draft
  const confirms = origin.fields.get(name)?.confirms ?? []
  if (origin.source !== 'message' || confirms.length === 0) return
  const { asking } = session
  const isHere = origin.routeId === undefined || origin.routeId === asking?.routeId
  const asked = isHere && asking?.fields.includes(name) ? asking.saw : undefined
  const changed = confirms.find(other => accepted.has(other) || (asked?.[other] ?? 0) !== revisionOf(session, other))
  if (asked !== undefined && changed === undefined) return
  // "No, three of us" takes nothing back that the three of us do not: only a "yes" can be stray.
  const isYes = accepted.get(name) === true
  accepted.delete(name)
  if (!isYes) return
  issues.push(
    asked === undefined
      ? { code: 'not-asked', field: name, message: `"${name}" counts only as the answer to its question.` }
      : { code: 'changed-since-asked', field: name, message: `"${name}" does not cover the new "${changed}".` },
  )
}

/**
 * What stops holding: the transitive dependants of replaced and broken values that this write does not give itself. An
 * agreement stops holding with a new value as well: it was not about that.
 */
function clearedBy<TData>(draft: Draft<TData>): ReadonlyMap<string, string> {
  const { session, origin, accepted, repeated, broken } = draft
  const cleared = new Map(broken)
  const open = [...accepted.keys(), ...broken.keys()]
  for (let cause = open.pop(); cause !== undefined; cause = open.pop()) {
    for (const name of origin.fields.names) {
      const field = origin.fields.get(name)
      const isReplaced = isThere(session, cause)
      const depends = (isReplaced && field?.dependsOn.includes(cause)) || field?.confirms.includes(cause)
      if (!depends || accepted.has(name) || repeated.has(name) || cleared.has(name) || !isThere(session, name)) continue
      cleared.set(name, cause)
      open.push(name)
    }
  }
  return cleared
}

function merged<TData>(draft: Draft<TData>, cleared: ReadonlyMap<string, string>): Record<string, unknown> {
  const kept = Object.entries(draft.session.data).filter(([name]) => !cleared.has(name))
  return Object.fromEntries([...kept, ...draft.accepted])
}

/** Refuses or breaks what the whole schema objects to; true when that changed the write, so that it must look again. */
function applyRulesBetweenFields<TData>(draft: Draft<TData>): boolean {
  const { whole } = draft.origin.fields
  if (whole === undefined || draft.accepted.size === 0) return false
  const data = merged(draft, clearedBy(draft))
  const objections = validateNow(whole, data).issues ?? []
  // One at a time: what the first refusal takes away can be all that the others are about.
  return objections.some(objection => blame(draft, data, objection))
}

function blame<TData>(draft: Draft<TData>, data: Record<string, unknown>, objection: StandardSchemaV1.Issue): boolean {
  const { accepted, broken, issues, origin } = draft
  const [head] = objection.path ?? []
  const name = head === undefined ? undefined : String(typeof head === 'object' ? head.key : head)
  const field = name === undefined ? undefined : origin.fields.get(name)
  if (name !== undefined) {
    // What is absent, or stored in another form than it is given in, says nothing about the rules between fields.
    if (field === undefined || !Object.hasOwn(data, name) || !validateValue(field, data[name]).valid) return false
  }
  const refused = name === undefined ? [...accepted.keys()] : [name]
  const reason = refused.some(one => origin.fields.get(one)?.sensitive) ? 'not valid' : objection.message
  const [cause = ''] = accepted.keys()
  for (const one of refused) {
    if (!accepted.delete(one)) broken.set(one, cause)
    issues.push({ code: 'invalid-value', field: one, message: `"${one}" was refused: ${reason}.` })
  }
  return refused.length > 0
}

function commit<TData>(draft: Draft<TData>): SessionChange<TData> {
  const { session, origin, accepted, issues } = draft
  const cleared = clearedBy(draft)
  if (accepted.size === 0 && cleared.size === 0) return { session, changes: [], issues }
  const revision = session.revision + 1
  const { source, words, stepId } = origin
  const provenance: Provenance = {
    source,
    turn: session.turn,
    revision,
    ...(words === undefined ? {} : { words }),
    ...(stepId === undefined ? {} : { stepId }),
  }
  const sources = Object.entries(session.provenance).filter(([name]) => !cleared.has(name))
  const settled = (name: string) => cleared.has(name) || isSettledBy(origin.fields.get(name), accepted.get(name))
  const next = {
    ...session,
    revision,
    data: merged(draft, cleared),
    provenance: Object.fromEntries([...sources, ...[...accepted.keys()].map(name => [name, provenance])]),
    asks: Object.fromEntries(Object.entries(session.asks).filter(([name]) => !settled(name))),
  }
  const changes: ValueChange[] = [
    ...[...accepted.keys()].map((field): ValueChange => ({
      type: isThere(session, field) ? 'corrected' : 'set',
      field,
    })),
    ...[...cleared].map(([field, because]): ValueChange => ({ type: 'cleared', field, because })),
  ]
  return { session: frozenJson(next, 'session') as unknown as Session<TData>, changes, issues }
}

// A "no" to a confirmation is a value, but not yet an answer: its question goes on counting.
function isSettledBy(field: Field | undefined, value: unknown): boolean {
  return field?.confirms.length ? value === true : value !== undefined
}
