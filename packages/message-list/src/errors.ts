// The one error of this package: a code to branch on, and a message that names the value and the cure.

/** What went wrong, for `switch`. The README's table says when each occurs and what to do. */
export type MessageListErrorCode =
  | 'invalid-message'
  | 'ambiguous-message'
  | 'unsafe-data'
  | 'wrong-thread'
  | 'unknown-message'
  | 'duplicate-id'
  | 'unknown-tool-call'
  | 'forged-approval'
  | 'tool-state'
  | 'frozen'
  | 'invalid-recipe'
  | 'invalid-edit'
  | 'unknown-snapshot'
  | 'unknown-change'
  | 'undo-conflict'
  | 'unsupported-version'
  | 'invalid-json'

const marker = Symbol.for('lockstep.message-list.error')

/** A refusal of the message list. The list is as it was before the call that threw. */
export class MessageListError extends Error {
  override readonly name = 'MessageListError'
  readonly code: MessageListErrorCode
  /** Where in the argument the offending value is, such as `messages[2].parts[0].text`. */
  readonly path: string | undefined
  readonly [marker] = true

  constructor(
    code: MessageListErrorCode,
    message: string,
    options: { readonly path?: string; readonly cause?: unknown } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.path = options.path
  }

  /** Tells whether a value is an error of this package, also when another copy of the package threw it. */
  static isInstance(value: unknown): value is MessageListError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
