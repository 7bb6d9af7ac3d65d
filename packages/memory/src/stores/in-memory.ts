// The store for tests and for what need not survive: everything is in this object, as text, as in the other stores.
import { idsIn, planCommit, planDocument, type CommitWrite, type DocumentRow } from './commit-plan.ts'
import { documentOfRow } from './stored-row.ts'
import { closedStore, parsed, storedMessageOf, unknownMessage } from './stored-message.ts'
import type {
  CommitOutcome,
  DocumentWrite,
  ListThreadsOptions,
  ReadOptions,
  StoredDocument,
  SuspendedRun,
  Thread,
  ThreadCommit,
  ThreadPage,
  ThreadStore,
} from './thread-store.ts'

interface Entry {
  thread: Thread
  /** In sequence. */
  ids: string[]
  readonly bodies: Map<string, string>
}

interface RunEntry extends Omit<SuspendedRun, 'state'> {
  readonly text: string
}

/** Makes a store that lives as long as the process. */
export function inMemoryStore(): ThreadStore {
  return new InMemoryStore()
}

class InMemoryStore implements ThreadStore {
  readonly #threads = new Map<string, Entry>()
  readonly #runs = new Map<string, RunEntry>()
  readonly #documents = new Map<string, DocumentRow & { readonly threadId: string | undefined }>()
  #closed = false

  async read(threadId: string, options: ReadOptions = {}): Promise<ThreadPage> {
    this.#checkOpen()
    const entry = this.#threads.get(threadId)
    const { ids = [], bodies = new Map<string, string>(), thread } = entry ?? {}
    const end = options.before === undefined ? ids.length : ids.indexOf(options.before)
    if (end < 0) throw unknownMessage(threadId, options.before!)
    const last = options.last ?? (options.ids === undefined ? end : 0)
    const from = Math.max(end - last, 0)
    const named = new Set(options.ids)
    const early = named.size === 0 ? [] : ids.slice(0, from).filter(id => named.has(id))
    const chosen = [...early, ...ids.slice(from, end)]
    return { thread, messages: chosen.map(id => storedMessageOf({ id, body: bodies.get(id)! })) }
  }

  async commit(threadId: string, commit: ThreadCommit): Promise<CommitOutcome> {
    this.#checkOpen()
    const entry = this.#threads.get(threadId)
    const bodies = new Map(
      idsIn(commit).flatMap(id => (entry?.bodies.has(id) ? [[id, entry.bodies.get(id)!] as const] : [])),
    )
    const plan = planCommit({ thread: entry?.thread, bodies }, commit, { threadId, now: new Date().toISOString() })
    if (plan.type !== 'write') return plan
    this.#write(entry ?? { thread: plan.thread, ids: [], bodies: new Map() }, plan)
    return { type: 'committed', revision: plan.thread.revision }
  }

  #write(entry: Entry, { thread, remove, replace, append }: CommitWrite): void {
    entry.thread = parsed(JSON.stringify(thread), `The thread "${thread.id}"`)
    for (const id of remove) entry.bodies.delete(id)
    if (remove.length > 0) entry.ids = entry.ids.filter(id => entry.bodies.has(id))
    for (const { id, body } of [...replace, ...append]) entry.bodies.set(id, body)
    entry.ids.push(...append.map(({ id }) => id))
    this.#threads.set(thread.id, entry)
  }

  async listThreads({ resourceId, limit = 100, after }: ListThreadsOptions = {}): Promise<readonly Thread[]> {
    this.#checkOpen()
    return [...this.#threads.values()]
      .map(({ thread }) => thread)
      .filter(thread => resourceId === undefined || thread.resourceId === resourceId)
      .filter(thread => after === undefined || newestFirst(after, thread) < 0)
      .toSorted(newestFirst)
      .slice(0, limit)
  }

  async readDocument(key: string): Promise<StoredDocument | undefined> {
    this.#checkOpen()
    const row = this.#documents.get(key)
    return row && documentOfRow(key, row)
  }

  async writeDocument(write: DocumentWrite): Promise<CommitOutcome> {
    this.#checkOpen()
    const { key, threadId } = write
    const plan = planDocument(this.#documents.get(key), write)
    if (plan.type !== 'write') return plan
    if (plan.row === null) this.#documents.delete(key)
    else this.#documents.set(key, { ...plan.row, threadId })
    return { type: 'committed', revision: plan.row?.revision ?? 0 }
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#checkOpen()
    this.#threads.delete(threadId)
    for (const run of this.#runs.values()) if (run.threadId === threadId) this.#runs.delete(run.runId)
    for (const [key, document] of this.#documents) if (document.threadId === threadId) this.#documents.delete(key)
  }

  async saveRun({ runId, threadId, state }: Pick<SuspendedRun, 'runId' | 'threadId' | 'state'>): Promise<void> {
    this.#checkOpen()
    this.#runs.set(runId, { runId, threadId, text: JSON.stringify(state), createdAt: new Date().toISOString() })
  }

  async readRun(runId: string): Promise<SuspendedRun | undefined> {
    this.#checkOpen()
    const run = this.#runs.get(runId)
    return run && runOf(run)
  }

  async listRuns(threadId: string): Promise<readonly SuspendedRun[]> {
    this.#checkOpen()
    return [...this.#runs.values()].filter(run => run.threadId === threadId).map(runOf)
  }

  async removeRun(runId: string): Promise<boolean> {
    this.#checkOpen()
    return this.#runs.delete(runId)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#threads.clear()
    this.#runs.clear()
    this.#documents.clear()
  }

  #checkOpen(): void {
    if (this.#closed) throw closedStore()
  }
}

function newestFirst(a: Pick<Thread, 'id' | 'updatedAt'>, b: Pick<Thread, 'id' | 'updatedAt'>): number {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}

function runOf({ text, ...run }: RunEntry): SuspendedRun {
  return { ...run, state: parsed(text, `The run "${run.runId}"`) }
}
