import type { Processor } from '@lockstep/agent'
import type { Thread, ThreadStore } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { conversation, storedLines } from './conversation.ts'

const thread = { threadId: 't' }
const rome = { toolCalls: [{ toolName: 'weather', input: { city: 'Rome' } }] }

/** A processor that looks at the store at certain hooks. */
function observer(store: ThreadStore, seen: Record<string, readonly string[]>): Processor {
  const look = async (name: string) => void (seen[name] ??= await storedLines(store))
  return {
    id: 'observer',
    processInput: () => look('processInput'),
    processInputStep: ({ stepNumber }) => look(`processInputStep ${stepNumber}`),
    processLLMResponse: ({ stepNumber }) => look(`processLLMResponse ${stepNumber}`),
    processRunEnd: () => look('processRunEnd'),
  }
}

const replaced = (from: string, to: string): Pick<Processor, 'processOutputResult'> => ({
  processOutputResult: ({ messages, messageList }) => {
    for (const { id } of messages)
      messageList.update(id, draft => {
        for (const part of draft.content.parts) if (part.type === 'text') part.text = part.text.replaceAll(from, to)
      })
  },
})

describe('what is stored in the middle of a run', () => {
  it('is the input once a prompt was made of it, and each step when it is committed', async () => {
    const store = inMemoryStore()
    const seen: Record<string, readonly string[]> = {}
    const { agent } = conversation([rome, 'Sunny.'], { store, inputProcessors: [observer(store, seen)] })
    await agent.generate('Rome?', thread)
    expect(seen).toEqual({
      processInput: [],
      'processInputStep 0': [],
      'processLLMResponse 0': ['user: Rome?'],
      'processInputStep 1': ['user: Rome?', 'assistant: call-1:output-available=sunny in Rome'],
      'processLLMResponse 1': ['user: Rome?', 'assistant: call-1:output-available=sunny in Rome'],
      processRunEnd: ['user: Rome?', 'assistant: call-1:output-available=sunny in Rome Sunny.'],
    })
  })

  it('is not the response while a processor may still change it as a whole', async () => {
    const store = inMemoryStore()
    const seen: Record<string, readonly string[]> = {}
    const { agent } = conversation([rome, 'Sunny.'], {
      store,
      inputProcessors: [observer(store, seen)],
      outputProcessors: [{ id: 'gloomy', ...replaced('Sunny', 'Cloudy') }],
    })
    await agent.generate('Rome?', thread)
    expect([seen['processInputStep 1'], seen['processRunEnd']]).toEqual([['user: Rome?'], ['user: Rome?']])
    expect(await storedLines(store)).toEqual([
      'user: Rome?',
      'assistant: call-1:output-available=sunny in Rome Cloudy.',
    ])
  })

  it('is written once: a run of one step makes two commits, and ends without one', async () => {
    const { agent, store } = conversation(['Hello.'])
    await agent.generate('Hi', thread)
    expect((await store.read('t')).thread?.revision).toBe(2)
  })
})

describe('what a processor took away', () => {
  it('from this run is gone from the store, also what a step had saved', async () => {
    const { agent, store } = conversation([rome, 'Sunny.'], {
      inputProcessors: [
        {
          id: 'drop-response',
          processInputStep: ({ stepNumber, messageList }) =>
            void (stepNumber === 1 && messageList.removeByIds(messageList.get.response.db().map(({ id }) => id))),
        },
      ],
    })
    await agent.generate('Rome?', thread)
    expect(await storedLines(store)).toEqual(['user: Rome?', 'assistant: Sunny.'])
  })

  it('from the input of this run is gone from the store', async () => {
    const { agent, store } = conversation([rome, 'Sunny.'], {
      inputProcessors: [
        {
          id: 'drop-input',
          processInputStep: ({ stepNumber, messageList }) =>
            void (stepNumber === 1 && messageList.removeByIds([messageList.get.input.db()[0]!.id])),
        },
      ],
    })
    await agent.generate(['one', 'two'], thread)
    expect(await storedLines(store)).toEqual(['user: two', 'assistant: call-1:output-available=sunny in Rome Sunny.'])
  })

  it('from what the store had before is neither deleted nor rewritten', async () => {
    const { agent, store } = conversation(['one', 'two'])
    await agent.generate('first', thread)
    await agent.generate('second', thread)
    const shortening: Processor = {
      id: 'shorten',
      processInputStep: ({ messageList }) => {
        const [first, second, third] = messageList.get.remembered.db()
        messageList.removeByIds([first!.id, second!.id])
        messageList.update(third!.id, draft => void draft.content.parts.splice(0, 1, { type: 'text', text: '…' }))
      },
    }
    const { agent: careful, prompts } = conversation([rome, 'three'], { store, inputProcessors: [shortening] })
    await careful.generate('third', thread).catch(() => {})
    expect(prompts()[0]).toBe('user: … | assistant: two | user: third')
    expect((await storedLines(store)).slice(0, 4)).toEqual([
      'user: first',
      'assistant: one',
      'user: second',
      'assistant: two',
    ])
  })

  it('for one step is in the store, and what it added for one step is not', async () => {
    const { agent, store, prompts } = conversation(['Hello.'], {
      inputProcessors: [
        {
          id: 'hint',
          processInputStep: ({ messages }) => ({ messages: ['only a hint', ...messages.slice(1)], scope: 'step' }),
        },
      ],
    })
    await agent.generate(['one', 'two'], thread)
    expect(prompts()[0]).toBe('user: only a hint | user: two')
    expect(await storedLines(store)).toEqual(['user: one', 'user: two', 'assistant: Hello.'])
  })

  it('and put elsewhere stands there in the store too', async () => {
    const { agent, store } = conversation([rome, 'Sunny.'], {
      inputProcessors: [
        {
          id: 'insert',
          processInputStep: ({ stepNumber, messages }) => {
            if (stepNumber !== 1) return undefined
            return [messages[0]!, { role: 'user' as const, content: 'Be brief.' }, ...messages.slice(1)] as never
          },
        },
      ],
    })
    await agent.generate('Rome?', thread)
    expect(await storedLines(store)).toEqual([
      'user: Rome?',
      'user: Be brief.',
      'assistant: call-1:output-available=sunny in Rome Sunny.',
    ])
  })
})

describe('a tripwire', () => {
  const marker = 'assistant: [data-tripwire]'
  const refusing = (hook: string, options: object = {}): Processor => ({
    id: 'guard',
    [hook]: ({
      abort,
      stepNumber,
      ...args
    }: {
      abort: (reason: string, options: object) => never
      stepNumber: number
      result?: object
    }) =>
      hook === 'processOutputResult' || stepNumber === ((options as { step?: number }).step ?? 0)
        ? abort('No: blocked text', { metadata: { blocked: 'text', args: Object.keys(args).length } })
        : undefined,
  })

  it.each([
    ['processInput', [marker]],
    ['processInputStep', [marker]],
    ['processLLMRequest', ['user: blocked text', marker]],
    ['processOutputStream', ['user: blocked text', marker]],
    ['processOutputStep', ['user: blocked text', marker]],
    ['processToolCall', ['user: blocked text', marker]],
    ['processToolResult', ['user: blocked text', marker]],
    ['processOutputResult', ['user: blocked text', marker]],
  ])('in %s leaves a marker, and nothing of what was refused', async (hook, expected) => {
    const guard = refusing(hook)
    const array =
      hook.startsWith('processInput') || hook === 'processLLMRequest' ? 'inputProcessors' : 'outputProcessors'
    const { agent, store } = conversation([{ text: 'withdrawn answer', ...rome }, 'Sunny.'], { [array]: [guard] })
    const { stopReason } = await agent.generate('blocked text', thread)
    expect(stopReason).toBe('tripwire')
    expect(await storedLines(store)).toEqual(expected)
    const text = JSON.stringify(await store.read('t'))
    expect(text).not.toContain('withdrawn')
    expect(text).not.toContain('No:')
    expect(text).toContain('"processorId":"guard"')
  })

  it('in a later step keeps the steps before', async () => {
    const { agent, store } = conversation([rome, 'withdrawn'], {
      outputProcessors: [refusing('processOutputStep', { step: 1 })],
    })
    await agent.generate('Rome?', thread)
    expect(await storedLines(store)).toEqual([
      'user: Rome?',
      'assistant: call-1:output-available=sunny in Rome',
      marker,
    ])
  })

  it('is shown to no model, and the thread goes on', async () => {
    const { agent, store, prompts } = conversation(['withdrawn', 'Hello.'])
    await agent.generate('one', { ...thread, outputProcessors: [refusing('processOutputStep')] })
    await agent.generate('two', thread)
    expect(prompts()[1]).toBe('user: one | user: two')
    expect(await storedLines(store)).toEqual(['user: one', marker, 'user: two', 'assistant: Hello.'])
  })

  it('with a retry that was granted leaves only what was accepted', async () => {
    const { agent, store } = conversation(['rude', 'polite'], {
      maxProcessorRetries: 1,
      outputProcessors: [
        {
          id: 'polite',
          processOutputStep: ({ text, abort }) => void (text === 'rude' && abort('Be polite.', { retry: true })),
        },
      ],
    })
    await agent.generate('Hi', thread)
    expect(await storedLines(store)).toEqual(['user: Hi', 'assistant: polite'])
  })

  it('does not bring back what input processors had hidden', async () => {
    const hide: Processor = {
      id: 'hide',
      processInputStep: ({ messageList }) => {
        for (const { id } of messageList.get.input.db())
          messageList.update(id, draft => void ((draft.content.parts[0] as { text: string }).text = 'hidden'))
      },
    }
    for (const hook of ['processOutputStep', 'processOutputResult']) {
      const { agent, store } = conversation(['answer'], { inputProcessors: [hide], outputProcessors: [refusing(hook)] })
      await agent.generate('secret', thread)
      expect(await storedLines(store)).toEqual(['user: hidden', marker])
    }
    const failing = conversation([{ error: new Error('down') }], { inputProcessors: [hide] })
    await failing.agent.generate('secret', thread).catch(() => {})
    expect(await storedLines(failing.store)).toEqual(['user: hidden'])
  })
})

describe('a processor that hides input', () => {
  it('is not undone by a failure: what it removed for the attempt stays out', async () => {
    const { agent, store } = conversation([{ error: new Error('down') }], {
      inputProcessors: [
        {
          id: 'remove-secret',
          processInputStep: ({ messageList }) => void messageList.removeByIds([messageList.get.input.db()[1]!.id]),
        },
      ],
    })
    await agent.generate(['one', 'secret'], thread).catch(() => {})
    expect(await storedLines(store)).toEqual(['user: one'])
  })
})

describe('a response that is refused after its review', () => {
  it('and made again in vain leaves nothing that was not reviewed', async () => {
    let isRefused = false
    const { agent, store } = conversation([{ ...rome, text: 'secret' }, 'secret', { error: new Error('down') }], {
      maxProcessorRetries: 1,
      outputProcessors: [
        { id: 'redact', ...replaced('secret', '[redacted]') },
        {
          id: 'last-word',
          processOutputStream: ({ part, abort }) => {
            if (part.type === 'finish' && !isRefused) {
              isRefused = true
              abort('Once more.', { retry: true })
            }
            return part
          },
        },
      ],
    })
    await expect(agent.generate('Hi', thread)).rejects.toThrow('down')
    expect(isRefused).toBe(true)
    expect(await storedLines(store)).toEqual(['user: Hi'])
  })
})

describe('a run that fails', () => {
  it.each([
    ['an input processor throws', []],
    ['the provider fails', ['user: Hi']],
    ['the provider fails in a later step', ['user: Hi', 'assistant: call-1:output-available=sunny in Rome']],
  ])('when %s keeps what was accepted', async (case_, expected) => {
    const broken: Processor = {
      id: 'broken',
      processInput: () => {
        throw new Error('no')
      },
    }
    const failure = { error: new Error('down') }
    const { agent, store } = conversation(case_.endsWith('later step') ? [rome, failure] : [failure], {
      inputProcessors: case_.startsWith('an input') ? [broken] : [],
    })
    await expect(agent.generate('Hi', thread)).rejects.toBeInstanceOf(Error)
    expect(await storedLines(store)).toEqual(expected)
  })

  it('before its response was reviewed keeps the response out', async () => {
    const { agent, store } = conversation([rome, { error: new Error('down') }], {
      outputProcessors: [{ id: 'review', ...replaced('a', 'b') }],
    })
    await expect(agent.generate('Hi', thread)).rejects.toThrow('down')
    expect(await storedLines(store)).toEqual(['user: Hi'])
  })

  it('in the middle of its tools leaves no call open, and the next run goes on', async () => {
    const controller = new AbortController()
    const slow = tool({
      inputSchema: z.object({}),
      execute: () => {
        controller.abort(new Error('enough'))
        return new Promise<string>(() => {})
      },
    })
    const store = inMemoryStore()
    const { agent } = conversation([{ text: 'Let me see.', toolCalls: [{ toolName: 'slow', input: {} }] }], {
      store,
      tools: { slow },
    })
    await expect(agent.generate('Go', { ...thread, abortSignal: controller.signal })).rejects.toThrow('enough')
    expect(await storedLines(store)).toEqual([
      'user: Go',
      'assistant: Let me see. call-1:output-error=The run was aborted before this call had a result.',
    ])
    const next = conversation(['Hello.'], { store })
    await next.agent.generate('Again', thread)
    expect(next.prompts()[0]).toBe(
      'user: Go | assistant: Let me see. call(call-1) | tool: result(The run was aborted before this call had a result.) | user: Again',
    )
  })

  it('while it is being saved ends when that has ended', async () => {
    const store = inMemoryStore()
    const controller = new AbortController()
    const commit = store.commit.bind(store)
    let isSlow = true
    const slow = Object.assign(Object.create(store) as ThreadStore, {
      read: store.read.bind(store),
      commit: async (...given: Parameters<ThreadStore['commit']>) => {
        if (isSlow) {
          isSlow = false
          controller.abort(new Error('enough'))
          for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
        }
        return commit(...given)
      },
    })
    const { agent } = conversation(['Hello.'], { store: slow })
    await expect(agent.generate('Hi', { ...thread, abortSignal: controller.signal })).rejects.toThrow('enough')
    expect(await storedLines(store)).toEqual(['user: Hi'])
    const { thread: saved } = await store.read('t')
    await new Promise(resolve => setImmediate(resolve))
    expect((await store.read('t')).thread).toEqual(saved)
  })

  it('because it could not be saved says so', async () => {
    const { agent } = conversation(['Hello.'], { store: storeThat(() => Promise.reject(new Error('disk on fire'))) })
    await expect(agent.generate('Hi', thread)).rejects.toMatchObject({
      code: 'hook-failed',
      message: expect.stringContaining('disk on fire') as string,
    })
  })
})

/** A store whose commits are these. */
function storeThat(commit: ThreadStore['commit']): ThreadStore {
  const store = inMemoryStore()
  return Object.assign(Object.create(store) as ThreadStore, { read: store.read.bind(store), commit })
}

describe('runs that share a thread', () => {
  it('both keep what they said, each in order, when they end at once', async () => {
    const store = inMemoryStore()
    let open = () => {}
    const gate = new Promise<void>(resolve => (open = resolve))
    const numbers = Array.from({ length: 120 }, (_, number) => number)
    const runs = numbers.map(number => {
      const { agent } = conversation([rome, `answer ${number}`], {
        store,
        inputProcessors: [{ id: 'gate', processInputStep: () => gate }],
      })
      return agent.generate(`question ${number}.`, thread)
    })
    open()
    await Promise.all(runs)
    const lines = await storedLines(store)
    expect(lines).toHaveLength(240)
    for (const number of numbers) {
      const question = lines.indexOf(`user: question ${number}.`)
      expect(question).toBeGreaterThanOrEqual(0)
      expect(lines.findIndex(line => line.endsWith(` answer ${number}`))).toBeGreaterThan(question)
    }
  })

  it('are refused when another began it meanwhile', async () => {
    const store = inMemoryStore()
    const { agent } = conversation(['Hello.'], {
      store,
      inputProcessors: [
        {
          id: 'meanwhile',
          processInput: () => store.commit('t', { expectedRevision: 0, thread: { resourceId: 'ada' } }).then(() => {}),
        },
      ],
    })
    const late = agent.generate('Hi', { ...thread, resourceId: 'eve' })
    await expect(late).rejects.toMatchObject({ cause: { code: 'wrong-resource' } })
    expect(await storedLines(store)).toEqual([])
  })

  it('do not bring back a thread that was deleted', async () => {
    const store = inMemoryStore()
    const deleting: Processor = { id: 'deleting', processLLMResponse: () => store.deleteThread('t') }
    const { agent } = conversation(['Hello.'], { store, outputProcessors: [deleting] })
    await expect(agent.generate('Hi', thread)).rejects.toMatchObject({ cause: { code: 'thread-deleted' } })
    expect(await store.read('t')).toEqual({ thread: undefined, messages: [] })
  })

  it('give up with a clear error when others are quicker again and again', async () => {
    const contended = storeThat((_, { expectedRevision }) =>
      Promise.resolve({ type: 'conflict', expectedRevision, revision: expectedRevision + 1 }),
    )
    const thread: Thread = { id: 't', revision: 1, createdAt: '', updatedAt: '' }
    contended.read = () => Promise.resolve({ thread, messages: [] })
    const { agent } = conversation(['Hello.'], { store: contended })
    const late = agent.generate('Hi', { threadId: 't' })
    await expect(late).rejects.toMatchObject({ cause: { code: 'thread-busy' } })
  })
})
