// The one error class of this package and the codes it can carry.

/** What went wrong, for programs; the message says it for people, with the cure. */
export type ProcessorErrorCode =
  | 'hook-failed'
  | 'frozen-write'
  | 'not-a-processor'
  | 'unknown-hook'
  | 'no-hook-for-array'
  | 'duplicate-id'
  | 'invalid-return'
  | 'unknown-key'
  | 'external-message-list'
  | 'messages-and-message-list'
  | 'empty-messages'
  | 'unsupported-model'
  | 'abort-in-observer'
  | 'abort-too-late'
  | 'invalid-data-chunk'
  | 'late-write'
  | 'state-not-json'

const marker = Symbol.for('lockstep.error.processors')

/** Where an error happened: the processor, its hook, and what it threw. */
export interface ProcessorErrorDetails {
  readonly processorId?: string
  readonly hook?: string
  readonly cause?: unknown
}

/**
 * The error of a processor that broke its contract or threw in a hook.
 *
 * `code` is stable, `processorId` and `hook` say where, `cause` is what the hook threw.
 */
export class ProcessorError extends Error {
  override readonly name = 'ProcessorError'
  readonly code: ProcessorErrorCode
  readonly processorId: string | undefined
  readonly hook: string | undefined

  constructor(code: ProcessorErrorCode, message: string, details: ProcessorErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.processorId = details.processorId
    this.hook = details.hook
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `ProcessorError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is ProcessorError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
