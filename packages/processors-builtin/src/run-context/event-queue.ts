// Events on their way to a sink: in order, one write at a time, as many as there are at once; none is forgotten.
import { isPromiseLike, type MaybePromise } from '@lockstep/processors'

/** How a queue writes. */
export interface EventQueueOptions<T> {
  readonly write: (events: readonly T[]) => MaybePromise<void>
  /** How many events may wait before who adds one waits too. */
  readonly maxWaiting: number
  /** How long the end waits for a write. */
  readonly timeoutMs: number
}

/** Events that a sink may not have, and why. */
export interface LostEvents<T> {
  readonly events: readonly T[]
  readonly error: unknown
}

/** The events of one run. A write that failed is made again with the next one, with what has come since. */
export class EventQueue<T> {
  readonly #options: EventQueueOptions<T>
  #waiting: T[] = []
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  #inFlight: readonly T[] = []

  constructor(options: EventQueueOptions<T>) {
    this.#options = options
  }

  /** Adds an event that will be written with the next ones, or at the end. */
  put(event: T): void {
    this.#waiting.push(event)
  }

  /** Adds an event and writes. Throws: what the sink threw when the write before failed, or this one. */
  add(event: T): MaybePromise<void> {
    this.#waiting.push(event)
    const before = this.#failure
    const written = this.#start()
    if (before) throw before.error
    if (written === undefined) return this.#check()
    const isFull = this.#inFlight.length + this.#waiting.length > this.#options.maxWaiting
    return isFull ? written.then(() => this.#check()) : undefined
  }

  /** Writes what is left. Gives the events of which it is not known that they were written, with the reason. */
  async close(): Promise<LostEvents<T> | undefined> {
    if (this.#writing === undefined && this.#start() === undefined) return this.#lost(this.#failure)
    const { timeoutMs } = this.#options
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<{ readonly error: unknown }>(resolve => {
      const error = new Error(`The sink did not answer within ${timeoutMs} ms.`)
      timer = setTimeout(() => resolve({ error }), timeoutMs)
    })
    const isLate = await Promise.race([this.#writeAll(), late])
    clearTimeout(timer)
    return this.#lost(isLate ?? this.#failure)
  }

  #lost(failure: { readonly error: unknown } | undefined): LostEvents<T> | undefined {
    return failure && { events: [...this.#inFlight, ...this.#waiting], error: failure.error }
  }

  async #writeAll(): Promise<undefined> {
    await this.#writing
    await this.#start()
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** Writes until nothing waits, or a write fails. Gives nothing when that is done at once. */
  #start(): Promise<void> | undefined {
    if (this.#writing) return this.#writing
    this.#failure = undefined
    while (this.#waiting.length > 0 && !this.#failure) {
      const written = this.#writeSome()
      if (!isPromiseLike(written)) continue
      this.#writing = Promise.resolve(written).then(() => {
        this.#writing = undefined
        return this.#failure ? undefined : this.#start()
      })
      return this.#writing
    }
    return undefined
  }

  #writeSome(): MaybePromise<void> {
    const events = Object.freeze(this.#waiting)
    this.#inFlight = events
    this.#waiting = []
    const fail = (error: unknown) => {
      this.#failure = { error }
      this.#waiting = [...events, ...this.#waiting]
      this.#inFlight = []
    }
    const done = () => {
      this.#inFlight = []
    }
    try {
      const written = this.#options.write(events)
      return isPromiseLike(written) ? written.then(done, fail) : done()
    } catch (error) {
      fail(error)
    }
  }
}
