import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchExecutor, type CallModel } from '@lockstep/batch-executor'
import { askDate, askHotel, begin, booking, logged, routeThrough } from './booking.ts'
import { converse, routeOf, routeShape, userShape } from './random-route.ts'
import { cut, inPieces, readAll } from './streamed.ts'
import { scriptedModel } from './scripted-model.ts'

const executor = new BatchExecutor()
const runs = { numRuns: 100 }
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
const reply = { values: { hotel: 'Ritz', date: null, guests: null }, asks: 'ask-date', message: 'The Ritz. When?' }
const turn = (callModel: CallModel, route = booking) => ({ session: begin(), route, input: 'the Ritz', callModel })

describe('a streamed turn', () => {
  it('shows the message and nothing else, and returns what the same turn returns that is not streamed', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, lengths, async (shape, user, cuts) => {
        const logs: [string[], string[]] = [[], []]
        const whole = await converse(new BatchExecutor(), routeOf(shape, logs[0]), user)
        const streamed = await converse(new BatchExecutor(), routeOf(shape, logs[1]), user, async (made, options) => {
          const stream = made.streamBatch({ ...options, callModel: inPieces(options.callModel, cuts) })
          const { text, response, chunks } = await readAll(stream)
          expect(text).toBe(response.message)
          expect(chunks.filter(({ type }) => type === 'text-reset')).toEqual([])
          return response
        })
        expect(streamed.map(({ response }) => response)).toEqual(whole.map(({ response }) => response))
        expect(logs[1]).toEqual(logs[0])
      }),
      runs,
    )
  })

  it('shows any message, however its text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1 }),
        lengths,
        fc.boolean(),
        async (message, cuts, ascii) => {
          const json = JSON.stringify({ ...reply, message })
          const escaped = json.replace(
            /[^\x20-\x7e]/g,
            character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
          const stream = executor.streamBatch(
            turn(async function* () {
              yield* cut(ascii ? escaped : json, cuts)
            }),
          )
          const { text, response, chunks } = await readAll(stream)
          expect([text, response.message]).toEqual([message, message])
          // No character is cut in half.
          for (const chunk of chunks) expect(() => encodeURIComponent('text' in chunk ? chunk.text : '')).not.toThrow()
        },
      ),
    )
  })

  it('shows the first word as soon as it is there, once the prepare hooks have run', async () => {
    const log: string[] = []
    const route = routeThrough(logged(log, askHotel), askDate)
    const stream = executor.streamBatch(
      turn(async function* () {
        yield JSON.stringify(reply).slice(0, -'The Ritz. When?"}'.length)
        log.push('message begins')
        yield 'The '
        log.push('second word')
        yield 'Ritz. When?"}'
      }, route),
    )
    expect(await stream.next()).toEqual({ done: false, value: { type: 'text-delta', text: 'The ' } })
    expect(log).toEqual(['prepare ask-hotel', 'message begins'])
    await readAll(stream)
    expect(log).toEqual(['prepare ask-hotel', 'message begins', 'second word', 'finalize ask-hotel'])
  })

  it('shows nothing early of a reply whose message comes before its fields', async () => {
    const { message, ...head } = reply
    const json = JSON.stringify({ message, ...head })
    const { chunks, response } = await readAll(
      executor.streamBatch(
        turn(async function* () {
          yield* cut(json, [3])
        }),
      ),
    )
    expect(chunks).toEqual([{ type: 'text-delta', text: message }])
    expect(response.session.data).toEqual({ hotel: 'Ritz' })
  })

  it('shows nothing early of a reply whose fields come last, though its question seems to be the right one', async () => {
    const outputs = [{ asks: 'ask-hotel', message: 'Which hotel?', values: { hotel: 'Ritz' } }, { message: 'When?' }]
    const { text, chunks } = await readAll(
      executor.streamBatch(
        turn(async function* () {
          yield* cut(JSON.stringify(outputs.shift()), [3])
        }),
      ),
    )
    expect([text, chunks.filter(({ type }) => type === 'text-reset')]).toEqual(['When?', []])
  })

  it('shows nothing of a reply that asks the wrong question, nor of one that fixed words replace', async () => {
    const wrong = scriptedModel({ ...reply, asks: 'ask-guests', message: 'How many?' }, { message: 'When?' })
    const { text, chunks, response } = await readAll(executor.streamBatch(turn(inPieces(wrong, [4]))))
    expect([text, response.callCount, chunks.length]).toEqual(['When?', 2, 2])
    const fixed = routeThrough(askHotel, { ...askDate, verbatim: true })
    const { chunks: words } = await readAll(executor.streamBatch(turn(inPieces(scriptedModel(reply), [4]), fixed)))
    expect(words).toEqual([{ type: 'text-delta', text: 'What date?' }])
  })

  it('takes back what it showed when the model withdraws it, and begins again', async () => {
    const hilton = JSON.stringify({ ...reply, values: { hotel: 'Hilton' }, message: 'The Hilton.' })
    const { chunks, response } = await readAll(
      executor.streamBatch(
        turn(async function* () {
          yield hilton
          yield { type: 'reset' }
          yield JSON.stringify(reply)
        }),
      ),
    )
    expect(chunks).toEqual([
      { type: 'text-delta', text: 'The Hilton.' },
      { type: 'text-reset' },
      { type: 'text-delta', text: 'The Ritz. When?' },
    ])
    expect(response.session.data).toEqual({ hotel: 'Ritz' })
    expect(response.session.provenance.hotel?.revision).toBe(1)
    expect(response.changes).toEqual([{ type: 'set', field: 'hotel' }])
  })

  it('counts what a call returns, not what it yielded', async () => {
    const { chunks, response } = await readAll(
      executor.streamBatch(
        turn(async function* () {
          yield JSON.stringify({ ...reply, values: { hotel: 'Hilton' }, message: 'The Hilton.' })
          return { object: reply, usage: { inputTokens: 7, outputTokens: undefined } }
        }),
      ),
    )
    expect(chunks.at(-1)).toEqual({ type: 'text-delta', text: 'The Ritz. When?' })
    expect(response).toMatchObject({ message: 'The Ritz. When?', session: { data: { hotel: 'Ritz' } } })
    expect(response.changes).toEqual([{ type: 'set', field: 'hotel' }])
    expect(response.usage).toEqual({ inputTokens: 7, outputTokens: expect.any(Number) })
  })

  it('takes back what it showed when the call fails, and gives the session back', async () => {
    const given = turn(async function* () {
      yield JSON.stringify(reply).slice(0, -4)
      throw new Error('line cut')
    })
    const { text, chunks, response } = await readAll(executor.streamBatch(given))
    expect(chunks.at(-1)).toEqual({ type: 'text-reset' })
    expect([text, response.message, response.stoppedReason]).toEqual(['', '', 'llm_error'])
    expect(response.session).toBe(given.session)
  })

  it('takes back what it showed when the signal aborts', async () => {
    const controller = new AbortController()
    const given = turn(async function* () {
      yield JSON.stringify(reply).slice(0, -4)
      controller.abort(new Error('enough'))
      await new Promise<never>(() => {})
    })
    const { text, chunks, response } = await readAll(executor.streamBatch({ ...given, abortSignal: controller.signal }))
    expect([text, chunks.at(-1)?.type, response.stoppedReason]).toEqual(['', 'text-reset', 'aborted'])
    expect(response.session).toBe(given.session)
  })

  it('ends the call when its reader leaves', async () => {
    let ended = false
    const stream = executor.streamBatch(
      turn(async function* () {
        try {
          yield* cut(JSON.stringify(reply), [5])
        } finally {
          ended = true
        }
      }),
    )
    await stream.next()
    await stream.return(undefined as never)
    expect(ended).toBe(true)
  })

  it.each(['', '{"values":', 'no JSON', '{"values":{},"asks":null,"message":"cut off'])(
    'is broken off by text that is no reply: %j',
    async text => {
      const { response } = await readAll(
        executor.streamBatch(
          turn(async function* () {
            yield* cut(text, [3])
          }),
        ),
      )
      expect([response.stoppedReason, response.error?.code]).toEqual(['llm_error', 'invalid-reply'])
    },
  )

  it('takes a text stream as it is, for example that of the AI SDK', async () => {
    const stream = new ReadableStream<string>({
      start(controller) {
        for (const piece of cut(JSON.stringify(reply), [9])) controller.enqueue(piece)
        controller.close()
      },
    })
    expect((await readAll(executor.streamBatch(turn(() => stream)))).text).toBe('The Ritz. When?')
  })
})
