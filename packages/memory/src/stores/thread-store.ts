// The contract of a store: threads, their messages in sequence, and the runs that wait for an answer.
import type { AgentMessage } from '@lockstep/message-list'

/** A conversation that is kept. */
export interface Thread {
  readonly id: string
  /** Whose it is: a user, a tenant. A thread without one is anybody's. */
  readonly resourceId?: string
  readonly title?: string
  /** Plain JSON of the application. */
  readonly metadata?: { readonly [key: string]: unknown }
  /** Counts the commits that changed something: 1 after the first. */
  readonly revision: number
  /** ISO-8601. */
  readonly createdAt: string
  /** ISO-8601: when the last commit changed something. */
  readonly updatedAt: string
}

/** A part of a thread, as it was at one moment. */
export interface ThreadPage {
  /** Undefined when there is no such thread; its revision is 0 then. */
  readonly thread: Thread | undefined
  /** In sequence. */
  readonly messages: readonly AgentMessage[]
}

/** Which messages of a thread are read: all, unless one of these says less. */
export interface ReadOptions {
  /** At most so many, the newest. */
  readonly last?: number
  /** Only those before the message with this id. */
  readonly before?: string
  /** Those with these ids, in addition to `last`; alone when `last` is absent. Ids that nobody has are no error. */
  readonly ids?: readonly string[]
}

/** What a writer wants to be true: all of it or nothing of it. */
export interface ThreadCommit {
  /** The revision that the writer has read; 0 when there was no thread. */
  readonly expectedRevision: number
  /** Ids of messages that are to be gone for good. Done before `put`, so an id in both moves to the end. */
  readonly remove?: readonly string[]
  /** A message with a known id takes the place of the stored one; the others go to the end, in this order. */
  readonly put?: readonly AgentMessage[]
  /** What is to be known about the thread. What is absent stays as it is. */
  readonly thread?: Partial<Pick<Thread, 'resourceId' | 'title' | 'metadata'>>
}

/**
 * What became of a commit. A conflict means that somebody else wrote since `expectedRevision`, and that nothing was
 * written: read again, and commit on the revision that is there.
 */
export type CommitOutcome =
  | { readonly type: 'committed'; readonly revision: number }
  | { readonly type: 'conflict'; readonly expectedRevision: number; readonly revision: number }

/** A run that waits for an answer, as JSON. */
export interface SuspendedRun {
  readonly runId: string
  readonly threadId: string
  /** The state of the loop; the store does not look into it. */
  readonly state: unknown
  /** ISO-8601. */
  readonly createdAt: string
}

/** A small value that an application keeps beside its threads: what is known about a user, a plan. */
export interface StoredDocument {
  readonly key: string
  /** Plain JSON. */
  readonly value: unknown
  /** Counts the writes that changed something. */
  readonly revision: number
}

/** What a document is to be. */
export interface DocumentWrite {
  readonly key: string
  /** Plain JSON; `undefined` removes the document. */
  readonly value: unknown
  /** The revision that the writer has read; 0 when there was no document. */
  readonly expectedRevision: number
  /** The thread with which the document goes. */
  readonly threadId?: string
}

/** Which threads are listed. */
export interface ListThreadsOptions {
  readonly resourceId?: string
  /** At most so many; 100 when absent. */
  readonly limit?: number
  /** Continues after this one, the last of the page before. */
  readonly after?: Pick<Thread, 'id' | 'updatedAt'>
}

/**
 * Keeps threads. `threadStoreContract` of `@lockstep/memory/testing` has the laws of it as tests.
 *
 * *Order*: messages keep the sequence in which they were first put, whatever their time says.
 * *Cost*: reading the last messages and committing do not depend on how long the thread is.
 * *Throws*: `MemoryError`, with the driver's error as its cause.
 */
export interface ThreadStore {
  /** Reads a thread and some of its messages, as of one moment. Throws: `unknown-message` for `before`. */
  read(threadId: string, options?: ReadOptions): Promise<ThreadPage>
  /**
   * Writes. What is true already needs no writing: a commit that changes nothing is committed, whatever revision it
   * expects, so that a writer that never heard of its success may simply try again.
   */
  commit(threadId: string, commit: ThreadCommit): Promise<CommitOutcome>
  /** Threads, the last changed one first. */
  listThreads(options?: ListThreadsOptions): Promise<readonly Thread[]>
  readDocument(key: string): Promise<StoredDocument | undefined>
  /** Writes a document, with the promises of `commit`. */
  writeDocument(write: DocumentWrite): Promise<CommitOutcome>
  /** Removes a thread with its messages, runs and documents. A thread that is not there is no error. */
  deleteThread(threadId: string): Promise<void>
  /** Keeps a run; one with the same id is replaced. */
  saveRun(run: Pick<SuspendedRun, 'runId' | 'threadId' | 'state'>): Promise<void>
  readRun(runId: string): Promise<SuspendedRun | undefined>
  /** The runs of a thread, the oldest first. */
  listRuns(threadId: string): Promise<readonly SuspendedRun[]>
  /** Removes a run, and tells whether it was there: of several callers, one is told so. */
  removeRun(runId: string): Promise<boolean>
  /** Lets go of files and connections. What is called afterwards throws `store-closed`. */
  close(): Promise<void>
}
