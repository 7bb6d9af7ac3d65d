// Structured output: the object that a caller wants instead of text, and what to do when the model does not give it.
import type { FlexibleSchema } from 'ai'

/** What is asked of the model: JSON of this schema. */
export interface ObjectRequest<OBJECT = unknown> {
  readonly schema: FlexibleSchema<OBJECT>
  /** Tells the model what the object is; some providers pass it on. */
  readonly name?: string
  readonly description?: string
}

/**
 * An object that a run is to give. The model has one more try, with the issues as feedback, when its answer does not fit.
 * What happens after that is the `errorStrategy`: `strict` (default) fails the run, `warn` leaves `object` undefined and says
 * so in `warnings`, `fallback` gives the `fallbackValue`.
 */
export type StructuredOutput<OBJECT = unknown> = ObjectRequest<OBJECT> &
  (
    | { readonly errorStrategy?: 'strict' | 'warn' }
    | { readonly errorStrategy: 'fallback'; readonly fallbackValue: OBJECT }
  )

/** Tells whether a value asks for an object. */
export function isObjectRequest(value: unknown): value is ObjectRequest {
  const schema = typeof value === 'object' && value !== null ? (value as { schema?: unknown }).schema : undefined
  return (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
}
