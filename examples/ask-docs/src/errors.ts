// The one error of this example: a mistake that the person at the terminal can mend. Everything else is a bug and shows its stack.

export type AskDocsErrorCode =
  | 'folder-missing'
  | 'folder-not-a-folder'
  | 'folder-unreadable'
  | 'folder-without-documents'
  | 'model-unknown'
  | 'model-key-missing'
  | 'model-key-refused'
  | 'model-unreachable'
  | 'model-refused'
  | 'bad-arguments'

const marker = Symbol.for('@lockstep-examples/ask-docs/error')

export class AskDocsError extends Error {
  override readonly name = 'AskDocsError'
  readonly [marker] = true
  readonly code: AskDocsErrorCode

  constructor(code: AskDocsErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }

  static isInstance(error: unknown): error is AskDocsError {
    return error instanceof Error && (error as Partial<AskDocsError>)[marker] === true
  }
}
