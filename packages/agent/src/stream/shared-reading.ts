// One run, several readers: each view that was opened before the first read gets every chunk.
import { AgentError } from '../errors.ts'

interface Reader<T> {
  queue: T[]
  left: boolean
}

/**
 * Reads a source for any number of readers, one chunk at a time, as the fastest of them asks.
 *
 * *Cost*: with one reader nothing is kept; a slower one keeps what it has not read.
 */
export class SharedReading<T, TReturn> {
  readonly #open: () => Promise<AsyncGenerator<T, TReturn, void>>
  readonly #readers = new Set<Reader<T>>()
  #source: Promise<AsyncGenerator<T, TReturn, void>> | undefined
  /** The source, once it is open. */
  #opened: AsyncGenerator<T, TReturn, void> | undefined
  #pull: Promise<boolean> | undefined
  #draining: Promise<TReturn> | undefined
  #ended: { readonly value: TReturn } | { readonly error: unknown } | undefined

  constructor(open: () => Promise<AsyncGenerator<T, TReturn, void>>) {
    this.#open = open
  }

  /** Opens a view. Throws: `opened-too-late` once reading has begun, since the beginning is gone. */
  view(): AsyncGenerator<T, void, void> {
    if (this.#source)
      throw new AgentError(
        'opened-too-late',
        'This view of the stream was opened after reading had begun, so it would miss the beginning. Take all views before you read one, or await the promises.',
      )
    const reader: Reader<T> = { queue: [], left: false }
    this.#readers.add(reader)
    return new View(
      () => this.#next(reader),
      () => this.#leave(reader),
    )
  }

  /** Reads to the end, whether there is a reader or not, and gives what the source returned. */
  result(): Promise<TReturn> {
    this.#draining ??= this.#drain()
    return this.#draining
  }

  async #drain(): Promise<TReturn> {
    // Views may still be taken in the same breath as the promise.
    await Promise.resolve()
    while (await this.#advance());
    if (this.#ended && 'value' in this.#ended) return this.#ended.value
    throw (this.#ended as { readonly error: unknown }).error
  }

  #next(reader: Reader<T>): Promise<IteratorResult<T, void>> {
    if (reader.queue.length > 0) return Promise.resolve({ done: false, value: reader.queue.shift()! })
    if (reader.left) return Promise.resolve({ done: true, value: undefined })
    return this.#advance().then(goesOn => this.#given(reader, goesOn))
  }

  /** What a reader gets after a chunk was taken, or after the last. */
  #given(reader: Reader<T>, goesOn: boolean): IteratorResult<T, void> | Promise<IteratorResult<T, void>> {
    if (reader.queue.length > 0) return { done: false, value: reader.queue.shift()! }
    if (goesOn) return this.#next(reader)
    if (!reader.left && this.#ended && 'error' in this.#ended) throw this.#ended.error
    return { done: true, value: undefined }
  }

  /** Takes one chunk from the source for everybody; false at the end. */
  #advance(): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false)
    return (this.#pull ??= this.#take())
  }

  async #take(): Promise<boolean> {
    try {
      const source = this.#opened ?? (await this.#start())
      const next = await source.next()
      if (next.done) this.#ended = { value: next.value }
      else for (const reader of this.#readers) reader.queue.push(next.value)
    } catch (error) {
      this.#ended = { error }
    }
    this.#pull = undefined
    return this.#ended === undefined
  }

  async #start(): Promise<AsyncGenerator<T, TReturn, void>> {
    this.#source ??= this.#open()
    this.#opened = await this.#source
    return this.#opened
  }

  /** The last reader that leaves takes the run with it, unless somebody awaits its result. */
  async #leave(reader: Reader<T>): Promise<void> {
    reader.left = true
    reader.queue = []
    this.#readers.delete(reader)
    if (this.#readers.size > 0 || this.#draining || this.#ended || !this.#source) return
    try {
      const source = await this.#source
      this.#ended = { value: ((await source.return(undefined as TReturn)) as IteratorReturnResult<TReturn>).value }
    } catch (error) {
      this.#ended = { error }
    }
  }
}

/** A view as a generator, so that `break` in a `for await` leaves it. */
class View<T> implements AsyncGenerator<T, void, void> {
  readonly #read: () => Promise<IteratorResult<T, void>>
  readonly #leave: () => Promise<void>

  constructor(read: () => Promise<IteratorResult<T, void>>, leave: () => Promise<void>) {
    this.#read = read
    this.#leave = leave
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#read()
  }

  async return(): Promise<IteratorResult<T, void>> {
    await this.#leave()
    return { done: true, value: undefined }
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.#leave()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave()
  }
}
