// A write in place, explained: engines refuse it with a bare TypeError, and this says what to do instead.
import { MessageListError } from './errors.ts'

/** How engines say that something is frozen: V8, then JavaScriptCore, then SpiderMonkey. The group is the property. */
const refusals: readonly RegExp[] = [
  /^Cannot (?:assign to read only|add|delete|define|redefine) property '?([^\s',]+)'?/,
  /^Attempted to assign to readonly property/,
  /^Attempting to (?:define|change) .*(?:not extensible|unconfigurable|readonly)/,
  /^Unable to delete property/,
  /^"?([^"\s]+)"? is read-only$/,
  /^can't (?:define|delete|redefine) .*?property "?([^"\s]+)"?/,
]

/**
 * Explains the error that an engine throws for a write to frozen data, such as a message of a list. Returns undefined
 * for any other value. `where` says who wrote, for the message: `processor "x" in processInput`.
 *
 * Why a function: stored messages are plain frozen objects, and what a plain object throws is the engine's to word.
 */
export function frozenWriteError(error: unknown, where = 'Something'): MessageListError | undefined {
  if (!(error instanceof TypeError)) return undefined
  for (const refusal of refusals) {
    const match = refusal.exec(error.message)
    if (match === null) continue
    const property = match[1] === undefined ? 'a property' : `"${match[1]}"`
    return new MessageListError(
      'frozen',
      `${where} wrote to ${property} of a stored message in place. Stored messages are frozen. Change one with messageList.update(id, draft => { … }), ` +
        'several with messageList.draft(messages => { … }), or return a new array with new objects in the place of those that change.',
      { cause: error },
    )
  }
  return undefined
}
