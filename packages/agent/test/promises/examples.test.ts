// The example processors at work: each does what it is for, in generate and in stream.
import { Agent, RequestContext, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { APICallError } from 'ai'
import { describe, expect, it } from 'vitest'
import { agentOf, bothPaths, callLook, hooked, promptOf, textsOf } from './both-paths.ts'
import {
  ContentFilter,
  contextTrimmer,
  DynamicModel,
  lowercase,
  moderationCollector,
  moderator,
  qualityGuard,
  readText,
  reasoningInPlace,
  reasoningThroughList,
  wordCounter,
} from './example-processors.ts'

const reasoned = { reasoning: 'It is a question about colours.', text: 'Let me look.', ...callLook }

describe.each(bothPaths)('an example processor, by $path', ({ run }) => {
  it('lower-cases what the user says, and only that', async () => {
    const { agent, model } = agentOf(['FINE.'], { inputProcessors: [lowercase], instructions: 'BE BRIEF.' })
    const { result } = await run(agent, ['WHICH COLOUR?', 'Quick!'])
    expect(promptOf(model, 0)).toEqual(['system: BE BRIEF.', 'user: which colour?', 'user: quick!'])
    expect(textsOf(result.messageList.get.input.db())).toEqual(['which colour?', 'quick!'])
    expect(result.text).toBe('FINE.')
  })

  it('reads the text of a message from its parts, whatever else is in it', () => {
    const list = new MessageList().add(
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look: ' },
          { type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') },
          { type: 'text', text: 'a cat.' },
        ],
      },
      'input',
    )
    list.add(
      {
        id: 'old',
        role: 'user',
        createdAt: '2024-01-01T00:00:00.000Z',
        content: { format: 2, parts: [], content: 'From before.' },
      } as never,
      'memory',
    )
    expect(list.getMessages().map(readText)).toEqual(['From before.', 'Look: a cat.'])
  })

  it('switches models by step, and takes the tools away in the end', async () => {
    const fast = scriptedModel([callLook], { modelId: 'fast' })
    const strong = scriptedModel([callLook, callLook, 'done'], { modelId: 'strong' })
    const { agent } = agentOf([], { inputProcessors: [new DynamicModel({ fast, strong }, 2)] })
    const { result } = await run(agent)
    expect(result.steps.map(step => step.model.modelId)).toEqual(['fast', 'strong', 'strong', 'strong'])
    expect(strong.doStreamCalls.map(call => call.toolChoice?.type)).toEqual(['auto', 'auto', 'none'])
  })

  it('that writes into a message is stopped and told the cure', async () => {
    const { agent, model } = agentOf([reasoned, 'never'], { inputProcessors: [reasoningInPlace] })
    await expect(run(agent)).rejects.toMatchObject({
      code: 'frozen-write',
      processorId: 'reasoning-in-place',
      hook: 'processInputStep',
      message: expect.stringContaining('update('),
    })
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('rewrites reasoning for another provider through the list', async () => {
    const { agent, model } = agentOf([reasoned, 'Blue.'], { inputProcessors: [reasoningThroughList] })
    const { result } = await run(agent)
    expect(promptOf(model, 1)[1]).toBe('assistant: (thinking: It is a question about colours.)+Let me look.+tool-call')
    expect(result.text).toBe('Blue.')
    const edits = result.messageList.changes.filter(change => change.author.id === 'reasoning-through-list')
    expect(edits).toMatchObject([{ author: { hook: 'processInputStep', step: 1 } }])
  })

  it('refuses blocked words in the input before the model is called', async () => {
    const { agent, model } = agentOf(['never'], { inputProcessors: [new ContentFilter(['secret'])] })
    const { result, chunks } = await run(agent, 'Tell me the secret.')
    expect(result).toMatchObject({ text: '', finishReason: 'other', stopReason: 'tripwire' })
    expect(result.tripwire).toMatchObject({
      processorId: 'content-filter',
      reason: 'What you asked has a blocked word in it.',
    })
    expect(chunks.map(chunk => chunk.type)).toEqual(['start', 'tripwire', 'finish'])
    expect(model.doStreamCalls).toHaveLength(0)
  })

  it('refuses blocked words in the answer, which is then nowhere but in the tripwire', async () => {
    const { agent } = agentOf([{ text: ['The ', 'secret ', 'is forty-two.'] }], {
      outputProcessors: [new ContentFilter(['secret'])],
    })
    const { result, chunks } = await run(agent, 'Tell me.')
    expect(result).toMatchObject({ text: '', steps: [], messages: [], tripwire: { rejected: { text: 'The ' } } })
    expect(chunks.map(chunk => chunk.type).slice(-3)).toEqual(['step-reset', 'tripwire', 'finish'])
    expect(JSON.stringify([chunks, result.messageList.toJSON()])).not.toContain('forty')
  })

  it('lets everything else through both of its hooks', async () => {
    const filter = new ContentFilter(['secret'])
    const { agent } = agentOf(['All fine.'], { inputProcessors: [filter], outputProcessors: [filter] })
    expect((await run(agent)).result.text).toBe('All fine.')
  })

  it('counts words over all chunks and steps of a run, and of that run alone', async () => {
    const told: number[] = []
    const { agent } = agentOf([{ text: ['one two', ' three'], ...callLook }, 'four five', 'six'], {
      outputProcessors: [wordCounter(count => told.push(count))],
    })
    await run(agent)
    await run(agent)
    expect(told).toEqual([5, 1])
  })

  it('makes room once when the conversation is too long', async () => {
    const tooLong = new APICallError({
      message: 'context length exceeded',
      url: 'https://api.example.com',
      requestBodyValues: {},
      statusCode: 400,
      isRetryable: false,
    })
    const input = ['one', 'two', 'three', 'four', 'five']
    const { agent, model } = agentOf([{ error: tooLong }, 'fits'], { errorProcessors: [contextTrimmer] })
    const { result } = await run(agent, input)
    expect(result.text).toBe('fits')
    expect(promptOf(model, 1)).toEqual(['user: one', 'user: four', 'user: five'])
    const again = agentOf([{ error: tooLong }, { error: tooLong }], { errorProcessors: [contextTrimmer] })
    await expect(run(again.agent, input)).rejects.toBe(tooLong)
    const other = agentOf([{ error: new Error('no such model') }], { errorProcessors: [contextTrimmer] })
    await expect(run(other.agent, input)).rejects.toThrow('no such model')
  })

  it('asks for a better answer until it is good, and the empty array that it returns changes nothing', async () => {
    const { agent, model } = agentOf(['thin', 'thin too', 'rich and long'], {
      outputProcessors: [qualityGuard(async text => Promise.resolve(text.length > 10 ? 1 : 0.2))],
      maxProcessorRetries: 3,
    })
    const { result } = await run(agent)
    expect(result).toMatchObject({ text: 'rich and long', stopReason: 'completed', tripwire: undefined })
    expect(textsOf(result.messageList.getMessages())).toEqual(['Hello', 'rich and long'])
    expect(promptOf(model, 2)).toEqual([
      'system: Your previous answer was not accepted: Too thin. Say more.',
      'user: Hello',
    ])
  })

  it('blocks the answer when it is still not good after its tries', async () => {
    const { agent, model } = agentOf(['a', 'b', 'c', 'd'], {
      outputProcessors: [qualityGuard(async () => Promise.resolve(0.2))],
      maxProcessorRetries: 5,
    })
    const { result } = await run(agent)
    expect(result).toMatchObject({
      text: '',
      tripwire: { reason: 'Still too thin after several tries.', retry: false, metadata: { score: 0.2 } },
    })
    expect(model.doStreamCalls).toHaveLength(4)
  })

  it('shows data to the client beside the text', async () => {
    const { agent } = agentOf([{ text: ['Damn', ' good.'] }], { outputProcessors: [moderator] })
    const { result, chunks } = await run(agent)
    expect(chunks.filter(chunk => chunk.type.startsWith('data-'))).toEqual([
      { type: 'data-moderation', data: { level: 'warn', word: 'damn' }, transient: true },
    ])
    expect(result.text).toBe('Damn good.')
  })

  it('collects the data of others when it asks for data, and not otherwise', async () => {
    const told: (readonly unknown[])[] = []
    const answers = [{ text: ['Damn', ' damn.'] }]
    for (const wants of [true, false]) {
      const { agent } = agentOf(answers, {
        outputProcessors: [moderator, moderationCollector(warnings => told.push(warnings), wants)],
      })
      await run(agent)
    }
    expect(told.map(warnings => warnings.length)).toEqual([2, 0])
  })

  it('is made for each request from its context', async () => {
    const agent = new Agent({
      name: 'test',
      model: scriptedModel(['one', 'two']),
      inputProcessors: ({ requestContext }) => [
        new ContentFilter((requestContext.get('blocked') as string[] | undefined) ?? []),
      ],
    })
    const strict = { requestContext: new RequestContext({ blocked: ['secret'] }) }
    expect((await run(agent, 'A secret?', strict)).result.stopReason).toBe('tripwire')
    expect((await run(agent, 'A secret?')).result.text).toBe('one')
  })

  it('takes the place of those of the agent in one call, with its own retries', async () => {
    const calls: string[] = []
    const note = (id: string): Processor => hooked(id, { processOutputStep: () => void calls.push(id) })
    const again = hooked('again', {
      processOutputStep: ({ abort, retryCount }) => void (retryCount < 2 && abort('again', { retry: true })),
    })
    const { agent } = agentOf(['a', 'b', 'c', 'd'], { outputProcessors: [note('own')], maxProcessorRetries: 0 })
    const { result } = await run(agent, 'Hello', { outputProcessors: [again, note('call')], maxProcessorRetries: 2 })
    expect([result.text, calls]).toEqual(['c', ['call']])
    await run(agent)
    expect(calls).toEqual(['call', 'own'])
  })
})
