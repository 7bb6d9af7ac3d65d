// Between a run that writes and a reader that reads: a generator whose producer is a plain async function.

/** Hands a value to the reader. The promise, when there is one, asks the producer to wait for the reader. */
export type Emit<T> = (value: T) => void | Promise<void>

/** Who waits for a value: the two ends of a promise, or somebody who needs none. */
export interface ChunkReader<T, TReturn> {
  readonly resolve: (result: IteratorResult<T, TReturn>) => void
  readonly reject: (error: unknown) => void
}

/** A generator that can also be read without a promise for each value. */
export interface ChunkGenerator<T, TReturn> extends AsyncGenerator<T, TReturn, void> {
  /** As `next`. It may be answered before it returns. */
  read(reader: ChunkReader<T, TReturn>): void
}

/** How many values may wait for the reader before the producer is asked to. */
const roomCount = 64

/**
 * An async generator that is fed by calls instead of `yield`, so that any depth of the producer can write to it
 * at the cost of one call.
 *
 * *Order*: the producer starts with the first read. Leaving early calls `leave` and waits until the producer has ended.
 */
export class ChunkChannel<T, TReturn> implements ChunkGenerator<T, TReturn> {
  readonly #produce: (emit: Emit<T>) => Promise<TReturn>
  readonly #leave: () => void
  #values: T[] = []
  #head = 0
  /** Who waits for a value; seldom more than one. */
  #reader: ChunkReader<T, TReturn> | undefined
  #laterReaders: ChunkReader<T, TReturn>[] = []
  #resume: (() => void) | undefined
  #room: Promise<void> | undefined
  #ended: Promise<void> | undefined
  #ending: { readonly value: TReturn } | { readonly error: unknown } | undefined
  #left = false

  constructor(produce: (emit: Emit<T>) => Promise<TReturn>, leave: () => void) {
    this.#produce = produce
    this.#leave = leave
  }

  next(): Promise<IteratorResult<T, TReturn>> {
    return new Promise((resolve, reject) => this.read({ resolve, reject }))
  }

  read(reader: ChunkReader<T, TReturn>): void {
    this.#start()
    if (this.#head < this.#values.length) return reader.resolve({ done: false, value: this.#take() })
    if (this.#ending) return this.#tellEnd(reader)
    this.#makeRoom()
    if (this.#reader) this.#laterReaders.push(reader)
    else this.#reader = reader
  }

  /** Ends the run early, and gives what it returned all the same. */
  async return(): Promise<IteratorResult<T, TReturn>> {
    if (!this.#left && this.#ended && !this.#ending) {
      this.#values = []
      this.#head = 0
      this.#leave()
    }
    this.#left = true
    this.#makeRoom()
    await this.#ended
    return new Promise((resolve, reject) => this.#tellEnd({ resolve, reject }))
  }

  async throw(error: unknown): Promise<IteratorResult<T, TReturn>> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  #start(): void {
    if (this.#ended || this.#left) return
    this.#ended = this.#produce(value => this.#emit(value)).then(
      value => this.#end({ value }),
      (error: unknown) => this.#end({ error }),
    )
  }

  #emit(value: T): void | Promise<void> {
    if (this.#left) return
    const reader = this.#reader
    if (reader) {
      this.#reader = this.#laterReaders.length === 0 ? undefined : this.#laterReaders.shift()
      return reader.resolve({ done: false, value })
    }
    this.#values.push(value)
    if (this.#values.length - this.#head < roomCount) return
    this.#room ??= new Promise(resolve => (this.#resume = resolve))
    return this.#room
  }

  #take(): T {
    const value = this.#values[this.#head]!
    this.#values[this.#head++] = undefined as T
    if (this.#head === this.#values.length) {
      this.#values = []
      this.#head = 0
      this.#makeRoom()
    }
    return value
  }

  #makeRoom(): void {
    this.#resume?.()
    this.#resume = undefined
    this.#room = undefined
  }

  #end(ending: { readonly value: TReturn } | { readonly error: unknown }): void {
    this.#ending ??= ending
    const [first, others] = [this.#reader, this.#laterReaders]
    this.#reader = undefined
    this.#laterReaders = []
    if (first) this.#tellEnd(first)
    for (const reader of others) reader.resolve({ done: true, value: undefined as TReturn })
  }

  /** The end is told once; a reader that comes again hears only that it is over. */
  #tellEnd(reader: ChunkReader<T, TReturn>): void {
    const over = { value: undefined as TReturn }
    const ending = this.#ending ?? over
    if (this.#ending) this.#ending = over
    if ('error' in ending) reader.reject(ending.error)
    else reader.resolve({ done: true, value: ending.value })
  }
}
