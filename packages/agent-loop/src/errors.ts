// The one error class of this package and the codes it can carry.

/** What went wrong, for programs; the message says it for people, with the cure. */
export type LoopErrorCode =
  | 'unsupported-model'
  | 'missing-package'
  | 'incomplete-stream'
  | 'invalid-option'
  | 'invalid-state'
  | 'unsupported-state'
  | 'processors-changed'
  | 'unknown-approval'
  | 'already-decided'
  | 'invalid-decision'
  | 'unknown-tool'
  | 'unverified-approval'

const marker = Symbol.for('lockstep.error.agent-loop')

/** The error of a run that could not be made, or of a provider that broke its contract. */
export class LoopError extends Error {
  override readonly name = 'LoopError'
  readonly code: LoopErrorCode

  constructor(code: LoopErrorCode, message: string, details: { readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `LoopError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is LoopError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
