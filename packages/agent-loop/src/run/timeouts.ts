// How long things may take. What runs out of time is aborted with a `TimeoutError`, as `AbortSignal.timeout` does it.

/** Limits in milliseconds; what is absent has none. */
export interface Timeouts {
  /** The whole run. Running out aborts it. */
  readonly totalMs?: number
  /** One step, all its attempts and tools. Running out aborts the run. */
  readonly stepMs?: number
  /** From the model call to its first part. Running out is a failure of the provider: error processors may retry. */
  readonly firstChunkMs?: number
  /** Between two parts of the stream. Running out is a failure of the provider. */
  readonly chunkMs?: number
  /** One tool. Running out is an error of the tool, which the model reads. */
  readonly toolMs?: number
  /** One tool by name, instead of `toolMs`. */
  readonly tools?: { readonly [toolName: string]: number }
}

const nothing = () => {}

/** Calls `expire` after a time, unless the function that it gives is called before. */
export function deadline(
  limit: { readonly ms: number | undefined; readonly of: string },
  expire: (error: DOMException) => void,
): () => void {
  const { ms, of } = limit
  if (ms === undefined) return nothing
  const timer = setTimeout(() => expire(new DOMException(`${of} took longer than ${ms} ms.`, 'TimeoutError')), ms)
  return () => clearTimeout(timer)
}

/** Runs `work` under a signal that fires with `signal`, or when the time is over. */
export async function withDeadline<T>(
  limit: { readonly ms: number; readonly of: string },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const unlink = follow(signal, controller)
  const clear = deadline(limit, error => controller.abort(error))
  try {
    return await work(controller.signal)
  } finally {
    clear()
    unlink()
  }
}

/** Watches a stream: its signal fires with `signal`, or when the first or the next part is late. */
export class StreamWatch {
  readonly signal: AbortSignal
  readonly #limits: Timeouts
  readonly #controller: AbortController | undefined
  readonly #unlink: () => void
  #clear: () => void
  #hasBegun = false

  constructor(limits: Timeouts, signal: AbortSignal) {
    const limited = limits.firstChunkMs !== undefined || limits.chunkMs !== undefined
    this.#controller = limited ? new AbortController() : undefined
    this.signal = this.#controller?.signal ?? signal
    this.#limits = limits
    this.#unlink = this.#controller ? follow(signal, this.#controller) : nothing
    this.#clear = this.#expect("The model's first chunk", limits.firstChunkMs ?? limits.chunkMs)
  }

  /** The next part is waited for. What is done with a part before that is not the provider's time. */
  wait(): void {
    if (this.#hasBegun) this.#clear = this.#expect("The model's next chunk", this.#limits.chunkMs)
  }

  /** A part has come. */
  heard(): void {
    this.#hasBegun = true
    this.#clear()
  }

  close(): void {
    this.#clear()
    this.#unlink()
  }

  #expect(of: string, ms: number | undefined): () => void {
    return ms === undefined ? nothing : deadline({ ms, of }, error => this.#controller?.abort(error))
  }
}

/** Aborts `controller` when `signal` does; gives the way to stop listening. */
export function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (!signal) return nothing
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}
