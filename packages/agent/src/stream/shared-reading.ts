// One run, several readers: each view that was opened before the first read gets every chunk.
import { AgentError } from '../errors.ts'

/** A chunk in the line of those that were taken. Who still has to read it holds on to the one before. */
interface Taken<T> {
  readonly value: T | undefined
  next: Taken<T> | undefined
}

function beginning(): Taken<never> {
  return { value: undefined, next: undefined }
}

const end: IteratorReturnResult<void> = Object.freeze({ done: true, value: undefined })

interface Reader<T> {
  /** The last chunk that it has read. */
  at: Taken<T>
  left: boolean
}

/**
 * Reads a source for any number of readers, one chunk at a time, as the fastest of them asks.
 *
 * *Cost*: one promise a chunk for who asked for it, besides the source's own. With one reader nothing is kept; for a slower
 * one is kept what it has not read.
 */
export class SharedReading<T, TReturn> {
  readonly #open: () => Promise<AsyncGenerator<T, TReturn, void>>
  readonly #readers = new Set<Reader<T>>()
  #last: Taken<T> = beginning()
  #source: Promise<AsyncGenerator<T, TReturn, void>> | undefined
  /** The source, once it is open. */
  #opened: AsyncGenerator<T, TReturn, void> | undefined
  /** Pending while a chunk is being taken. */
  #pull: Promise<unknown> | undefined
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
    const reader: Reader<T> = { at: this.#last, left: false }
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
    while (!this.#ended) await (this.#pull ?? this.#take(() => {}))
    if ('value' in this.#ended) return this.#ended.value
    throw this.#ended.error
  }

  #next(reader: Reader<T>): Promise<IteratorResult<T, void>> {
    if (reader.at.next || reader.left) return Promise.resolve(this.#given(reader))
    const give = () => this.#given(reader)
    if (this.#ended) return new Promise(resolve => resolve(give()))
    if (!this.#pull) return this.#take(give)
    const again = () => this.#next(reader)
    return this.#pull.then(again, again)
  }

  /** What a reader gets after a chunk was taken, or after the last. */
  #given(reader: Reader<T>): IteratorResult<T, void> {
    const { next } = reader.at
    if (next) {
      reader.at = next
      return { done: false, value: next.value as T }
    }
    if (!reader.left && this.#ended && 'error' in this.#ended) throw this.#ended.error
    return end
  }

  /** Takes one chunk from the source for everybody, and gives what is then to be given to who asked for it. */
  #take<R>(give: () => R): Promise<R> {
    const source = this.#opened
    const next = source ? source.next() : this.#start().then(opened => opened.next())
    const taken = next.then(
      result => {
        if (result.done) this.#ended = { value: result.value }
        else this.#last = this.#last.next = { value: result.value, next: undefined }
        this.#pull = undefined
        return give()
      },
      (error: unknown) => {
        this.#ended = { error }
        this.#pull = undefined
        return give()
      },
    )
    this.#pull = taken
    return taken
  }

  async #start(): Promise<AsyncGenerator<T, TReturn, void>> {
    this.#source ??= this.#open()
    this.#opened = await this.#source
    return this.#opened
  }

  /** The last reader that leaves takes the run with it, unless somebody awaits its result. */
  async #leave(reader: Reader<T>): Promise<void> {
    reader.left = true
    reader.at = beginning()
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
