import type { Processor } from '@lockstep/agent'
import { memory, type SemanticRecallOptions, type VectorIndex } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { sqliteVectorIndex } from '@lockstep/memory/sqlite-vectors'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { conversation, storedLines } from './conversation.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-vectors-'))
afterAll(() => rmSync(folder, { recursive: true }))

const topics = ['rome', 'tea', 'train', 'tax']
/** An embedder of these four words. */
const embed = (texts: readonly string[]) =>
  Promise.resolve(texts.map(text => [...topics.map(topic => text.toLowerCase().split(topic).length - 1), 0.01]))
const newIndex = () => sqliteVectorIndex({ path: ':memory:', dimensions: 5 })
const recall = (index: VectorIndex, own: Partial<SemanticRecallOptions> = {}) => ({
  lastMessages: 0,
  semanticRecall: { index, embed, turnCount: 1, ...own },
})

describe('semantic recall', () => {
  it('shows what means something similar to the model, in the prompt alone', async () => {
    const { agent, store, prompts } = conversation(['Go in May.', 'Green.', 'In May.'], { memory: recall(newIndex()) })
    await agent.generate('When to Rome?', { threadId: 't' })
    await agent.generate('Which tea?', { threadId: 't' })
    await agent.generate('Rome, was it?', { threadId: 't' })
    expect(prompts()[2]).toMatch(
      /^user: Said earlier.*\(\d{4}-\d\d-\d\d\)\nuser: When to Rome\?\nassistant: Go in May\. \| user: Rome, was it\?$/s,
    )
    expect(JSON.stringify(await store.read('t'))).not.toContain('Said earlier')
    expect(await storedLines(store)).toHaveLength(6)
  })

  it('stays in every step of the run, and leaves out what is remembered anyway', async () => {
    const index = newIndex()
    const look = { toolCalls: [{ toolName: 'weather', input: { city: 'Rome' } }] }
    const { agent, prompts, store } = conversation(['Go in May.', look, 'Sunny.'], { memory: recall(index) })
    await agent.generate('When to Rome?', { threadId: 't' })
    await agent.generate('Weather in Rome?', { threadId: 't' })
    expect(
      prompts()
        .slice(1)
        .every(prompt => prompt.startsWith('user: Said earlier')),
    ).toBe(true)
    const complete = conversation(['Yes.'], { store, memory: { ...recall(index), lastMessages: 40 } })
    await complete.agent.generate('Rome?', { threadId: 't' })
    expect(complete.prompts()[0]).not.toContain('Said earlier')
  })

  it('looks in the thread, or in all threads of the resource, and never in those of another', async () => {
    for (const scope of ['thread', 'resource'] as const) {
      const index = newIndex()
      const options = { store: inMemoryStore(), memory: recall(index, { scope }) }
      await conversation(['Secret.'], options).agent.generate('Rome?', { threadId: 'eve', resourceId: 'eve' })
      await conversation(['Go in May.'], options).agent.generate('Rome?', { threadId: 'one', resourceId: 'ada' })
      const two = conversation(['So?'], options)
      await two.agent.generate('Rome!', { threadId: 'two', resourceId: 'ada' })
      expect(two.prompts()[0]?.includes('Go in May.')).toBe(scope === 'resource')
      expect(two.prompts()[0]).not.toContain('Secret')
    }
  })

  it('believes the store, not the index, whose a thread is', async () => {
    const index = newIndex()
    const options = { store: inMemoryStore(), memory: recall(index, { scope: 'resource' }) }
    await conversation(['Secret.'], options).agent.generate('Rome?', { threadId: 'eve', resourceId: 'eve' })
    const { messages } = await options.store.read('eve')
    const [vector = []] = await embed(['rome'])
    await index.put([
      { id: 'wrong', threadId: 'eve', resourceId: 'ada', messageIds: messages.map(({ id }) => id), vector },
    ])
    const ada = conversation(['So?'], options)
    await ada.agent.generate('Rome!', { threadId: 'one', resourceId: 'ada' })
    expect(ada.prompts()).toEqual(['user: Rome!'])
  })

  it('recalls nothing that was refused, removed, or too far away', async () => {
    const index = newIndex()
    const options = { store: inMemoryStore(), memory: recall(index, { maxDistance: 0.5 }) }
    const guard: Processor = { id: 'guard', processOutputStep: ({ abort }) => abort('no') }
    await conversation(['Secret.'], { ...options, outputProcessors: [guard] }).agent.generate('Rome?', {
      threadId: 't',
    })
    await conversation(['Green.'], options).agent.generate('Tea?', { threadId: 't' })
    await conversation(['Noon.'], options).agent.generate('Train?', { threadId: 't' })
    const { thread, messages } = await options.store.read('t')
    const train = messages.slice(-2).map(({ id }) => id)
    await options.store.commit('t', { expectedRevision: thread!.revision, remove: train })
    const next = conversation(['Rome', 'Tax', 'Train'], options)
    for (const text of ['Rome?', 'Tax?', 'Train?']) await next.agent.generate(text, { threadId: 't' })
    expect(next.prompts()).toEqual(['user: Rome?', 'user: Tax?', 'user: Train?'])
  })

  it('that fails, fails no run, and is noted', async () => {
    const broken = { index: newIndex(), embed: () => Promise.reject(new Error('no embedder')) }
    const { agent, store } = conversation(['Hello.'], { memory: { semanticRecall: broken } })
    const { stopReason, trace } = await agent.generate('Rome?', { threadId: 't' })
    expect([stopReason, await storedLines(store)]).toEqual(['completed', ['user: Rome?', 'assistant: Hello.']])
    expect(JSON.stringify(trace)).toContain('semantic-recall')
  })

  it('goes with its thread', async () => {
    const index = newIndex()
    const options = { store: inMemoryStore(), memory: recall(index) }
    await conversation(['Go in May.'], options).agent.generate('Rome?', { threadId: 't' })
    const [vector = []] = await embed(['rome'])
    expect(await index.search({ vector, limit: 5 })).toHaveLength(1)
    await memory({ store: options.store, ...options.memory }).deleteThread('t')
    expect(await index.search({ vector, limit: 5 })).toEqual([])
    expect((await options.store.read('t')).thread).toBeUndefined()
  })
})

describe('the vector index in SQLite', () => {
  it('gives the nearest first, replaces by id, and survives', async () => {
    const path = join(folder, 'vectors.db')
    const index = sqliteVectorIndex({ path, dimensions: 3 })
    const entry = (id: string, vector: readonly number[]) => ({ id, threadId: 't', messageIds: [id, `${id}2`], vector })
    await index.put([entry('far', [0, 1, 0]), entry('near', [1, 0.1, 0]), entry('moved', [1, 0, 0])])
    await index.put([entry('moved', [-1, 0, 0])])
    await index.close()
    const again = sqliteVectorIndex({ path, dimensions: 3 })
    const hits = await again.search({ vector: [1, 0, 0], limit: 5 })
    expect(hits.map(({ messageIds }) => messageIds[0])).toEqual(['near', 'far', 'moved'])
    expect(hits.map(({ distance }) => Math.round(distance))).toEqual([0, 1, 2])
    expect(await again.search({ vector: [1, 0, 0], limit: 5, threadId: 'other' })).toEqual([])
    await again.close()
    await expect(again.search({ vector: [1, 0, 0], limit: 1 })).rejects.toMatchObject({ code: 'store-closed' })
  })

  it('refuses vectors of another embedder', async () => {
    const path = join(folder, 'dimensions.db')
    const index = sqliteVectorIndex({ path, dimensions: 3 })
    const search = { vector: [1, 0], limit: 1 }
    await expect(index.search(search)).rejects.toMatchObject({ code: 'invalid-vector' })
    const other = sqliteVectorIndex({ path, dimensions: 2 })
    await expect(other.search(search)).rejects.toMatchObject({ code: 'invalid-vector' })
    await index.close()
  })
})
