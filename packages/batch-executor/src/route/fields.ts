// What a conversation can know: the fields of a schema, each with its own validation and its own policy.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { z } from 'zod'
import { BatchError } from '../errors.ts'

/** An object schema that shows its fields (zod's `z.object`, valibot's `v.object`), or a record of schemas. */
export type DataSchema = StandardSchemaV1 | Readonly<Record<string, StandardSchemaV1>>

/** The data that a schema describes. */
export type DataOf<TSchema extends DataSchema> = TSchema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<TSchema>
  : {
      [TName in keyof TSchema]: TSchema[TName] extends StandardSchemaV1
        ? StandardSchemaV1.InferOutput<TSchema[TName]>
        : never
    }

/** The names of the fields of a data type. */
export type FieldName<TData> = Extract<keyof TData, string>

/** How a field behaves beyond being valid. */
export interface FieldPolicy<TName extends string = string> {
  /** When one of these changes, this value no longer holds and is cleared. */
  readonly dependsOn?: readonly TName[]
  /**
   * This field is the user's agreement to these values. Only `true` counts, it is taken only in answer to the question,
   * and a new value of any of them takes it back. The question waits for those of them that are not optional.
   */
  readonly confirms?: readonly TName[]
  /** Once known, no message changes this value; code and hooks still can. */
  readonly locked?: boolean
  /** The value is kept out of prompts, events, debug lines and issues. */
  readonly sensitive?: boolean
  /** A message can give only a value that is in it, so that no model invents one. For names, codes and numbers. */
  readonly quoted?: boolean
  /**
   * Reads the answer to this field's question where it is certain, so that no model is needed for it: `'exact'` takes a
   * message that is one of the field's fixed values or a plain number, a function returns the value or `undefined`.
   */
  readonly match?: AnswerMatch
}

/** Reads a whole message as the answer to one question; `undefined` when it is not certain. */
export type AnswerMatch = 'exact' | ((words: string) => unknown)

/** One field of a schema with its policy. */
export interface Field {
  readonly name: string
  readonly schema: StandardSchemaV1
  readonly dependsOn: readonly string[]
  readonly confirms: readonly string[]
  readonly locked: boolean
  readonly sensitive: boolean
  readonly quoted: boolean
  readonly match: AnswerMatch | undefined
}

/** The fields of a data type. Made by `defineFields`, shared by every route over the same data. */
export interface Fields<TData> {
  readonly names: readonly FieldName<TData>[]
  readonly get: (name: string) => Field | undefined
  /** The schema of the whole object, when there is one: it can hold rules between fields. */
  readonly whole: StandardSchemaV1 | undefined
  /** Only for the compiler: the type of the data. */
  readonly '~data'?: TData
}

/** What validation says of one value. */
export type Validation =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly reason: string }

function isSchema(value: unknown): value is StandardSchemaV1 {
  return value !== null && (typeof value === 'object' || typeof value === 'function') && '~standard' in value
}

function partsOf(schema: DataSchema): Readonly<Record<string, unknown>> {
  if (!isSchema(schema)) return schema
  const parts: unknown = 'shape' in schema ? schema.shape : 'entries' in schema ? schema.entries : undefined
  if (typeof parts === 'object' && parts !== null) return parts as Readonly<Record<string, unknown>>
  throw new BatchError(
    'invalid-schema',
    `The ${schema['~standard'].vendor} schema does not show its fields. Pass an object schema such as z.object({ … }), or a record with one schema per field.`,
  )
}

/**
 * Reads the fields of a schema and gives them their policies.
 *
 * *Throws* `invalid-schema` when a field has no Standard Schema, `unknown-field` when a policy names one that does not
 * exist, `conflicting-fields` when one confirms itself.
 *
 * *Example:* `defineFields(z.object({ city: z.string(), hotel: z.string() }), { hotel: { dependsOn: ['city'] } })`
 */
export function defineFields<const TSchema extends DataSchema>(
  schema: TSchema,
  policies: { readonly [TName in FieldName<DataOf<TSchema>>]?: FieldPolicy<FieldName<DataOf<TSchema>>> } = {},
): Fields<DataOf<TSchema>> {
  const parts = partsOf(schema)
  const names = Object.keys(parts)
  const known = (name: string, where: string) => {
    if (!Object.hasOwn(parts, name)) {
      throw new BatchError('unknown-field', `${where} names "${name}", but the fields are ${names.join(', ')}.`)
    }
  }
  const given = new Map<string, FieldPolicy>(Object.entries(policies))
  for (const [name, policy] of given) {
    known(name, 'A field policy')
    for (const other of policy.dependsOn ?? []) known(other, `dependsOn of "${name}"`)
    for (const other of policy.confirms ?? []) known(other, `confirms of "${name}"`)
    if (policy.confirms?.includes(name)) {
      throw new BatchError(
        'conflicting-fields',
        `"${name}" confirms itself. Name the fields that it is the agreement to.`,
      )
    }
  }
  const fields = new Map(names.map(name => [name, fieldOf(name, parts[name], given.get(name) ?? {})]))
  return Object.freeze({
    names: Object.freeze(names) as readonly FieldName<DataOf<TSchema>>[],
    get: (name: string) => fields.get(name),
    whole: isSchema(schema) ? schema : undefined,
  })
}

/** The fields of several routes as one set. A field that several of them have is that of the first. */
export function joinFields<TData>(all: readonly Fields<TData>[]): Fields<TData> {
  const [first, ...others] = [...new Set(all)]
  if (first !== undefined && others.length === 0) return first
  const each = [...new Set(all)]
  return Object.freeze({
    names: Object.freeze([...new Set(each.flatMap(fields => fields.names))]),
    get: (name: string) => each.map(fields => fields.get(name)).find(field => field !== undefined),
    whole: undefined,
  })
}

/** Fields that were only named: each takes any text, number or boolean. */
export function plainFields(names: readonly string[]): Fields<PlainData> {
  const plain = z.union([z.string(), z.number(), z.boolean()])
  return defineFields(Object.fromEntries(names.map(name => [name, plain])))
}

/** The data of fields that were only named. */
export type PlainData = Readonly<Record<string, string | number | boolean>>

function fieldOf(name: string, schema: unknown, policy: FieldPolicy): Field {
  if (!isSchema(schema)) {
    throw new BatchError(
      'invalid-schema',
      `Field "${name}" has no Standard Schema. Give it one, for example z.string() or v.string().`,
    )
  }
  const { dependsOn = [], confirms = [], locked = false, sensitive = false, quoted = false, match } = policy
  return Object.freeze({
    name,
    schema,
    dependsOn: Object.freeze([...dependsOn]),
    confirms: Object.freeze([...confirms]),
    locked,
    sensitive,
    quoted,
    match,
  })
}

/** Runs a schema that must answer at once. Throws `async-schema` when it returns a promise. */
export function validateNow(schema: StandardSchemaV1, value: unknown): StandardSchemaV1.Result<unknown> {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) {
    // The promise is not looked at any more: its rejection must not surface as unhandled.
    result.catch(() => undefined)
    throw new BatchError(
      'async-schema',
      `A ${schema['~standard'].vendor} schema validates asynchronously, but a session is changed in one go. Check what needs waiting in a prepare hook.`,
    )
  }
  return result
}

/** Validates one value for a field. The reason of a sensitive field does not quote the schema's words. */
export function validateValue(field: Field, value: unknown): Validation {
  const result = validateNow(field.schema, value)
  if (result.issues === undefined) return { valid: true, value: result.value }
  const reason = field.sensitive ? 'not valid' : result.issues.map(issue => issue.message).join('; ')
  return { valid: false, reason }
}
