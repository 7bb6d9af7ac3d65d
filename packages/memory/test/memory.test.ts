import { Agent, RequestContext, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { memory, MemoryError } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { describe, expect, it } from 'vitest'
import { conversation, storedLines } from './conversation.ts'

const thread = { threadId: 't' }

describe('a memory', () => {
  it('gives the next run what the last one said', async () => {
    const { agent, store, prompts } = conversation(['Hello Ada.', 'You are Ada.'])
    await agent.generate('I am Ada.', thread)
    await agent.generate('Who am I?', thread)
    expect(prompts()).toEqual(['user: I am Ada.', 'user: I am Ada. | assistant: Hello Ada. | user: Who am I?'])
    expect(await storedLines(store)).toEqual([
      'user: I am Ada.',
      'assistant: Hello Ada.',
      'user: Who am I?',
      'assistant: You are Ada.',
    ])
  })

  it.each([
    [() => memory({} as never), 'The store is undefined. Give memory({ store }) one'],
    [() => memory(inMemoryStore() as never), 'A store was given in the place of the options.'],
    [() => memory({ store: 'a.db' as never }), 'The store is a.db. Give memory({ store }) one, such as sqliteStore('],
    [() => memory({ store: null as never }), 'The store is null.'],
    [() => sqliteStore('a.db' as never), 'The path of the database is undefined. Give sqliteStore({ path: "a.db" }).'],
    [() => sqliteStore({} as never), 'Give sqliteStore({ path: "threads.db" }).'],
  ])('says what it needs', (make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(make).toThrow(message)
  })

  it('saves by stream what it saves by generate', async () => {
    const { agent, store } = conversation(['Hello.', 'Bye.'])
    await agent.stream('Hi.', thread).result
    await agent.stream('Bye.', thread).text
    expect(await storedLines(store)).toEqual(['user: Hi.', 'assistant: Hello.', 'user: Bye.', 'assistant: Bye.'])
  })

  it('keeps tool calls with their results, and gives both to the next prompt', async () => {
    const call = { toolCalls: [{ toolName: 'weather', input: { city: 'Rome' } }] }
    const { agent, store, prompts } = conversation([call, 'Sunny.', 'Yes.'])
    await agent.generate('Rome?', thread)
    await agent.generate('Sure?', thread)
    expect((await storedLines(store))[1]).toBe('assistant: call-1:output-available=sunny in Rome Sunny.')
    expect(prompts()[2]).toBe(
      'user: Rome? | assistant: call(call-1) | tool: result(sunny in Rome) | assistant: Sunny. | user: Sure?',
    )
  })

  it('keeps threads apart, and reads the thread from the request context', async () => {
    const { agent, store, prompts } = conversation(['one', 'two', 'three'])
    await agent.generate('first', { threadId: 'a' })
    await agent.generate('second', { threadId: 'b' })
    await agent.generate('third', { requestContext: new RequestContext<Record<string, unknown>>({ threadId: 'a' }) })
    expect(prompts().slice(1)).toEqual(['user: second', 'user: first | assistant: one | user: third'])
    expect(await storedLines(store, 'b')).toEqual(['user: second', 'assistant: two'])
  })

  it('serves many runs at once', async () => {
    const store = inMemoryStore()
    const shared = memory({ store })
    const agents = Array.from(
      { length: 20 },
      (_, number) => new Agent({ name: 'test', model: scriptedModel([`answer ${number}`]), memory: shared }),
    )
    await Promise.all(
      agents.map((agent, number) => agent.generate(`question ${number}`, { threadId: `t${number % 4}` })),
    )
    for (const [number] of agents.entries()) {
      const lines = await storedLines(store, `t${number % 4}`)
      expect(lines).toHaveLength(10)
      const question = lines.indexOf(`user: question ${number}`)
      expect(question).toBeGreaterThanOrEqual(0)
      expect(lines.indexOf(`assistant: answer ${number}`)).toBeGreaterThan(question)
    }
  })

  it('refuses a call that names no thread', async () => {
    const { agent, store } = conversation(['never'])
    const error = await agent.generate('Hi').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'hook-failed', cause: { code: 'no-thread' } })
    expect(MemoryError.isInstance((error as Error).cause)).toBe(true)
    expect(await store.listThreads()).toEqual([])
  })

  it('notes whose a thread is, and refuses everybody else', async () => {
    const { agent, store, model } = conversation(['Hello.', 'never'])
    await agent.generate('Secret.', { threadId: 't', resourceId: 'ada' })
    expect((await store.read('t')).thread).toMatchObject({ resourceId: 'ada' })
    for (const resourceId of ['eve', undefined]) {
      const refused = agent.generate('What did she say?', { threadId: 't', ...(resourceId ? { resourceId } : {}) })
      await expect(refused).rejects.toMatchObject({ cause: { code: 'wrong-resource' } })
    }
    expect(model.doStreamCalls).toHaveLength(1)
    expect(await storedLines(store)).toEqual(['user: Secret.', 'assistant: Hello.'])
  })

  it('stays around the processors of a call', async () => {
    const seen: string[] = []
    const perCall: Processor = {
      id: 'per-call',
      processInput: ({ messageList }) => void seen.push(`remembers ${messageList.get.remembered.db().length}`),
      processOutputResult: ({ messages, messageList }) => {
        messageList.update(messages[0]!.id, draft => {
          for (const part of draft.content.parts) if (part.type === 'text') part.text = part.text.toUpperCase()
        })
      },
    }
    const { agent, store } = conversation(['one', 'two'], { inputProcessors: [{ id: 'own', processInput() {} }] })
    await agent.generate('first', thread)
    await agent.generate('second', { ...thread, inputProcessors: [perCall], outputProcessors: [perCall] })
    expect(seen).toEqual(['remembers 2'])
    expect(await storedLines(store)).toEqual(['user: first', 'assistant: one', 'user: second', 'assistant: TWO'])
  })

  it('is made of processors that anybody could have written', () => {
    const { inputProcessors = [], outputProcessors = [] } = memory({ store: inMemoryStore() }).around({})
    expect([...inputProcessors, ...outputProcessors].map(processor => Object.keys(processor))).toEqual([
      ['id', 'name', 'processInput', 'processLLMRequest'],
      ['id', 'name', 'processStepEnd', 'processRunEnd'],
    ])
  })

  it('stores neither context nor instructions', async () => {
    const { agent, store } = conversation(['Hello.'], { instructions: 'Be brief.' })
    await agent.generate('Hi.', { ...thread, context: [{ role: 'user', content: 'It is Monday.' }] })
    expect(await storedLines(store)).toEqual(['user: Hi.', 'assistant: Hello.'])
  })

  it('remembers the last messages, or none', async () => {
    const { agent, prompts, store } = conversation(['1', '2', '3'], { memory: { lastMessages: 2 } })
    for (const text of ['a', 'b', 'c']) await agent.generate(text, thread)
    expect(prompts()[2]).toBe('user: b | assistant: 2 | user: c')
    const forgetful = conversation(['4'], { store, memory: { lastMessages: 0 } })
    await forgetful.agent.generate('d', thread)
    expect(forgetful.prompts()).toEqual(['user: d'])
    const complete = conversation(['5'], { store, memory: { lastMessages: Infinity } })
    await complete.agent.generate('e', thread)
    expect(complete.model.doStreamCalls[0]!.prompt).toHaveLength(9)
  })

  it.each([{ lastMessages: -1 }, { lastMessages: 1.5 }, { maxTokens: NaN }])('refuses %j', options => {
    expect(() => memory({ store: inMemoryStore(), ...options })).toThrow(
      expect.objectContaining({ code: 'invalid-option' }),
    )
  })
})
