// What this package throws: a name that no package can have, or a place where something is already.

/** What is wrong. */
export type CreateErrorCode = 'bad-name' | 'folder-in-use' | 'not-a-folder'

const marker = Symbol.for('lockstep.create-error')

/** An error of `create-lockstep-processor`: a fact, then the cure. */
export class CreateError extends Error {
  override readonly name = 'CreateError'
  readonly code: CreateErrorCode

  constructor(code: CreateErrorCode, message: string) {
    super(message)
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `CreateError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is CreateError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
