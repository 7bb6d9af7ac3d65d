// The state of processors as JSON, for runs that are put down and taken up again.
import { ProcessorError } from './errors.ts'

/** The state of each processor of a run that has any, by its id. */
export type SavedStates = Readonly<Record<string, object>>

/** Copies the state of every processor. Throws: `state-not-json`, with the processor, the path and what stands there. */
export function saveStates(states: ReadonlyMap<string, object>): SavedStates {
  const used = [...states].filter(([, state]) => Object.keys(state).length > 0)
  return Object.fromEntries(
    used.map(([processorId, state]) => {
      const fault = faultIn(state, { path: 'state', ancestors: [] })
      if (fault)
        throw new ProcessorError(
          'state-not-json',
          `The processor '${processorId}' has ${fault.found} in ${fault.path}, which JSON cannot carry, so the run cannot be saved. Keep plain values in state.`,
          { processorId },
        )
      return [processorId, structuredClone(state)]
    }),
  )
}

interface Place {
  readonly path: string
  readonly ancestors: readonly object[]
}

interface Fault {
  readonly path: string
  readonly found: string
}

/** The first thing that would not come back from JSON as it was; a property that is undefined counts as absent. */
function faultIn(value: unknown, place: Place): Fault | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path: place.path, found: String(value) }
  if (typeof value !== 'object') return { path: place.path, found: `a ${typeof value}` }
  if (place.ancestors.includes(value)) return { path: place.path, found: 'a cycle' }
  const ancestors = [...place.ancestors, value]
  if (Array.isArray(value)) return faultInArray(value, { ...place, ancestors })
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    return { path: place.path, found: `a ${(prototype as object).constructor.name}` }
  for (const [key, item] of Object.entries(value)) {
    const fault = item === undefined ? undefined : faultIn(item, { path: `${place.path}.${key}`, ancestors })
    if (fault) return fault
  }
  return undefined
}

function faultInArray(items: readonly unknown[], { path, ancestors }: Place): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = faultIn(item, { path: `${path}[${index}]`, ancestors })
    if (fault) return fault
  }
  return undefined
}
