// One run, several readers: each view that was opened before the first read gets every chunk.
import type { ChunkGenerator, ChunkReader } from '@lockstep/agent-loop'
import { AgentError } from '../errors.ts'

/** A chunk in the line of those that were taken. Who still has to read it holds on to the one before. */
interface Taken<T> {
  readonly value: T | undefined
  next: Taken<T> | undefined
}

function beginning(): Taken<never> {
  return { value: undefined, next: undefined }
}

const nobody = () => {}

const end: IteratorReturnResult<void> = Object.freeze({ done: true, value: undefined })

interface Reader<T> {
  /** The last chunk that it has read. */
  at: Taken<T>
  left: boolean
}

/**
 * Reads a source for any number of readers, one chunk at a time, as the fastest of them asks.
 *
 * *Cost*: one promise a chunk, for who asked for it. With one reader nothing is kept; for a slower one is kept what it has
 * not read.
 */
export class SharedReading<T, TReturn> implements ChunkReader<T, TReturn> {
  readonly #open: () => Promise<ChunkGenerator<T, TReturn>>
  readonly #readers = new Set<Reader<T>>()
  #last: Taken<T> = beginning()
  #source: Promise<ChunkGenerator<T, TReturn>> | undefined
  /** The source, once it is open. */
  #opened: ChunkGenerator<T, TReturn> | undefined
  /** Pending while a chunk is being taken. */
  #pull: Promise<IteratorResult<T, void>> | undefined
  /** The reader that asked for that chunk, and the ends of its promise. */
  #asking: Reader<T> | undefined
  #give: (result: IteratorResult<T, void>) => void = nobody
  #fail: (error: unknown) => void = nobody
  #draining: Promise<TReturn> | undefined
  /** Pending while the last reader takes the run with it. */
  #leaving: Promise<void> | undefined
  #ended: { readonly value: TReturn } | { readonly error: unknown } | undefined

  constructor(open: () => Promise<ChunkGenerator<T, TReturn>>) {
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
    await this.#leaving
    while (!this.#ended) await (this.#pull ?? this.#take(undefined))
    if ('value' in this.#ended) return this.#ended.value
    throw this.#ended.error
  }

  #next(reader: Reader<T>): Promise<IteratorResult<T, void>> {
    if (reader.at.next || reader.left) return Promise.resolve(this.#given(reader))
    if (this.#ended) return new Promise(resolve => resolve(this.#given(reader)))
    if (!this.#pull) return this.#take(reader)
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

  /** Takes one chunk from the source for everybody, and gives it to the reader that asks. */
  #take(reader: Reader<T> | undefined): Promise<IteratorResult<T, void>> {
    const pull = new Promise(this.#promised)
    this.#pull = pull
    this.#asking = reader
    if (this.#opened) this.#opened.read(this)
    else this.#start()
    return pull
  }

  readonly #promised = (resolve: (result: IteratorResult<T, void>) => void, reject: (error: unknown) => void): void => {
    this.#give = resolve
    this.#fail = reject
  }

  #start(): void {
    this.#source ??= this.#open()
    this.#source.then(
      source => {
        this.#opened = source
        source.read(this)
      },
      (error: unknown) => this.reject(error),
    )
  }

  /** The source gives a chunk, or its end. */
  resolve(result: IteratorResult<T, TReturn>): void {
    this.#pull = undefined
    if (result.done) this.#ended = { value: result.value }
    else this.#last = this.#last.next = { value: result.value, next: undefined }
    this.#give(this.#asking ? this.#given(this.#asking) : end)
  }

  /** The source has failed. Who awaits the result hears it there. */
  reject(error: unknown): void {
    this.#pull = undefined
    this.#ended = { error }
    if (this.#asking && !this.#asking.left) this.#fail(error)
    else this.#give(end)
  }

  /** The last reader that leaves takes the run with it, unless somebody awaits its result. */
  async #leave(reader: Reader<T>): Promise<void> {
    reader.left = true
    reader.at = beginning()
    this.#readers.delete(reader)
    if (this.#readers.size > 0 || this.#draining || this.#ended || !this.#source) return
    this.#leaving ??= this.#return(this.#source)
    await this.#leaving
  }

  async #return(opening: Promise<ChunkGenerator<T, TReturn>>): Promise<void> {
    try {
      const source = await opening
      const { value } = (await source.return(undefined as TReturn)) as IteratorReturnResult<TReturn>
      // A read that was under way has been told the end, and nobody is told it twice.
      this.#ended ??= { value }
    } catch (error) {
      this.#ended ??= { error }
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
