// The core rule of batching in its plainest form, for any step and any data.
import type { FieldName } from './fields.ts'
import type { KnownData } from './flow-step.ts'

/**
 * Tells whether a step has to wait for the user: something it requires is missing, or nothing it collects is there.
 *
 * Missing means `undefined`; one of several collected fields is enough. This is the rule of `satisfiedBy: 'any'`; a
 * plan asks by default for all of them, and counts `null` and `''` as missing too.
 */
export function needsInput<TData>(
  step: { readonly requires?: readonly FieldName<TData>[]; readonly collect?: readonly FieldName<TData>[] },
  data: KnownData<TData>,
): boolean {
  const { requires = [], collect = [] } = step
  if (requires.some(field => data[field] === undefined)) return true
  return collect.length > 0 && collect.every(field => data[field] === undefined)
}
