// The JSON Schema of one field as every strict provider takes it: closed, all required, absence said with null.
import type { StandardJSONSchemaV1 } from '@standard-schema/spec'
import { BatchError, reasonOf } from '../errors.ts'
import type { Field } from '../route/fields.ts'

/** A JSON Schema, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>

const notes = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
]

/**
 * The schema that a model fills in for a field, `null` included for what was not said.
 *
 * Keywords that strict providers refuse become words of the description: the value is validated afterwards anyway.
 *
 * *Throws* `no-json-schema` when the field's schema cannot be put in these terms.
 */
export function wireSchema(field: Field): JsonSchema {
  return nullable(strict(jsonSchemaOf(field), field.name))
}

function unfit(name: string, fact: string, cause?: unknown): BatchError {
  return new BatchError(
    'no-json-schema',
    `Field "${name}" cannot be sent to a model: ${fact}. Describe it with strings, numbers, booleans, enums, arrays and objects, in a library with Standard JSON Schema (zod 4.2, or valibot through toStandardJsonSchema).`,
    cause === undefined ? {} : { cause },
  )
}

function jsonSchemaOf(field: Field): JsonSchema {
  const standard = field.schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  if (standard.jsonSchema === undefined) throw unfit(field.name, 'its schema has no JSON form')
  try {
    return standard.jsonSchema.input({ target: 'draft-2020-12' })
  } catch (cause) {
    throw unfit(field.name, reasonOf(cause), cause)
  }
}

function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [...(Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]), { type: 'null' }] }
}

function strict(schema: JsonSchema, name: string): JsonSchema {
  const description = describe(schema)
  return { ...bare(schema, name), ...(description === '' ? {} : { description }) }
}

function describe(schema: JsonSchema): string {
  const kept = notes.filter(key => schema[key] !== undefined && !(key === 'pattern' && schema['format'] !== undefined))
  const said = kept.filter(key => Math.abs(Number(schema[key])) !== Number.MAX_SAFE_INTEGER)
  const noted = said.map(key => `${key} ${String(schema[key])}`).join(', ')
  return [schema['description'], noted && `(${noted})`].filter(Boolean).join(' ')
}

function bare(schema: JsonSchema, name: string): JsonSchema {
  const { type, properties, items } = schema
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options)) return { anyOf: options.map((option: JsonSchema) => strict(option, name)) }
  const values = schema['enum'] ?? ('const' in schema ? [schema['const']] : undefined)
  if (values !== undefined) return type === undefined ? { enum: values } : { type, enum: values }
  if (Array.isArray(type)) return { anyOf: type.map((one: unknown) => bare({ ...schema, type: one }, name)) }
  if (type === 'object' && properties !== undefined)
    return closed(schema, properties as Record<string, JsonSchema>, name)
  if (type === 'array') return { type, items: itemsOf(items, schema['prefixItems'], name) }
  if (['string', 'number', 'integer', 'boolean', 'null'].includes(String(type))) return { type }
  throw unfit(name, `${JSON.stringify(schema)} leaves open what it holds`)
}

function closed(schema: JsonSchema, properties: Record<string, JsonSchema>, name: string): JsonSchema {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const entries = Object.entries(properties).map(([key, property]) => {
    const inner = strict(property, `${name}.${key}`)
    return [key, required.includes(key) ? inner : nullable(inner)]
  })
  const all = Object.fromEntries(entries) as JsonSchema
  return { type: 'object', properties: all, required: Object.keys(all), additionalProperties: false }
}

function itemsOf(items: unknown, prefix: unknown, name: string): JsonSchema {
  if (Array.isArray(prefix)) return { anyOf: prefix.map((item: JsonSchema) => strict(item, name)) }
  if (typeof items === 'object' && items !== null) return strict(items as JsonSchema, `${name}[]`)
  throw unfit(name, 'it is a list of anything')
}
