// The one error class of this package and the codes it can carry.

/** What went wrong, for programs; the message says it for people, with the cure. */
export type MemoryErrorCode =
  | 'no-thread'
  | 'no-resource'
  | 'wrong-resource'
  | 'wrong-thread'
  | 'unknown-message'
  | 'already-answered'
  | 'thread-deleted'
  | 'thread-busy'
  | 'invalid-option'
  | 'invalid-vector'
  | 'store-locked'
  | 'store-full'
  | 'store-unreachable'
  | 'access-denied'
  | 'missing-table'
  | 'newer-schema'
  | 'damaged'
  | 'store-closed'
  | 'store-failed'

const marker = Symbol.for('lockstep.error.memory')

/** A memory or a store that could not do what it was asked. `cause` is what the driver threw. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
  readonly code: MemoryErrorCode

  constructor(code: MemoryErrorCode, message: string, details: { readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `MemoryError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is MemoryError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
