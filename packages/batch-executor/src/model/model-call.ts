// The port to the model: one call, whole or as it is written, with its errors and its abort.
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'
import { BatchError, reasonOf } from '../errors.ts'
import { abortedBy, untilAborted } from '../route/hook.ts'

/**
 * Makes one model call: gets the prompt and returns the object that the prompt's schema describes.
 *
 * *Shape:* the object or a promise of it; or its JSON text as it is written, as an async iterable of strings, for example
 * the `textStream` of the AI SDK. An async generator can also yield `{ type: 'reset' }` when what it yielded was
 * withdrawn, and return a `ModelAnswer`, which then is what counts.
 */
export type CallModel = (prompt: BatchPrompt, options: { readonly abortSignal: AbortSignal | undefined }) => unknown

/** A piece of an answer while it is written: more of its JSON text, or that all of it was withdrawn. */
export type AnswerPiece = string | { readonly type: 'reset' }

/** What one model call came to. */
export interface ModelAnswer {
  readonly object: unknown
  /** What the provider reported. Absent: counted as the prompt budget counts. */
  readonly usage?: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined }
}

/** The answer of a model as it is written, ending with what it came to. */
export type AnswerStream = AsyncGenerator<AnswerPiece, ModelAnswer, void>

/** A call to be made. */
export interface ModelRequest {
  readonly callModel: CallModel
  readonly prompt: BatchPrompt
  readonly routeId: string | null
  readonly abortSignal: AbortSignal | undefined
}

/**
 * Makes a call and yields what comes of it, until the signal aborts.
 *
 * *Throws* `aborted` with the signal's reason, `model-failed` with what the call threw, and a `BatchError` of the call
 * itself as it is. A reader that leaves ends the call.
 */
export async function* answerOf({ callModel, prompt, routeId, abortSignal }: ModelRequest): AnswerStream {
  let open: AsyncIterator<unknown, unknown, void> | undefined
  try {
    abortSignal?.throwIfAborted()
    const given = await untilAborted(callModel(prompt, { abortSignal }), abortSignal)
    if (!isStream(given)) return { object: given }
    open = given[Symbol.asyncIterator]()
    let text = ''
    for (;;) {
      const next = await untilAborted(open.next(), abortSignal)
      if (next.done) {
        open = undefined
        return isAnswer(next.value) ? next.value : { object: readJson(text) }
      }
      const piece = next.value as AnswerPiece
      text = typeof piece === 'string' ? text + piece : ''
      yield piece
    }
  } catch (cause) {
    if (abortSignal?.aborted) throw abortedBy(abortSignal)
    if (BatchError.isInstance(cause)) throw cause
    throw new BatchError('model-failed', `The model call failed: ${reasonOf(cause)}`, {
      ...(routeId !== null && { routeId }),
      cause,
    })
  } finally {
    // What a call that nobody reads any more says about its end is of no interest.
    void Promise.resolve(open?.return?.()).catch(() => undefined)
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Tells a whole answer from a piece of one. */
export function isAnswer(value: unknown): value is ModelAnswer {
  return typeof value === 'object' && value !== null && 'object' in value
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BatchError(
      'invalid-reply',
      `The model's text is not JSON: ${JSON.stringify(text.slice(0, 200))}. Return the object that the prompt's schema describes.`,
      { cause },
    )
  }
}
