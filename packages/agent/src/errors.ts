// The one error class of this package and the codes it can carry.

/** What went wrong, for programs; the message says it for people, with the cure. */
export type AgentErrorCode = 'invalid-input' | 'invalid-option' | 'opened-too-late' | 'run-failed' | 'no-routes'

const marker = Symbol.for('lockstep.error.agent')

/** The error of a call that could not be made, or of a run that failed with something that is no object. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode

  constructor(code: AgentErrorCode, message: string, details: { readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is an `AgentError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is AgentError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
