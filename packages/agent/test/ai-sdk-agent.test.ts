import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { toAISDKAgent } from '@lockstep/agent/ai-sdk'
import { Chat } from '@ai-sdk/react'
import {
  createAgentUIStreamResponse,
  DefaultChatTransport,
  DirectChatTransport,
  pipeAgentUIStreamToResponse,
  smoothStream,
  tool,
  type InferAgentUIMessage,
  type TextStreamPart,
  type ToolSet,
  type UIMessage,
} from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { messageFrom, plainParts, textOf } from './ui-client.ts'

const tools = {
  double: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 }),
}

const twoSteps: readonly ScriptedTurn[] = [
  { text: 'Let me see. ', toolCalls: [{ toolName: 'double', input: { n: 4 } }] },
  { text: ['It ', 'is ', '8.'] },
]

const agentOf = (turns: readonly ScriptedTurn[], processors: readonly Processor[] = []) => {
  const model = scriptedModel(turns)
  const agent = new Agent({ name: 'doubler', model, tools, outputProcessors: processors, maxProcessorRetries: 3 })
  return { model, agent, sdk: toAISDKAgent(agent, { tools }) }
}

const ask = (text: string): UIMessage[] => [{ id: 'q', role: 'user', parts: [{ type: 'text', text }] }]

async function partsOf<T extends ToolSet>(stream: AsyncIterable<TextStreamPart<T>>): Promise<TextStreamPart<T>[]> {
  const parts: TextStreamPart<T>[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

/** Refuses the first answer that says a word. */
const refuse = (word: string, retry: boolean): Processor => ({
  id: 'no-word',
  processOutputStep: ({ text, abort }) => {
    if (text?.includes(word)) abort(`Do not say ${word}.`, { retry })
  },
})

describe('an agent, as the AI SDK knows agents', () => {
  it('says who it is and which tools it has', () => {
    const { sdk } = agentOf([])
    expect([sdk.version, sdk.id, Object.keys(sdk.tools)]).toEqual(['agent-v1', 'doubler', ['double']])
  })

  it('generates what generateText would have returned', async () => {
    const { sdk, model } = agentOf(twoSteps)
    const result = await sdk.generate({ prompt: 'Double 4.' })
    expect(result).toMatchObject({ text: 'It is 8.', finishReason: 'stop', usage: { totalTokens: 30 } })
    expect(result.toolResults).toMatchObject([{ toolName: 'double', input: { n: 4 }, output: 8 }])
    expect(result.staticToolCalls).toHaveLength(1)
    expect(result.dynamicToolCalls).toHaveLength(0)
    expect(result.steps.map(step => step.text)).toEqual(['Let me see. ', 'It is 8.'])
    expect(result.content.map(part => part.type)).toEqual(['text', 'tool-call', 'tool-result', 'text'])
    expect(result.responseMessages.map(message => message.role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(model.doStreamCalls).toHaveLength(2)
  })

  it('streams flat parts, each step in its frame', async () => {
    const { sdk } = agentOf(twoSteps)
    const result = await sdk.stream({ prompt: 'Double 4.' })
    const types = (await partsOf(result.stream)).map(part => part.type).join(' ')
    const text = 'text-start text-delta text-end'
    const longer = 'text-start text-delta text-delta text-delta text-end'
    expect(types).toBe(
      `start start-step ${text} tool-call tool-result finish-step start-step ${longer} finish-step finish`,
    )
    expect(await result.text).toBe('It is 8.')
    expect(await result.totalUsage).toMatchObject({ totalTokens: 30 })
  })

  it('gives its text alone', async () => {
    const { sdk } = agentOf(twoSteps)
    let text = ''
    for await (const delta of (await sdk.stream({ prompt: 'Double 4.' })).textStream) text += delta
    expect(text).toBe('Let me see. It is 8.')
  })

  it('shows a step as it comes, where nothing can withdraw it', async () => {
    let goOn = () => {}
    const heard = new Promise<void>(resolve => (goOn = resolve))
    const waits: Processor = {
      id: 'waits',
      async processOutputStream({ part }) {
        if (part.type === 'text-delta' && part.payload.text === 'two') await heard
        return part
      },
    }
    const agent = new Agent({
      name: 'counter',
      model: scriptedModel([{ text: ['One ', 'two'] }]),
      outputProcessors: [waits],
    })
    const texts: string[] = []
    for await (const text of (await toAISDKAgent(agent).stream({ prompt: 'Count.' })).textStream) {
      texts.push(text)
      goOn()
    }
    expect(texts).toEqual(['One ', 'two'])
  })

  it('never shows a step that was tried again', async () => {
    const { sdk } = agentOf(['The SECRET is 8.', 'It is 8.'], [refuse('SECRET', true)])
    const parts = await partsOf((await sdk.stream({ prompt: 'Double 4.' })).stream)
    expect(JSON.stringify(parts)).not.toContain('SECRET')
    expect(parts.flatMap(part => (part.type === 'text-delta' ? [part.text] : []))).toEqual(['It is 8.'])
  })

  it('ends at a tripwire with the finish reason other, and shows nothing of what was refused', async () => {
    const { sdk } = agentOf([twoSteps[0]!, 'The SECRET is 8.'], [refuse('SECRET', false)])
    const result = await sdk.stream({ prompt: 'Double 4.' })
    const parts = await partsOf(result.stream)
    expect(JSON.stringify(parts)).not.toContain('SECRET')
    expect(parts.slice(-2)).toMatchObject([{ type: 'finish-step' }, { type: 'finish', finishReason: 'other' }])
    expect(await result.finishReason).toBe('other')
    expect((await result.steps).length).toBe(1)
  })

  it('has an empty last step when the first was refused', async () => {
    const { sdk } = agentOf(['SECRET'], [refuse('SECRET', false)])
    const result = await sdk.generate({ prompt: 'Double 4.' })
    expect(result).toMatchObject({ text: '', finishReason: 'other', steps: [], finalStep: { text: '' } })
  })

  it('rejects with the error of the run, and shows it in the stream', async () => {
    const { sdk } = agentOf([{ error: new Error('no model today') }])
    const result = await sdk.stream({ prompt: 'Hi' })
    const parts = await partsOf(result.stream)
    expect(parts.find(part => part.type === 'error')).toMatchObject({ error: { message: 'no model today' } })
    await expect(result.text).rejects.toThrow('no model today')
  })

  it('stops when the signal says so', async () => {
    const { sdk } = agentOf(twoSteps)
    const controller = new AbortController()
    const result = await sdk.stream({ prompt: 'Double 4.', abortSignal: controller.signal })
    const types: string[] = []
    for await (const part of result.stream) {
      types.push(part.type)
      if (part.type === 'tool-result') controller.abort('enough')
    }
    expect(types).toContain('abort')
    await expect(result.text).rejects.toBe('enough')
  })

  it('tells each step, and takes transforms of the stream', async () => {
    const { sdk } = agentOf(['One two three'])
    const steps: string[] = []
    const result = await sdk.stream({
      prompt: 'Count.',
      onStepEnd: step => void steps.push(step.text),
      experimental_transform: smoothStream({ delayInMs: null }),
    })
    const texts = (await partsOf(result.stream)).flatMap(part => (part.type === 'text-delta' ? [part.text] : []))
    expect(texts).toEqual(['One ', 'two ', 'three'])
    expect(steps).toEqual(['One two three'])
  })

  it('refuses a parameter that it would have to ignore', async () => {
    const { sdk } = agentOf(['x'])
    await expect(sdk.generate({ prompt: 'Hi', onStart: () => {} })).rejects.toThrow(
      "'the parameter 'onStart' of an adapted agent' functionality not supported.",
    )
  })

  it('lets a tool take as long as its own limit says', async () => {
    const never = tool({ inputSchema: z.object({}), execute: () => new Promise<string>(() => {}) })
    const model = scriptedModel([{ toolCalls: [{ toolName: 'never', input: {} }] }, 'It hangs.'])
    const sdk = toAISDKAgent(new Agent({ name: 'slow', model, tools: { never } }), { tools: { never } })
    const result = await sdk.generate({ prompt: 'Go', timeout: { tools: { neverMs: 5 } } })
    expect(result.text).toBe('It hangs.')
  })
})

describe('the agent in the places of the AI SDK that take one', () => {
  it('answers with createAgentUIStreamResponse', async () => {
    const { sdk } = agentOf(twoSteps)
    const response = await createAgentUIStreamResponse({ agent: sdk, uiMessages: ask('Double 4.') })
    const events = (await response.text()).split('\n\n').filter(line => line.startsWith('data: {'))
    const message = await messageFrom(events.map(line => JSON.parse(line.slice(6)) as never))
    expect(plainParts(message.parts)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'Let me see. ' },
      { type: 'tool-double', state: 'output-available', output: 8 },
      { type: 'step-start' },
      { type: 'text', text: 'It is 8.' },
    ])
  })

  it('is a chat in the same process, through DirectChatTransport, for several turns', async () => {
    const { sdk, model } = agentOf([...twoSteps, 'As I said: 8.'])
    const chat = new Chat<InferAgentUIMessage<typeof sdk>>({ transport: new DirectChatTransport({ agent: sdk }) })
    await chat.sendMessage({ text: 'Double 4.' })
    await chat.sendMessage({ text: 'Again?' })
    expect(chat.error).toBeUndefined()
    expect(chat.messages.map(textOf)).toEqual(['Double 4.', 'Let me see. It is 8.', 'Again?', 'As I said: 8.'])
    expect(model.doStreamCalls[2]!.prompt.map(message => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
  })

  it('serves a client over HTTP with pipeAgentUIStreamToResponse', async () => {
    const { sdk } = agentOf(twoSteps)
    const server = createServer((request, response) => {
      void (async () => {
        let body = ''
        for await (const piece of request) body += String(piece)
        const { messages } = JSON.parse(body) as { messages: unknown[] }
        await pipeAgentUIStreamToResponse({ response, agent: sdk, uiMessages: messages })
      })()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const chat = new Chat<UIMessage>({ transport: new DefaultChatTransport({ api: `http://127.0.0.1:${port}/` }) })
    await chat.sendMessage({ text: 'Double 4.' })
    server.close()
    expect(chat.error).toBeUndefined()
    expect(textOf(chat.messages[1]!)).toBe('Let me see. It is 8.')
  })
})
