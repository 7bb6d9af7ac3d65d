// One call of the model: transport retries, the raw error, and a stream that stops when the run is aborted.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import { untilAborted, whenAborted } from '@lockstep/processors'
import { RetryError } from 'ai'
import { prepareRetries } from '../ai-internal.ts'

/**
 * Starts a call. The transport tries again where that can help (429, 5xx, a connection that could not be made), waiting
 * as `Retry-After` says.
 *
 * *Throws*: the provider's last error, not wrapped.
 */
export async function startModelCall(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  maxRetries: number | undefined,
): Promise<LanguageModelV4StreamResult> {
  const { retry } = prepareRetries({ maxRetries, abortSignal: options.abortSignal })
  try {
    return await startedOrAborted(model, options)
  } catch (error) {
    let isFirst = true
    const call = () => {
      // The try that failed counts as one of the retries' own: it fails there again.
      if (!isFirst) return startedOrAborted(model, options)
      isFirst = false
      return Promise.reject(error as Error)
    }
    return retry(call).then(undefined, lastError)
  }
}

function lastError(error: unknown): never {
  throw RetryError.isInstance(error) ? error.lastError : error
}

/** A provider that does not listen to its signal is not waited for; what it starts late is ended at once. */
async function startedOrAborted(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const { abortSignal } = options
  const call = model.doStream(options)
  if (!abortSignal) return call
  try {
    return await untilAborted(call, abortSignal)
  } catch (error) {
    if (abortSignal.aborted)
      call.then(
        ({ stream }) => stream.cancel(abortSignal.reason).catch(() => {}),
        () => {},
      )
    throw error
  }
}

/** What somebody wants to know of a stream while it is read. */
export interface PartListener {
  /** The next part is waited for. */
  awaited(): void
  heard(part: LanguageModelV4StreamPart | undefined): void
  /** Makes the error that the reader is given. */
  failed(error: unknown): unknown
  /** Nothing more is read. */
  closed(): void
}

/**
 * Reads a provider's stream. Aborting the signal ends a read that is under way, whether the provider listens or not.
 *
 * *Cost*: one promise a part, besides the stream's own.
 */
export class PartStream {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>
  readonly #signal: AbortSignal
  readonly #listener: PartListener | undefined
  readonly #unlisten: () => void
  #hasEnded = false

  constructor(stream: ReadableStream<LanguageModelV4StreamPart>, signal: AbortSignal, listener?: PartListener) {
    this.#reader = stream.getReader()
    this.#signal = signal
    this.#listener = listener
    this.#unlisten = whenAborted(signal, () => this.#cancel(signal.reason))
  }

  /** The next part, or undefined at the end. Throws: the signal's reason when it is aborted. */
  next(): Promise<LanguageModelV4StreamPart | undefined> {
    this.#listener?.awaited()
    return this.#reader.read().then(this.#take, this.#fail)
  }

  readonly #take = ({ value }: { readonly value?: LanguageModelV4StreamPart | undefined }) => {
    if (this.#signal.aborted) return this.#fail(undefined)
    this.#hasEnded = value === undefined
    this.#listener?.heard(value)
    return value
  }

  readonly #fail = (error: unknown): never => {
    const reason: unknown = this.#signal.aborted ? this.#signal.reason : error
    throw this.#listener ? this.#listener.failed(reason) : reason
  }

  #cancel(reason?: unknown): void {
    this.#reader.cancel(reason).catch(() => {})
  }

  /** Leaves the stream, whatever is left in it. */
  close(): void {
    this.#listener?.closed()
    this.#unlisten()
    if (!this.#hasEnded) this.#cancel()
  }
}
