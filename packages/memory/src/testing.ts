// The contract of a store as tests: each law is a name and a check that throws, for any test runner.
import type { AgentMessage } from '@lockstep/message-list'
import type { CommitOutcome, ThreadCommit, ThreadPage, ThreadStore } from './stores/thread-store.ts'

/** One law of stores. */
export interface StoreLaw {
  /** A sentence about a store. */
  readonly law: string
  /** Throws when the store does not keep the law. */
  readonly check: () => Promise<void>
}

/** A store to check, and how to reach the same data a second time. */
export interface StoreUnderTest {
  readonly store: ThreadStore
  /** Another store on the same data, as another process would have it. Absent: the store is the only one there is. */
  readonly reopen?: () => ThreadStore | Promise<ThreadStore>
}

/**
 * The laws that every store keeps. `makeStore` is called for each law; the data may be shared between laws, since each
 * uses thread ids of its own. The store is closed afterwards.
 *
 * @example
 * for (const { law, check } of threadStoreContract(() => ({ store: sqliteStore({ path: ':memory:' }) }))) it(law, check)
 */
export function threadStoreContract(makeStore: () => StoreUnderTest | Promise<StoreUnderTest>): readonly StoreLaw[] {
  return Object.entries(laws).map(([law, check]) => ({
    law,
    check: async () => {
      const { store, reopen } = await makeStore()
      const opened: ThreadStore[] = [store]
      const again = async () => {
        const other = (await reopen?.()) ?? store
        if (other !== store) opened.push(other)
        return other
      }
      const name = `law-${crypto.randomUUID()}`
      try {
        await check({ store, again, threadId: name, resourceId: `${name}-owner`, runId: `${name}-run` })
      } finally {
        for (const one of opened) await one.close()
      }
    },
  }))
}

interface Given {
  readonly store: ThreadStore
  readonly again: () => Promise<ThreadStore>
  readonly threadId: string
  readonly resourceId: string
  readonly runId: string
}

const laws: Readonly<Record<string, (given: Given) => Promise<void>>> = {
  'has no thread that nobody made': async ({ store, threadId }) => {
    same(await store.read(threadId), { thread: undefined, messages: [] })
    same(await store.readRun(threadId), undefined)
    same(await store.listRuns(threadId), [])
    same(await store.removeRun(threadId), false)
    await store.deleteThread(threadId)
  },
  'gives messages back as they were put, to another process too': async ({ store, again, threadId }) => {
    const messages = [hostile('m1'), message('m2', 'answer'), message('m3', '')]
    same(await store.commit(threadId, { expectedRevision: 0, put: messages }), committed(1))
    same((await (await again()).read(threadId)).messages, messages)
  },
  'keeps the sequence in which messages came, whatever their time says': async ({ store, threadId }) => {
    const late = { ...message('late', 'a'), createdAt: '2030-01-01T00:00:00.000Z' }
    const early = { ...message('early', 'b'), createdAt: '2001-01-01T00:00:00.000Z' }
    await store.commit(threadId, { expectedRevision: 0, put: [late, early] })
    await store.commit(threadId, { expectedRevision: 1, put: [message('next', 'c')] })
    same(idsOf(await store.read(threadId)), 'late early next')
  },
  'replaces a message in its place': async ({ store, threadId }) => {
    await store.commit(threadId, { expectedRevision: 0, put: [message('a', '1'), message('b', '2')] })
    same(await store.commit(threadId, { expectedRevision: 1, put: [message('a', 'one')] }), committed(2))
    same((await store.read(threadId)).messages, [message('a', 'one'), message('b', '2')])
  },
  'removes messages, and moves those that are put again to the end': async ({ store, threadId }) => {
    await store.commit(threadId, { expectedRevision: 0, put: ['a', 'b', 'c', 'd'].map(id => message(id, id)) })
    same(
      await store.commit(threadId, { expectedRevision: 1, remove: ['a', 'c', 'unknown'], put: [message('a', 'a')] }),
      committed(2),
    )
    same(idsOf(await store.read(threadId)), 'b d a')
  },
  'refuses a writer that has not read the last revision, and writes nothing of it': async ({ store, threadId }) => {
    await store.commit(threadId, { expectedRevision: 0, put: [message('a', '1')] })
    const stale: ThreadCommit = { expectedRevision: 0, put: [message('b', '2')], remove: ['a'], thread: { title: 'x' } }
    same(await store.commit(threadId, stale), { type: 'conflict', expectedRevision: 0, revision: 1 })
    const early = { expectedRevision: 7, put: [message('b', '2')] }
    same(await store.commit(threadId, early), { type: 'conflict', expectedRevision: 7, revision: 1 })
    const page = await store.read(threadId)
    same([idsOf(page), page.thread?.title, page.thread?.revision], ['a', undefined, 1])
  },
  'takes a commit twice as once': async ({ store, threadId }) => {
    const commit = { expectedRevision: 0, put: [message('a', '1'), message('b', '2')], thread: { title: 'Twice' } }
    same(await store.commit(threadId, commit), committed(1))
    same(await store.commit(threadId, commit), committed(1))
    const removal = { expectedRevision: 1, remove: ['b'] }
    same(await store.commit(threadId, removal), committed(2))
    same(await store.commit(threadId, removal), committed(2))
    same(idsOf(await store.read(threadId)), 'a')
  },
  'commits all of a commit or nothing of it': async ({ store, threadId }) => {
    const stranger = { ...message('b', '2'), threadId: `${threadId}-other` }
    const refused = await store.commit(threadId, { expectedRevision: 0, put: [message('a', '1'), stranger] }).then(
      () => 'taken',
      (error: unknown) => (error as { readonly code?: unknown }).code,
    )
    same(refused, 'wrong-thread')
    same((await store.read(threadId)).messages, [])
  },
  'loses and doubles nothing of writers that write at once': async ({ store, again, threadId }) => {
    const other = await again()
    const write = async (writer: ThreadStore, name: string) => {
      for (let count = 0; count < 12; count++) await appended(writer, threadId, message(`${name}${count}`, name))
    }
    await Promise.all([write(store, 'a'), write(other, 'b'), write(other, 'c')])
    const ids = idsOf(await store.read(threadId)).split(' ')
    for (const name of ['a', 'b', 'c']) {
      const own = ids.filter(id => id.startsWith(name))
      same(
        own,
        Array.from({ length: 12 }, (_, count) => `${name}${count}`),
      )
    }
    same((await store.read(threadId)).thread?.revision, 36)
  },
  'reads the last messages, those before one, and some by id': async ({ store, threadId }) => {
    const ids = Array.from({ length: 30 }, (_, index) => `m${index}`)
    await store.commit(threadId, { expectedRevision: 0, put: ids.map(id => message(id, id)) })
    same(idsOf(await store.read(threadId, { last: 3 })), 'm27 m28 m29')
    same(idsOf(await store.read(threadId, { last: 2, before: 'm27' })), 'm25 m26')
    same(idsOf(await store.read(threadId, { before: 'm2' })), 'm0 m1')
    same(idsOf(await store.read(threadId, { last: 0 })), '')
    same(idsOf(await store.read(threadId, { last: 100 })), ids.join(' '))
    same(idsOf(await store.read(threadId, { ids: ['m9', 'm4', 'unknown'] })), 'm4 m9')
    same(idsOf(await store.read(threadId, { last: 2, ids: ['m29', 'm1'] })), 'm1 m28 m29')
    const wrong = await store.read(threadId, { before: 'unknown' }).then(
      () => 'read',
      (error: unknown) => (error as { readonly code?: unknown }).code,
    )
    same(wrong, 'unknown-message')
  },
  'keeps threads apart': async ({ store, threadId }) => {
    await store.commit(threadId, { expectedRevision: 0, put: [message('a', 'here')] })
    await store.commit(`${threadId}-2`, { expectedRevision: 0, put: [message('a', 'there')] })
    await store.deleteThread(`${threadId}-2`)
    same((await store.read(threadId)).messages, [message('a', 'here')])
  },
  'knows of a thread whose it is, what it is called and when it changed': async ({ store, threadId, resourceId }) => {
    const known = { resourceId, title: 'Trip "to" Rome', metadata: { starred: true, tags: ['a', 'ä'] } }
    await store.commit(threadId, { expectedRevision: 0, thread: known })
    await store.commit(threadId, { expectedRevision: 1, put: [message('a', '1')], thread: { title: 'Rome' } })
    const { thread } = await store.read(threadId, { last: 0 })
    same(
      { ...thread, createdAt: '', updatedAt: '' },
      {
        id: threadId,
        ...known,
        title: 'Rome',
        revision: 2,
        createdAt: '',
        updatedAt: '',
      },
    )
    same(thread!.createdAt <= thread!.updatedAt && !Number.isNaN(Date.parse(thread!.createdAt)), true)
  },
  'lists threads by owner, the last changed one first, page by page': async ({ store, threadId, resourceId }) => {
    const ids = [1, 2, 3, 4, 5].map(number => `${threadId}-${number}`)
    for (const id of ids) await store.commit(id, { expectedRevision: 0, thread: { resourceId } })
    await store.commit(`${threadId}-strange`, { expectedRevision: 0, thread: { resourceId: `${resourceId}-2` } })
    const first = await store.listThreads({ resourceId, limit: 2 })
    const second = await store.listThreads({ resourceId, limit: 2, after: first[1]! })
    const third = await store.listThreads({ resourceId, limit: 2, after: second[1]! })
    const listed = [...first, ...second, ...third]
    same([first.length, second.length, third.length], [2, 2, 1])
    same(listed.map(({ id }) => id).toSorted(), ids)
    const times = listed.map(({ updatedAt }) => updatedAt)
    same(times, times.toSorted().toReversed())
    const everyone = await store.listThreads({ limit: 1000 })
    same(
      ids.every(id => everyone.some(thread => thread.id === id)),
      true,
    )
  },
  'deletes a thread with all that belongs to it': async ({ store, threadId, runId, again }) => {
    await store.commit(threadId, { expectedRevision: 0, put: [message('a', '1')] })
    await store.saveRun({ runId, threadId, state: {} })
    await store.writeDocument({ key: `${threadId}/mine`, value: 1, expectedRevision: 0, threadId })
    await store.writeDocument({ key: `${threadId}/free`, value: 1, expectedRevision: 0 })
    await store.deleteThread(threadId)
    same(await store.readDocument(`${threadId}/mine`), undefined)
    same((await store.readDocument(`${threadId}/free`))?.value, 1)
    same(await (await again()).read(threadId), { thread: undefined, messages: [] })
    same(await store.listRuns(threadId), [])
    same(await store.commit(threadId, { expectedRevision: 0, put: [message('a', 'again')] }), committed(1))
  },
  'keeps documents, and refuses a writer that has not read the last revision': async ({ store, threadId, again }) => {
    const key = `${threadId}/document`
    const value = { name: 'Ada "A" \u0000', likes: ['tea', null] }
    same(await store.readDocument(key), undefined)
    same(await store.writeDocument({ key, value, expectedRevision: 0 }), committed(1))
    same(await store.writeDocument({ key, value, expectedRevision: 0 }), committed(1))
    const stale = { type: 'conflict', expectedRevision: 0, revision: 1 }
    same(await store.writeDocument({ key, value: 'other', expectedRevision: 0 }), stale)
    same(await (await again()).readDocument(key), { key, value, revision: 1 })
    same(await store.writeDocument({ key, value: null, expectedRevision: 1 }), committed(2))
    same(await store.readDocument(key), { key, value: null, revision: 2 })
    same(await store.writeDocument({ key, value: undefined, expectedRevision: 2 }), committed(0))
    same(await store.readDocument(key), undefined)
  },
  'lets one of several writers make a document': async ({ store, threadId, again }) => {
    const other = await again()
    const key = `${threadId}/race`
    const outcomes = await Promise.all(
      [store, other, store, other].map((writer, value) => writer.writeDocument({ key, value, expectedRevision: 0 })),
    )
    same(outcomes.filter(({ type }) => type === 'committed').length, 1)
    const winner = outcomes.findIndex(({ type }) => type === 'committed')
    same(await store.readDocument(key), { key, value: winner, revision: 1 })
  },
  'keeps runs, and gives one to one taker alone': async ({ store, threadId, runId, again }) => {
    const state = { runId, list: { text: 'é\u0000"' }, open: [1, null, { deep: true }] }
    await store.saveRun({ runId: `${runId}-2`, threadId, state: {} })
    await store.saveRun({ runId, threadId, state: { old: true } })
    await store.saveRun({ runId, threadId, state })
    const other = await again()
    const run = await other.readRun(runId)
    same({ ...run, createdAt: '' }, { runId, threadId, state, createdAt: '' })
    same((await other.listRuns(threadId)).map(one => one.runId).toSorted(), [runId, `${runId}-2`])
    const taken = await Promise.all([store, other, store, other].map(one => one.removeRun(runId)))
    same(taken.filter(Boolean).length, 1)
    same(
      (await store.listRuns(threadId)).map(one => one.runId),
      [`${runId}-2`],
    )
  },
  'shares no object with who put it or who read it': async ({ store, threadId, runId }) => {
    const mine = structuredClone(message('a', 'before')) as { content: { parts: { text: string }[] } } & AgentMessage
    const state = { text: 'before' }
    await store.commit(threadId, { expectedRevision: 0, put: [mine] })
    await store.saveRun({ runId, threadId, state })
    ;(mine.content.parts[0] as { text: string }).text = 'after'
    state.text = 'after'
    same((await store.read(threadId)).messages, [message('a', 'before')])
    same((await store.readRun(runId))?.state, { text: 'before' })
  },
  'does nothing after it was closed, and closes twice as once': async ({ store, threadId }) => {
    await store.close()
    await store.close()
    const late = await store.read(threadId).then(
      () => 'read',
      (error: unknown) => (error as { readonly code?: unknown }).code,
    )
    same(late, 'store-closed')
  },
}

/** Appends as a writer does that shares its thread: on a conflict it takes the revision that is there. */
async function appended(store: ThreadStore, threadId: string, put: AgentMessage): Promise<void> {
  let expectedRevision = (await store.read(threadId, { last: 0 })).thread?.revision ?? 0
  for (;;) {
    const outcome = await store.commit(threadId, { expectedRevision, put: [put] })
    if (outcome.type === 'committed') return
    expectedRevision = outcome.revision
  }
}

const createdAt = '2026-11-21T10:00:00.000Z'

function message(id: string, text: string): AgentMessage {
  return { id, role: 'user', createdAt, content: { format: 2, parts: [{ type: 'text', text }] } }
}

/** What a careless store would lose: quotes, NUL, text beyond the first plane, deep metadata, an order of keys. */
function hostile(id: string): AgentMessage {
  const text = 'a "quoted" \\ line\n\u0000 \u{1F9EA} \u2028 \'; DROP TABLE lockstep_messages; --'
  return {
    id,
    role: 'assistant',
    createdAt,
    content: {
      format: 2,
      parts: [
        { type: 'text', text },
        { type: 'data-z', data: { z: 1, a: [null, 0.1, -0, 1e21, true] } },
      ],
      metadata: { z: { y: [{ x: 'ß' }] }, a: '' },
    },
  }
}

function committed(revision: number): CommitOutcome {
  return { type: 'committed', revision }
}

function idsOf({ messages }: ThreadPage): string {
  return messages.map(({ id }) => id).join(' ')
}

function same(found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(sorted(found)), JSON.stringify(sorted(expected))]
  if (left !== right) throw new Error(`The store gave ${left}, and the contract says ${right}.`)
}

/** Objects with their keys in order, so that equal ones have equal JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
