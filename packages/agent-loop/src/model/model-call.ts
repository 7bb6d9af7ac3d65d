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
    if (abortSignal.aborted) call.then(({ stream }) => stream.cancel(abortSignal.reason)).then(undefined, () => {})
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

/** A part, or none when there are no more. */
export interface PartRead {
  readonly value?: LanguageModelV4StreamPart | undefined
}

/** Where parts come from. A read is told how it went with `took` or `failed`: so it costs no promise but the source's own. */
export interface PartSource {
  read(): Promise<PartRead>
  /** Gives the part that was read. Throws: the signal's reason when it was aborted meanwhile. */
  took(read: PartRead): LanguageModelV4StreamPart | undefined
  /** The error of a read that was rejected. */
  failed(error: unknown): unknown
  /** Leaves the source, whatever is left in it. */
  close(): void
}

/** Reads a provider's stream. Aborting the signal ends a read that is under way, whether the provider listens or not. */
export class PartStream implements PartSource {
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

  read(): Promise<PartRead> {
    this.#listener?.awaited()
    return this.#reader.read()
  }

  took({ value }: PartRead): LanguageModelV4StreamPart | undefined {
    if (this.#signal.aborted) throw this.failed(undefined)
    this.#hasEnded = value === undefined
    this.#listener?.heard(value)
    return value
  }

  failed(error: unknown): unknown {
    const reason: unknown = this.#signal.aborted ? this.#signal.reason : error
    return this.#listener ? this.#listener.failed(reason) : reason
  }

  #cancel(reason?: unknown): void {
    this.#reader.cancel(reason).catch(() => {})
  }

  close(): void {
    this.#listener?.closed()
    this.#unlisten()
    if (!this.#hasEnded) this.#cancel()
  }
}

/** The next part, or undefined at the end. Throws: what the source makes of an error, or the reason of an abort. */
export async function nextPart(source: PartSource): Promise<LanguageModelV4StreamPart | undefined> {
  let read: PartRead
  try {
    read = await source.read()
  } catch (error) {
    throw source.failed(error)
  }
  return source.took(read)
}
