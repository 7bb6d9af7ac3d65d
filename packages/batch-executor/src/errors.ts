// The one error class of this package and the codes it can carry.

/** What went wrong, for programs; the message says it for people, with the cure. */
export type BatchErrorCode =
  | 'invalid-schema'
  | 'async-schema'
  | 'no-json-schema'
  | 'unknown-field'
  | 'conflicting-fields'
  | 'uncollected-field'
  | 'empty-route'
  | 'duplicate-step'
  | 'duplicate-route'
  | 'unknown-step'
  | 'backward-branch'
  | 'unreachable-step'
  | 'missing-prompt'
  | 'invalid-option'
  | 'invalid-data'
  | 'not-json'
  | 'invalid-session'
  | 'session-version'
  | 'prepare-failed'
  | 'finalize-failed'
  | 'model-failed'
  | 'invalid-reply'
  | 'refused'
  | 'aborted'

const marker = Symbol.for('lockstep.error.batch-executor')

/** Where an error happened, and what it was made of. */
export interface BatchErrorDetails {
  readonly routeId?: string
  readonly stepId?: string
  readonly cause?: unknown
}

/**
 * The error of a route, a session or a turn.
 *
 * `code` is stable, `routeId` and `stepId` say where, `cause` is what a hook, the model or the abort signal gave.
 */
export class BatchError extends Error {
  override readonly name = 'BatchError'
  readonly code: BatchErrorCode
  readonly routeId: string | undefined
  readonly stepId: string | undefined

  constructor(code: BatchErrorCode, message: string, details: BatchErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.routeId = details.routeId
    this.stepId = details.stepId
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `BatchError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is BatchError {
    return typeof value === 'object' && value !== null && marker in value
  }
}

/** Says what was thrown in one line, whatever it was. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
