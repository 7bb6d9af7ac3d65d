// What this package throws: a law that is broken, or a contract that was set up wrongly.

/** What is wrong. */
export type TestingErrorCode =
  | 'law-broken'
  | 'does-not-apply'
  | 'unknown-law'
  | 'missing-reason'
  | 'not-a-factory'
  | 'no-hook'

const marker = Symbol.for('lockstep.testing-error')

/** An error of `@lockstep/testing`: a fact, then the cure. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingErrorCode

  constructor(code: TestingErrorCode, message: string) {
    super(message)
    this.code = code
    Object.defineProperty(this, marker, { value: true })
  }

  /** Tells whether a value is a `TestingError`, from this copy of the package or another. */
  static isInstance(value: unknown): value is TestingError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
