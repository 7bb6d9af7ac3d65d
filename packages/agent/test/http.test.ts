import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent, type Processor } from '@lockstep/agent'
import { toUIMessageStream } from '@lockstep/agent/ui'
import { APICallError, tool } from 'ai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { httpServer, type Reply } from './http-server.ts'
import { chatOf, textOf } from './ui-client.ts'

const agentFor = async (replies: readonly Reply[], config: Partial<ConstructorParameters<typeof Agent>[0]> = {}) => {
  const server = await httpServer(replies)
  const provider = createOpenAICompatible({ name: 'loopback', baseURL: server.url, apiKey: 'none', includeUsage: true })
  return { server, agent: new Agent({ name: 'test', model: provider.chatModel('m'), ...config }) }
}

/** Tries again whatever failed, and keeps what it was told. */
const retrying = (seen: unknown[] = []): Processor => ({
  id: 'retrying',
  processAPIError: ({ error }) => {
    seen.push(error)
    return { retry: true }
  },
})

/** Lets the waits between two requests pass at once, and tells how long they would have been. */
const waits = (): readonly number[] => {
  const wait = globalThis.setTimeout
  const between = new Set([2000, 4000, 7000])
  const passed: number[] = []
  const hurried = (run: () => void, ms = 0, ...given: []) => {
    if (!between.has(ms)) return wait(run, ms, ...given)
    passed.push(ms)
    return wait(run, 0)
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(hurried as typeof setTimeout)
  return passed
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('over HTTP', () => {
  it('text is there while the server is still speaking', async () => {
    let speakOn = () => {}
    const wait = new Promise<void>(resolve => (speakOn = resolve))
    const { agent } = await agentFor([{ text: ['Roses ', 'are red.'], wait }])
    const texts: string[] = []
    for await (const text of agent.stream('A poem').textStream) {
      texts.push(text)
      speakOn()
    }
    expect(texts).toEqual(['Roses ', 'are red.'])
  })

  it('tools are called with arguments that came in pieces, and their results go back', async () => {
    const double = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 })
    const calls = [
      { name: 'double', arguments: ['{"n"', ':2', '1}'] },
      { name: 'double', arguments: ['{"n":4}'] },
    ]
    const { agent, server } = await agentFor([{ calls }, { text: ['42 and 8'] }], { tools: { double } })
    const result = await agent.generate('Double 21 and 4.')
    expect(result).toMatchObject({ text: '42 and 8', usage: { totalTokens: 20 } })
    expect(server.asked[0]!.tools).toHaveLength(1)
    expect(server.asked[1]!.messages.map(message => message.role)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(server.asked[1]!.messages.slice(2).map(message => message.content)).toEqual(['42', '8'])
  })

  it('429 waits for as long as Retry-After says, and then the answer comes', async () => {
    const passed = waits()
    const busy = { status: 429, message: 'busy', headers: { 'retry-after': '7' } }
    const { agent, server } = await agentFor([busy, { text: ['Hello'] }])
    expect((await agent.generate('Hi')).text).toBe('Hello')
    expect(passed).toEqual([7000])
    expect(server.asked).toHaveLength(2)
  })

  it('500 is tried again, with the same request', async () => {
    const passed = waits()
    const { agent, server } = await agentFor([{ status: 500, message: 'oops' }, { text: ['Hello'] }])
    expect((await agent.generate('Hi')).text).toBe('Hello')
    expect(passed).toEqual([2000])
    expect(server.asked[1]).toEqual(server.asked[0])
  })

  it('an error that stays is the error of the run, with what the server said', async () => {
    waits()
    const { agent } = await agentFor(Array.from({ length: 3 }, () => ({ status: 503, message: 'down for today' })))
    const error: unknown = await agent.generate('Hi').catch((caught: unknown) => caught)
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 503, message: 'down for today', result: { stopReason: 'error' } })
  })

  it('a connection that is cut in the middle fails the run, and nothing half-said stays in the conversation', async () => {
    const { agent } = await agentFor([{ text: ['The answer is ', '4'], cut: true }])
    const stream = agent.stream('Hi')
    const result = await stream.result
    expect(result.stopReason).toBe('error')
    expect(result.messages).toEqual([])
    expect(JSON.stringify(result.messageList)).not.toContain('The answer is')
  })

  it('a connection that is cut in the middle is tried again when a processor says so, and a page shows one answer', async () => {
    const seen: unknown[] = []
    const { agent, server } = await agentFor(
      [{ text: ['The answer is ', '4'], cut: true }, { text: ['The answer is 42.'] }],
      { errorProcessors: [retrying(seen)] },
    )
    const shown: string[] = []
    const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream), {
      onFinish: ({ message }) => void shown.push(textOf(message)),
    })
    await chat.sendMessage({ text: 'Hi' })
    expect(chat.error).toBeUndefined()
    expect(shown).toEqual(['The answer is 42.'])
    expect(seen).toHaveLength(1)
    expect(server.asked).toHaveLength(2)
  })

  it('400 is repaired by a processor that shortens the conversation', async () => {
    const tooLong: Processor = {
      id: 'shortener',
      processAPIError: ({ error, messages, messageList }) => {
        if (!APICallError.isInstance(error) || error.statusCode !== 400) return undefined
        messageList.removeByIds(messages.slice(0, -1).map(message => message.id))
        return { retry: true }
      },
    }
    const { agent, server } = await agentFor(
      [{ status: 400, message: 'maximum context length is 3 messages' }, { text: ['Short.'] }],
      { errorProcessors: [tooLong] },
    )
    const result = await agent.generate(['One', 'Two', 'Three'])
    expect(result.text).toBe('Short.')
    expect(server.asked.map(({ messages }) => messages.length)).toEqual([3, 1])
    expect(server.asked[1]!.messages).toEqual([{ role: 'user', content: 'Three' }])
  })

  it('400 that nobody repairs is not tried again', async () => {
    const { agent, server } = await agentFor([{ status: 400, message: 'no such model' }, { text: ['never'] }])
    await expect(agent.generate('Hi')).rejects.toThrow('no such model')
    expect(server.asked).toHaveLength(1)
  })

  it('a client that leaves takes its connection to the model with it', async () => {
    const { agent, server } = await agentFor([{ text: ['One ', 'two'], wait: new Promise(() => {}) }])
    for await (const text of agent.stream('Count').textStream) if (text === 'One ') break
    await server.left
    expect(server.asked).toHaveLength(1)
  })

  it('a model is found by the address of its server alone', async () => {
    const server = await httpServer([{ text: ['Hello'] }])
    const agent = new Agent({ name: 'test', model: { id: 'local/m', url: server.url, apiKey: 'none' } })
    expect((await agent.generate('Hi')).text).toBe('Hello')
  })
})
