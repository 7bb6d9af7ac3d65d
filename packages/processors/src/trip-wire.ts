// A processor's refusal: the value that `abort` throws and that a run carries to its result.

const marker = Symbol.for('lockstep.trip-wire')

/** What a processor may add to `abort`. */
export interface AbortOptions<TMetadata = unknown> {
  /** Asks for another attempt at the step, with the reason as feedback to the model. */
  readonly retry?: boolean
  /** Structured data for whoever reads the tripwire. */
  readonly metadata?: TMetadata
}

/** Refuses what the hook was given. Throws a `TripWire`, so nothing after the call runs. */
export type Abort<TMetadata = unknown> = (reason?: string, options?: AbortOptions<TMetadata>) => never

/** Thrown by `abort`; the runner remembers it, so a `catch` in the hook does not unsay it. */
export class TripWire<TMetadata = unknown> extends Error {
  override readonly name = 'TripWire'
  readonly reason: string
  readonly retry: boolean
  readonly metadata: TMetadata | undefined
  readonly processorId: string
  readonly hook: string

  constructor(
    by: { readonly processorId: string; readonly hook: string },
    reason?: string,
    options?: AbortOptions<TMetadata>,
  ) {
    super(reason ?? `Stopped by the processor '${by.processorId}'.`)
    this.reason = this.message
    this.retry = options?.retry === true
    this.metadata = options?.metadata
    this.processorId = by.processorId
    this.hook = by.hook
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `TripWire`, from this copy of the package or another. */
  static isInstance(value: unknown): value is TripWire {
    return typeof value === 'object' && value !== null && marker in value
  }
}
