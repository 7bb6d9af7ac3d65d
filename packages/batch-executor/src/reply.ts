// What one model call brings back: the values it read, the question it asks, its words. Values come first, so that a
// plan can be made before the first word is out.
import { BatchError } from './errors.ts'
import { validateValue, type Field, type Fields } from './fields.ts'
import { wireSchema, type JsonSchema } from './wire-schema.ts'

/** The reply of a model, read from its structured output. Nothing in it is validated yet. */
export interface Reply {
  /** By field name; what was not said is not there. */
  readonly values: Readonly<Record<string, unknown>>
  /** The step whose question the message asks; `null` when it asks none. */
  readonly asks: string | null | undefined
  readonly message: string
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

/** The schema of a reply: `values` and `asks` when there is something to read, and `message`. */
export function replySchema(fields: FieldLookup, names: WireNames, stepIds: readonly string[]): JsonSchema {
  const message = { type: 'string', description: 'What the user is told.' }
  const entries = Object.entries(names).map(([name, field]) => [name, wireSchema(fields.get(field) as Field)])
  if (entries.length === 0) return closed({ message })
  const none = { type: 'null' }
  const asks = stepIds.length === 0 ? none : { anyOf: [{ type: 'string', enum: stepIds }, none] }
  return closed({
    values: closed(Object.fromEntries(entries) as JsonSchema),
    asks: { ...asks, description: 'The id of the question that the message asks.' },
    message,
  })
}

function closed(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/**
 * Reads a structured output.
 *
 * *Throws* `invalid-reply` when there is no message in it; everything else a model can get wrong is let through, to be
 * refused value by value.
 */
export function readReply(output: unknown, names: WireNames, fields: FieldLookup): Reply {
  const { values, asks, message } = isRecord(output) ? output : {}
  if (typeof message !== 'string') {
    throw new BatchError(
      'invalid-reply',
      `The model's output has no message, it is ${JSON.stringify(output)?.slice(0, 200)}. Return the object that the prompt's schema describes.`,
    )
  }
  const said = Object.entries(isRecord(values) ? values : {}).filter(([, value]) => value !== null)
  const named = said.map(([name, value]) => {
    const field = Object.hasOwn(names, name) ? String(names[name]) : name
    return [field, withoutFillers(fields.get(field), value)]
  })
  return {
    values: Object.fromEntries(named) as Reply['values'],
    asks: typeof asks === 'string' || asks === null ? asks : undefined,
    message,
  }
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
