import type { Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { describe, expect, it } from 'vitest'
import { conversation } from './conversation.ts'

const thread = { threadId: 't' }
const titled = (turns: Parameters<typeof scriptedModel>[0]) => {
  const model = scriptedModel(turns)
  return { model, memory: { titles: { model } } }
}

describe('a title', () => {
  it('is asked for once, when the thread begins', async () => {
    const { model, memory } = titled(['"Plans for Rome."\nIt is about Rome.'])
    const { agent, store } = conversation(['Go in May.', 'By train.'], { memory })
    const { totalUsage, usage } = await agent.generate('When should I go to Rome?', thread)
    await agent.generate('And how?', thread)
    expect((await store.read('t')).thread?.title).toBe('Plans for Rome')
    expect(model.doStreamCalls).toHaveLength(1)
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt)).toContain('When should I go to Rome?')
    expect([usage.totalTokens, totalUsage.totalTokens]).toEqual([15, 30])
  })

  it('is asked of the run’s own model when there is no other', async () => {
    const { agent, store } = conversation(['Title', 'Answer'], { memory: { titles: true } })
    const { text } = await agent.generate('Hi', thread)
    expect([text, (await store.read('t')).thread?.title]).toEqual(['Answer', 'Title'])
  })

  it('that the application gave is kept', async () => {
    const { model, memory } = titled(['never'])
    const { agent, store } = conversation(['Answer'], { memory })
    await store.commit('t', { expectedRevision: 0, thread: { title: 'Mine' } })
    await agent.generate('Hi', thread)
    expect([(await store.read('t')).thread?.title, model.doStreamCalls.length]).toEqual(['Mine', 0])
  })

  it('that cannot be made fails nothing, and is noted', async () => {
    const { memory } = titled([{ error: new Error('overloaded') }])
    const { agent, store } = conversation(['Answer'], { memory })
    const { stopReason, trace } = await agent.generate('Hi', thread)
    expect([stopReason, (await store.read('t')).thread?.title]).toEqual(['completed', undefined])
    expect(JSON.stringify(trace)).toContain('thread-title')
  })

  it('is not made of what was refused', async () => {
    const { memory } = titled(['About a secret'])
    const guard: Processor = { id: 'guard', processOutputStep: ({ abort }) => abort('no') }
    const { agent, store } = conversation(['Answer'], { memory, outputProcessors: [guard] })
    await agent.generate('secret', thread)
    expect((await store.read('t')).thread).toMatchObject({ id: 't' })
    expect((await store.read('t')).thread?.title).toBeUndefined()
    const early = conversation(['Answer'], {
      memory: titled(['never']).memory,
      inputProcessors: [{ id: 'guard', processInput: ({ abort }) => abort('no') }],
    })
    await early.agent.generate('secret', thread)
    expect((await early.store.read('t')).thread?.title).toBeUndefined()
  })
})
