// An answer that is certain without a model: the whole message is the value that was asked for.
import { validateValue, type Field } from '../route/fields.ts'
import type { Route } from '../route/route.ts'
import { isSaid, type Session } from '../session/session.ts'
import { wireSchema } from '../prompt/wire-schema.ts'

/** The values that a message gives for certain: the answer to the one field that was asked for, by that field's `match`. */
export function matchAnswer<TData>(
  session: Session<TData>,
  route: Route<TData, never>,
  words: string,
): Readonly<Record<string, unknown>> | undefined {
  const { asking } = session
  const [name, ...others] = asking?.routeId === route.id ? asking.fields : []
  const field = name === undefined || others.length > 0 ? undefined : route.fields.get(name)
  if (field?.match === undefined) return undefined
  const value = field.match === 'exact' ? exactValue(field, words) : field.match(words)
  return isSaid(value) && validateValue(field, value).valid ? { [field.name]: value } : undefined
}

/** The fixed value or the number that a message is, apart from case and the full stop. */
function exactValue(field: Field, words: string): unknown {
  const plain = (text: string) => text.trim().replace(/[.!]$/, '').toLowerCase()
  const said = plain(words)
  const fixed = fixedValues(wireSchema(field)).find(value => plain(String(value)) === said)
  if (fixed !== undefined) return fixed
  return /^[+-]?\d+(\.\d+)?$/.test(said) ? Number(said) : undefined
}

function fixedValues(schema: unknown): readonly unknown[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { enum: values, anyOf } = schema as { readonly enum?: unknown; readonly anyOf?: unknown }
  const own = Array.isArray(values) ? values.filter(value => value !== null) : []
  return [...own, ...(Array.isArray(anyOf) ? anyOf.flatMap(fixedValues) : [])]
}
