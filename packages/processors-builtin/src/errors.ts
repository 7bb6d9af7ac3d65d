// The error class of this package, and its codes.

const marker = Symbol.for('lockstep.builtin-error')

/** What went wrong: the code tells which, the message has the value and the cure. */
export type BuiltinErrorCode =
  | 'unknown-builtin'
  | 'unknown-kind'
  | 'unsupported-pattern'
  | 'empty-pattern'
  | 'missing-hash-key'
  | 'missing-crypto'
  | 'missing-price'
  | 'missing-model'
  | 'invalid-rule'
  | 'tool-exists'
  | 'missing-context'
  | 'missing-sink'
  | 'policy-out-of-place'
  | 'invalid-limit'
  | 'invalid-host'
  | 'no-summary'
  | 'unknown-category'
  | 'invalid-threshold'
  | 'invalid-strategy'
  | 'empty-judge'
  | 'panel-option'
  | 'unknown-language'
  | 'missing-library'

/** A mistake in how a builtin was set up, or what it could not do. */
export class BuiltinError extends Error {
  override readonly name = 'BuiltinError'
  readonly code: BuiltinErrorCode

  constructor(code: BuiltinErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `BuiltinError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is BuiltinError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
