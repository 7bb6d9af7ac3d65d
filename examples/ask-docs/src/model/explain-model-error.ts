// Turns what a provider throws into what the person at the terminal can do about it.
import { APICallError, RetryError } from 'ai'
import { AskDocsError } from '../errors.ts'

/** Explains a failed model call; nothing when the error is not about one. `label` is the model as people know it. */
export function explainModelError(error: unknown, label: string): AskDocsError | undefined {
  const failure = apiCallErrorIn(error)
  if (failure === undefined) return undefined
  const { statusCode, message } = failure
  if (statusCode === undefined) {
    const cure = 'Is the server running, and is the address right?'
    return new AskDocsError(
      'model-unreachable',
      `${label} cannot be reached (${failure.url}): ${message}. ${cure}`,
      error,
    )
  }
  if (statusCode === 401 || statusCode === 403) {
    const cure = 'Check that the key in OPENAI_API_KEY or ANTHROPIC_API_KEY is right and may use this model.'
    return new AskDocsError('model-key-refused', `${label} refused the key (${statusCode}): ${message}. ${cure}`, error)
  }
  const cure = statusCode === 404 ? 'Check the name of the model and the address.' : 'Try again, or use another model.'
  return new AskDocsError(
    'model-refused',
    `${label} answered with an error (${statusCode}): ${message}. ${cure}`,
    error,
  )
}

function apiCallErrorIn(error: unknown): APICallError | undefined {
  const seen = new Set<unknown>()
  for (
    let next = error;
    next instanceof Error && !seen.has(next);
    next = RetryError.isInstance(next) ? next.lastError : next.cause
  ) {
    if (APICallError.isInstance(next)) return next
    seen.add(next)
  }
  return undefined
}
