import { describe, expect, it } from 'vitest'
import { tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { scriptedModel as modelOf, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { BatchExecutor, loopModel, type LoopModelOptions, type TurnChunk } from '@lockstep/batch-executor'
import { askDate, askHotel, begin, booking, logged, routeThrough, type Booking } from './booking.ts'

const executor = new BatchExecutor()
const reply = (values: Partial<Booking>, asks: string | null, message: string) =>
  JSON.stringify({ values: { hotel: null, date: null, guests: null, ...values }, asks, message })
const ritz = reply({ hotel: 'Ritz' }, 'ask-date', 'The Ritz. When?')

const turnWith = (turns: readonly ScriptedTurn[], options: Partial<LoopModelOptions> = {}) => {
  const model = modelOf(turns)
  const callModel = loopModel({ model, ...options })
  return { model, turn: { session: begin(), route: booking, input: 'the Ritz', callModel } }
}

/** A text in pieces of a few characters. */
const inPieces = (text: string, size = 7): readonly string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []

async function read<T>(stream: AsyncGenerator<TurnChunk, T, void>) {
  const chunks: TurnChunk[] = []
  for (;;) {
    const next = await stream.next()
    if (next.done) return { chunks, response: next.value }
    chunks.push(next.value)
  }
}

describe('a call through the agent loop', () => {
  it('asks the provider for an object of the reply schema, with the instructions before the conversation', async () => {
    const { model, turn } = turnWith([ritz])
    const response = await executor.executeBatch(turn)
    expect(response).toMatchObject({ message: 'The Ritz. When?', callCount: 1, session: { data: { hotel: 'Ritz' } } })
    const [call] = model.doStreamCalls
    expect(call?.responseFormat).toMatchObject({ type: 'json', schema: { required: ['values', 'asks', 'message'] } })
    expect(call?.prompt.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(JSON.stringify(call?.prompt)).toContain('the Ritz')
  })

  it('counts the tokens that the provider reported', async () => {
    const { turn } = turnWith([{ text: ritz, usage: { input: 321, output: 45 } }])
    const { usage, savings } = await executor.executeBatch(turn)
    expect([usage, savings]).toEqual([
      { inputTokens: 321, outputTokens: 45 },
      { callCount: 0, tokenCount: 0 },
    ])
  })

  it('streams only the message, after the fields were read and the prepare hooks ran', async () => {
    const log: string[] = []
    const route = routeThrough(logged(log, askHotel), askDate)
    const callModel = loopModel({ model: modelOf([{ text: inPieces(ritz) }]) })
    const stream = executor.streamBatch({ session: begin(), route, input: 'the Ritz', callModel })
    const first = await stream.next()
    expect([first.value, log]).toEqual([{ type: 'text-delta', text: expect.any(String) }, ['prepare ask-hotel']])
    const { chunks, response } = await read(stream)
    expect(chunks.length).toBeGreaterThan(1)
    expect([first.value as TurnChunk, ...chunks].map(chunk => ('text' in chunk ? chunk.text : '!')).join('')).toBe(
      'The Ritz. When?',
    )
    expect(response.message).toBe('The Ritz. When?')
  })

  it('takes the fields from the last round of tools, and keeps the ids of two calls of one tool', async () => {
    const asked: string[] = []
    const rooms = tool({
      description: 'Free rooms',
      inputSchema: z.object({ hotel: z.string() }),
      execute: ({ hotel }, { toolCallId }) => {
        asked.push(`${toolCallId} ${hotel}`)
        return 3
      },
    })
    const call = (hotel: string) => ({ toolName: 'rooms', input: { hotel } })
    const { model, turn } = turnWith(
      [
        { text: reply({ hotel: 'Hilton' }, 'ask-date', 'Wait.'), toolCalls: [call('Ritz'), call('Hilton')] },
        { text: inPieces(ritz) },
      ],
      { tools: { rooms } },
    )
    const { chunks, response } = await read(executor.streamBatch(turn))
    expect(asked).toEqual(['call-1 Ritz', 'call-2 Hilton'])
    expect(response).toMatchObject({ session: { data: { hotel: 'Ritz' } }, message: 'The Ritz. When?', callCount: 1 })
    const last = chunks.slice(chunks.findLastIndex(({ type }) => type === 'text-reset') + 1)
    expect(last.map(chunk => ('text' in chunk ? chunk.text : '!')).join('')).toBe('The Ritz. When?')
    expect(last.length).toBeGreaterThan(1)
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('"toolCallId":"call-2"')
  })

  it('tries once more when the answer is no JSON, and begins the turn again with what it then read', async () => {
    const broken = reply({ hotel: 'Hilton' }, 'ask-date', 'The Hilton. When').slice(0, -2)
    const log: string[] = []
    const { turn } = turnWith([{ text: inPieces(broken), finishReason: 'length' }, { text: inPieces(ritz) }])
    const route = routeThrough(logged(log, askHotel), askDate)
    const { chunks, response } = await read(executor.streamBatch({ ...turn, route }))
    expect(response).toMatchObject({ message: 'The Ritz. When?', session: { data: { hotel: 'Ritz' } }, callCount: 1 })
    expect(chunks.filter(({ type }) => type === 'text-reset')).toHaveLength(1)
    expect(response.session.visits.map(visit => visit.count)).toEqual([1])
    expect(log).toEqual(['prepare ask-hotel', 'prepare ask-hotel', 'finalize ask-hotel'])
  })

  it('is changed by processors: what they add to the prompt, what they replace in the stream', async () => {
    const loud: Processor = {
      id: 'loud',
      processInputStep: ({ systemMessages }) => ({
        systemMessages: [...systemMessages, { role: 'system', content: 'Be loud.' }],
      }),
      processOutputStream: ({ part }) =>
        part.type === 'text-delta'
          ? { ...part, payload: { ...part.payload, text: part.payload.text.replace('When?', 'WHEN?') } }
          : part,
    }
    const { model, turn } = turnWith([ritz], { inputProcessors: [loud], outputProcessors: [loud] })
    const { chunks, response } = await read(executor.streamBatch(turn))
    expect(JSON.stringify(model.doStreamCalls[0]?.prompt)).toContain('Be loud.')
    expect([response.message, chunks]).toEqual(['The Ritz. WHEN?', [{ type: 'text-delta', text: 'The Ritz. WHEN?' }]])
  })

  it('shows nothing before a processor that can refuse it has accepted it, and is tried again when it asks so', async () => {
    const guard: Processor = {
      id: 'guard',
      processOutputStep: ({ text, abort, retryCount }) => {
        if (text.includes('Hilton') && retryCount === 0) abort('No Hilton.', { retry: true })
        return undefined
      },
    }
    const hilton = reply({ hotel: 'Hilton' }, 'ask-date', 'The Hilton. When?')
    const log: string[] = []
    const { turn } = turnWith([{ text: inPieces(hilton) }, { text: inPieces(ritz) }], {
      outputProcessors: [guard],
      maxProcessorRetries: 1,
    })
    const route = routeThrough(logged(log, askHotel), askDate)
    const { chunks, response } = await read(executor.streamBatch({ ...turn, route }))
    expect(chunks).toEqual([{ type: 'text-delta', text: 'The Ritz. When?' }])
    expect(response.session.data).toEqual({ hotel: 'Ritz' })
    expect(log).toEqual(['prepare ask-hotel', 'finalize ask-hotel'])
  })

  it('breaks the turn off when a processor refuses it, with the session as it was', async () => {
    const guard: Processor = { id: 'guard', processOutputStep: ({ abort }) => abort('Not today.') }
    const { turn } = turnWith([ritz], { outputProcessors: [guard] })
    const response = await executor.executeBatch(turn)
    expect(response).toMatchObject({ message: '', stoppedReason: 'tripwire', executedSteps: [] })
    expect(response.error).toMatchObject({ code: 'refused', cause: { processorId: 'guard', reason: 'Not today.' } })
    expect(response.session).toBe(turn.session)
  })

  it('breaks the turn off when the provider fails, and an error processor may mend it', async () => {
    const failing = { error: new Error('overloaded') }
    const { turn } = turnWith([failing])
    expect(await executor.executeBatch(turn)).toMatchObject({
      stoppedReason: 'llm_error',
      error: { code: 'model-failed', cause: failing.error },
    })
    const again: Processor = { id: 'again', processAPIError: () => ({ retry: true }) }
    const mended = turnWith([failing, ritz], { errorProcessors: [again] })
    expect(await executor.executeBatch(mended.turn)).toMatchObject({ message: 'The Ritz. When?', callCount: 1 })
  })

  it('waits for nobody: a tool that needs approval ends the turn, and says so', async () => {
    const pay = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'paid' })
    const { turn } = turnWith([{ toolCalls: [{ toolName: 'pay', input: {} }] }], { tools: { pay } })
    const response = await executor.executeBatch(turn)
    expect(response).toMatchObject({
      stoppedReason: 'llm_error',
      error: { code: 'model-failed' },
      session: turn.session,
    })
    expect(response.error?.message).toContain('cannot wait')
  })

  it('ends with the signal, and with a timeout', async () => {
    const stuck = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream: new ReadableStream() }) })
    const controller = new AbortController()
    const turn = { session: begin(), route: booking, input: 'hi' }
    const aborted = executor.executeBatch({
      ...turn,
      callModel: loopModel({ model: stuck }),
      abortSignal: controller.signal,
    })
    controller.abort(new Error('enough'))
    expect(await aborted).toMatchObject({ stoppedReason: 'aborted', session: turn.session })
    const late = await executor.executeBatch({ ...turn, callModel: loopModel({ model: stuck, timeout: 5 }) })
    expect(late).toMatchObject({ stoppedReason: 'llm_error', error: { cause: { name: 'TimeoutError' } } })
    expect(late.session).toBe(turn.session)
  })

  it('greets a user who has not spoken yet', async () => {
    const model = modelOf(['{"message":"Which hotel?"}'])
    const response = await executor.executeBatch({ session: begin(), route: booking, callModel: loopModel({ model }) })
    expect(response.message).toBe('Which hotel?')
    expect(model.doStreamCalls[0]?.prompt.at(-1)).toMatchObject({ role: 'user' })
  })
})

describe('respond', () => {
  it('leads a conversation from text to text, and keeps what was said and none of what the batch wrote', async () => {
    const model = modelOf([ritz, reply({ date: 'Friday', guests: 2 }, null, 'Booked.')])
    const first = await executor.respond('the Ritz', { routes: [booking], model })
    const { session, messageList } = first
    const second = await executor.respond('Friday, two of us', { routes: [booking], model, session, messageList })
    expect([first.message, second.message, second.stoppedReason]).toEqual([
      'The Ritz. When?',
      'Booked.',
      'route_complete',
    ])
    expect(second.messageList.get.all.model().map(({ role, content }) => [role, content])).toEqual([
      ['user', [{ type: 'text', text: 'the Ritz' }]],
      ['assistant', [{ type: 'text', text: 'The Ritz. When?' }]],
      ['user', [{ type: 'text', text: 'Friday, two of us' }]],
      ['assistant', [{ type: 'text', text: 'Booked.' }]],
    ])
    expect(messageList.get.all.db()).toHaveLength(2)
    expect(second.messageList.getAllSystemMessages()).toEqual([])
    expect(model.doStreamCalls[1]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  })

  it('takes messages, and reads what the user said last', async () => {
    const model = modelOf([reply({ hotel: 'Ritz' }, 'ask-date', 'When?')])
    const response = await executor.respond(
      [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'Which hotel?' },
        { role: 'user', content: 'the Ritz' },
        { role: 'user', content: 'in Paris' },
      ],
      { routes: [booking], model },
    )
    expect(response.session.provenance.hotel?.words).toBe('the Ritz\nin Paris')
  })

  it('reads all that the user has said since the other side last spoke', async () => {
    const model = modelOf([ritz])
    const said = [
      { role: 'user', content: 'hello' },
      { role: 'user', content: 'the Ritz' },
    ] as const
    const { session } = await executor.respond(said, { routes: [booking], model })
    expect(session.provenance.hotel?.words).toBe('hello\nthe Ritz')
  })

  it('gives the conversation back as it was when the turn is broken off', async () => {
    const messageList = new MessageList().add('Hello.', 'memory')
    const model = modelOf([{ error: new Error('down') }, ritz])
    const broken = await executor.respond('the Ritz', { routes: [booking], model, messageList, session: begin() })
    expect([broken.stoppedReason, broken.messageList.get.all.db()]).toEqual(['llm_error', messageList.get.all.db()])
    const again = await executor.respond('the Ritz', { ...broken, routes: [booking], model })
    expect(again.messageList.get.all.db()).toHaveLength(3)
  })

  it('streams what it returns', async () => {
    const options = { routes: [booking], session: begin() }
    const whole = await executor.respond('the Ritz', { ...options, model: modelOf([{ text: inPieces(ritz) }]) })
    const { chunks, response } = await read(
      executor.streamResponse('the Ritz', { ...options, model: modelOf([{ text: inPieces(ritz) }]) }),
    )
    expect(chunks.map(chunk => ('text' in chunk ? chunk.text : '!')).join('')).toBe(whole.message)
    const { messageList: left, ...streamed } = response
    const { messageList: right, ...drained } = whole
    expect(streamed).toEqual(drained)
    expect(left.get.all.model()).toEqual(right.get.all.model())
  })

  it('takes what a button says without a word, and without asking a model to read it', async () => {
    const model = modelOf(['{"message":"When?"}'])
    const response = await executor.respond([], { routes: [booking], model, values: { hotel: 'Ritz' } })
    expect([response.session.data, response.message, response.callCount]).toEqual([{ hotel: 'Ritz' }, 'When?', 1])
  })
})
