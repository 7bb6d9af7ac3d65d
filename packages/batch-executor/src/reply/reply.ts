// What one model call brings back: the values it read, the question it asks, its words. Values come first, so that a
// plan can be made before the first word is out.
import { BatchError } from '../errors.ts'
import { validateValue, type Field, type Fields } from '../route/fields.ts'
import { wireSchema, type JsonSchema } from '../prompt/wire-schema.ts'

/** The reply of a model, read from its structured output. Nothing in it is validated yet. */
export interface Reply {
  /** By field name; what was not said is not there. */
  readonly values: Readonly<Record<string, unknown>>
  /** The route that the user wants; `null` when it is none, `undefined` when there was nothing to choose. */
  readonly route: string | null | undefined
  /** The step whose question the message asks; `null` when it asks none. */
  readonly asks: string | null | undefined
  /** `undefined` when none was asked for. */
  readonly message: string | undefined
}

/** Anything that finds a field by its name. */
export type FieldLookup = Pick<Fields<unknown>, 'get'>

/** The names that the fields have on the wire: their own, unless a provider could refuse it. */
export type WireNames = Readonly<Record<string, string>>

/** Names fields so that every provider takes them. */
export function wireNames(fields: readonly string[]): WireNames {
  const safe = (field: string) => /^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(field)
  const named = fields.map((field, index) => {
    let name = safe(field) ? field : `field_${index + 1}`
    while (name !== field && fields.includes(name)) name += '_'
    return [name, field]
  })
  return Object.fromEntries(named) as WireNames
}

/** The id of a question in a reply, which names the route when there are several. */
export function askId(routeId: string | null, stepId: string): string {
  return routeId === null ? stepId : `${routeId}/${stepId}`
}

/** What the schema of a reply is made of. */
export interface ReplyOutline {
  readonly fields: FieldLookup
  readonly names: WireNames
  readonly task: 'both' | 'read' | 'reply'
  /** The routes to choose from, if there is a choice. */
  readonly routeIds: readonly string[]
  /** The questions that the message may ask. */
  readonly askIds: readonly string[]
}

/** The schema of a reply: what was read comes before the message, so that it is complete before the first word. */
export function replySchema({ fields, names, task, routeIds, askIds }: ReplyOutline): JsonSchema {
  const entries = Object.entries(names).map(([name, field]) => [name, wireSchema(fields.get(field) as Field)])
  const route = { ...oneOf(routeIds), description: 'The id of what the user wants now.' }
  const asks = { ...oneOf(askIds), description: 'The id of the question that the message asks.' }
  const reads = entries.length > 0 || routeIds.length > 0
  return closed({
    ...(routeIds.length > 0 && { route }),
    ...(entries.length > 0 && { values: closed(Object.fromEntries(entries) as JsonSchema) }),
    ...(reads && task !== 'read' && { asks }),
    ...(task !== 'read' && { message: { type: 'string', description: 'What the user is told.' } }),
  })
}

function oneOf(ids: readonly string[]): JsonSchema {
  const none = { type: 'null' }
  return ids.length === 0 ? none : { anyOf: [{ type: 'string', enum: ids }, none] }
}

function closed(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** What a reply answers. */
export interface ReplyContext {
  readonly names: WireNames
  readonly fields: FieldLookup
}

/**
 * Reads what a model wrote, or what it wrote before the message.
 *
 * Everything that a model can get wrong is let through here, to be refused value by value.
 */
export function readReply(output: unknown, { names, fields }: ReplyContext): Reply {
  const { route, values, asks, message } = isRecord(output) ? output : {}
  const said = Object.entries(isRecord(values) ? values : {}).filter(([, value]) => value !== null)
  const named = said.map(([name, value]) => {
    const field = Object.hasOwn(names, name) ? String(names[name]) : name
    return [field, withoutFillers(fields.get(field), value)]
  })
  return {
    route: idOrNull(route),
    values: Object.fromEntries(named) as Reply['values'],
    asks: idOrNull(asks),
    message: typeof message === 'string' ? message : undefined,
  }
}

/** Tells whether the part of an output before its message holds all that a reply's schema puts there. */
export function isWholeHead(head: Readonly<Record<string, unknown>>, schema: JsonSchema): boolean {
  const required = schema['required'] as readonly string[]
  return required.every(name => name === 'message' || Object.hasOwn(head, name))
}

/** The error of an output without the message that was asked for. */
export function noMessage(output: unknown): BatchError {
  return new BatchError(
    'invalid-reply',
    `The model's output has no message, it is ${JSON.stringify(output)?.slice(0, 200)}. Return the object that the prompt's schema describes.`,
  )
}

function idOrNull(value: unknown): string | null | undefined {
  return typeof value === 'string' || value === null ? value : undefined
}

// A strict wire says null for an absent property; a schema whose property is optional takes only its absence.
function withoutFillers(field: Field | undefined, value: unknown): unknown {
  if (field === undefined || typeof value !== 'object' || validateValue(field, value).valid) return value
  return withoutNulls(value)
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const said = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(said.map(([key, inner]) => [key, withoutNulls(inner)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
