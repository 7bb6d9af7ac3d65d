import { memory, type MemoryOptions } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { conversation } from './conversation.ts'

const schema = z.object({ name: z.string(), likes: z.array(z.string()) })
const thread = { threadId: 't', resourceId: 'ada' }
const writes = (input: unknown) => ({ toolCalls: [{ toolName: 'updateWorkingMemory', input }] })
const ada = { name: 'Ada', likes: ['tea'] }

function systemTexts({ model }: ReturnType<typeof conversation>): readonly string[] {
  return model.doStreamCalls.map(({ prompt }) =>
    prompt.flatMap(({ role, content }) => (role === 'system' ? content : [])).join('\n'),
  )
}

const withDocument = (own: Partial<MemoryOptions['workingMemory']> = {}) => ({ workingMemory: { schema, ...own } })

describe('a working memory', () => {
  it('is shown in every step, and rewritten by the model', async () => {
    const one = conversation([writes(ada), 'Noted.'], { memory: withDocument() })
    const result = await one.agent.generate('I am Ada and like tea.', thread)
    expect(result.toolResults).toMatchObject([{ output: 'Stored.' }])
    const [before, after] = systemTexts(one)
    expect(before).toContain('It is empty.')
    expect(after).toContain(JSON.stringify(ada, null, 2))
    const two = conversation(['Hello Ada.'], { store: one.store, memory: withDocument() })
    await two.agent.generate('Hi.', thread)
    expect(systemTexts(two)[0]).toContain('"tea"')
  })

  it('keeps the instructions, and stores none of its own', async () => {
    const one = conversation(['Hello.'], {
      instructions: 'Be brief.',
      memory: withDocument({ instructions: 'A card.' }),
    })
    await one.agent.generate('Hi.', thread)
    expect(systemTexts(one)[0]).toMatch(/^Be brief\.\nA card\. Call updateWorkingMemory/)
    expect(JSON.stringify(await one.store.read('t'))).not.toContain('A card.')
  })

  it('is of the thread, or of the resource in all its threads', async () => {
    for (const [scope, seen] of [
      ['thread', 'It is empty.'],
      ['resource', '"tea"'],
    ] as const) {
      const one = conversation([writes(ada), 'Noted.'], { memory: withDocument({ scope }) })
      await one.agent.generate('Hi.', thread)
      const two = conversation(['Hello.'], { store: one.store, memory: withDocument({ scope }) })
      await two.agent.generate('Hi.', { ...thread, threadId: 'other' })
      expect(systemTexts(two)[0]).toContain(seen)
      const eve = conversation(['Hello.'], { store: one.store, memory: withDocument({ scope }) })
      await eve.agent.generate('Hi.', { threadId: 'eve', resourceId: 'eve' })
      expect(systemTexts(eve)[0]).toContain('It is empty.')
    }
  })

  it('of a resource needs one', async () => {
    const { agent } = conversation(['never'], { memory: withDocument({ scope: 'resource' }) })
    await expect(agent.generate('Hi.', { threadId: 't' })).rejects.toMatchObject({ cause: { code: 'no-resource' } })
  })

  it('does not take what its schema refuses', async () => {
    const { agent, store } = conversation([writes({ name: 7 }), 'Sorry.'], { memory: withDocument() })
    const { steps } = await agent.generate('Hi.', thread)
    expect(steps[0]?.toolErrors).toHaveLength(1)
    expect(await store.readDocument('working-memory/thread/t')).toBeUndefined()
  })

  it('refuses an update of what the model has not seen, shows it, and takes the next', async () => {
    const store = inMemoryStore()
    const key = 'working-memory/thread/t'
    const bob = { name: 'Ada', likes: ['tea', 'coffee'] }
    const one = conversation([writes(ada), writes(bob), 'Noted.'], {
      store,
      memory: withDocument(),
      inputProcessors: [
        {
          id: 'meanwhile',
          processLLMRequest: async ({ stepNumber }) => {
            const value = { name: 'Ada', likes: ['coffee'] }
            if (stepNumber === 0) await store.writeDocument({ key, value, expectedRevision: 0 })
          },
        },
      ],
    })
    const { toolResults } = await one.agent.generate('I like tea.', thread)
    expect(toolResults.map(({ output }) => String(output).split(':')[0])).toEqual(['Not stored', 'Stored.'])
    expect(systemTexts(one)[1]).toContain('coffee')
    expect(await store.readDocument(key)).toMatchObject({ value: bob, revision: 2 })
  })

  it('goes with its thread', async () => {
    const { agent, store } = conversation([writes(ada), 'Noted.'], { memory: withDocument() })
    await agent.generate('Hi.', thread)
    await store.deleteThread('t')
    expect(await store.readDocument('working-memory/thread/t')).toBeUndefined()
  })

  it('is a processor like any other', () => {
    const { inputProcessors = [] } = memory({ store: inMemoryStore(), ...withDocument() }).around({})
    expect(inputProcessors.map(({ id }) => id)).toEqual(['memory', 'working-memory'])
  })
})
