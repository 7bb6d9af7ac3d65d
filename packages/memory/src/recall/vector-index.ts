// The contract of a vector index: which turns of which threads are near to a vector.

/** A turn of a thread as a vector. */
export interface VectorEntry {
  /** An entry with the same id is replaced. */
  readonly id: string
  readonly threadId: string
  readonly resourceId?: string
  /** The messages of the turn. The index keeps no text. */
  readonly messageIds: readonly string[]
  readonly vector: readonly number[]
}

/** What is looked for. */
export interface VectorSearch {
  readonly vector: readonly number[]
  readonly limit: number
  /** Only in this thread. */
  readonly threadId?: string
  /** Only in threads of this resource. */
  readonly resourceId?: string
}

/** A turn that is near. */
export interface VectorHit {
  readonly threadId: string
  readonly messageIds: readonly string[]
  /** 0 for the same direction, 1 for none in common, 2 for the opposite. */
  readonly distance: number
}

/** Finds turns by their meaning. */
export interface VectorIndex {
  put(entries: readonly VectorEntry[]): Promise<void>
  /** The nearest first. */
  search(search: VectorSearch): Promise<readonly VectorHit[]>
  removeThread(threadId: string): Promise<void>
  close(): Promise<void>
}
