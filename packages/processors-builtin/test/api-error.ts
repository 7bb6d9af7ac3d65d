// A turn of a scripted model that fails as a provider does.
import { APICallError } from 'ai'

interface Answer {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly isRetryable?: boolean
}

/** The provider answers the call with a status and a message. */
export function apiError(statusCode: number | undefined, message: string, answer: Answer = {}) {
  const error = new APICallError({
    message,
    url: 'https://model.test',
    requestBodyValues: {},
    isRetryable: answer.isRetryable ?? false,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(answer.headers === undefined ? {} : { responseHeaders: answer.headers }),
    ...(answer.body === undefined ? {} : { responseBody: JSON.stringify(answer.body) }),
  })
  return { error }
}

/** The stream begins with a text and breaks off with an error. */
export function brokenOff(error: unknown, text = 'I was about to ') {
  return {
    parts: [
      { type: 'text-start', id: 't1' },
      { type: 'text-delta', id: 't1', delta: text },
      { type: 'error', error },
    ],
  } as const
}
