import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import { BatchExecutor, createRoute, createSession, defineFields } from '@lockstep/batch-executor'
import { scriptedModel } from './scripted-model.ts'

const fields = defineFields(
  z.object({ size: z.enum(['small', 'Large']), count: z.number().int().max(9), sure: z.boolean(), note: z.string() }),
  {
    size: { match: 'exact' },
    count: { match: 'exact' },
    sure: { confirms: ['size', 'count'], match: words => (/^yes$/i.test(words) ? true : undefined) },
  },
)
const route = createRoute({
  title: 'Pizza',
  fields,
  steps: [
    { id: 'ask-size', prompt: 'Small or large?', collect: ['size'], verbatim: true },
    { id: 'ask-count', prompt: 'How many?', collect: ['count'], verbatim: true },
    { id: 'ask-sure', prompt: ({ count, size }) => `${count} ${size}, right?`, collect: ['sure'], verbatim: true },
    { id: 'bye', prompt: 'On its way.', verbatim: true },
  ],
})
const executor = new BatchExecutor()
const say = async (words: readonly string[], ...outputs: readonly unknown[]) => {
  const callModel = scriptedModel(...outputs)
  let response = await executor.executeBatch({ session: createSession({ fields }), route, callModel })
  for (const input of words)
    response = await executor.executeBatch({ session: response.session, route, input, callModel })
  return { response, calls: callModel.prompts.length }
}

describe('an answer that is certain', () => {
  it('takes no model: a whole conversation of fixed words and plain answers makes no call', async () => {
    const { response, calls } = await say([' large. ', '3', 'Yes'])
    expect(calls).toBe(0)
    expect(response).toMatchObject({
      message: 'On its way.',
      stoppedReason: 'route_complete',
      session: { data: { size: 'Large', count: 3, sure: true } },
      callCount: 0,
      savings: { callCount: 2, tokenCount: expect.any(Number) },
    })
    expect(response.savings.tokenCount).toBeGreaterThan(0)
    expect(response.session.provenance.count).toMatchObject({ source: 'message', words: '3', turn: 2 })
  })

  it.each(['large or small', 'largest', '3 small ones', 'yes', '', '  ', '12', '3.5', '-1e3'])(
    'is the whole message and a valid value: %j is read by the model when the number is asked for',
    async words => {
      const reply = { values: {}, asks: 'ask-count', message: 'How many?' }
      const { response, calls } = await say(['small', words], reply)
      expect(calls).toBe(words === '' ? 0 : 1)
      expect(response.session.data).toEqual({ size: 'small' })
    },
  )

  it('answers only the one field that was asked for', async () => {
    const pair = createRoute({
      title: 'Both',
      fields,
      steps: [{ prompt: 'Which, and how many?', collect: ['count', 'size'] }],
    })
    const callModel = scriptedModel(
      { message: 'Which, and how many?' },
      { values: { count: 3 }, asks: 'step-1', message: 'Which?' },
    )
    const first = await executor.executeBatch({ session: createSession({ fields }), route: pair, callModel })
    const second = await executor.executeBatch({ session: first.session, route: pair, input: '3', callModel })
    expect([second.callCount, second.session.data]).toEqual([1, { count: 3 }])
    expect(Object.keys(callModel.prompts[1]?.names ?? {})).toEqual(['count', 'size'])
  })

  it('is followed by a call for the words alone where they are not fixed', async () => {
    const open = createRoute({
      title: 'Open',
      fields,
      steps: [
        { prompt: 'Small or large?', collect: ['size'], verbatim: true },
        { prompt: 'Anything else?', collect: ['note'] },
      ],
    })
    const callModel = scriptedModel({ message: 'Small it is. Anything else?' })
    const first = await executor.executeBatch({ session: createSession({ fields }), route: open, callModel })
    const second = await executor.executeBatch({ session: first.session, route: open, input: 'small', callModel })
    expect([second.message, second.callCount]).toEqual(['Small it is. Anything else?', 1])
    expect(callModel.prompts[0]?.names).toEqual({})
  })

  it('can be given in another way than words', async () => {
    const callModel = scriptedModel()
    const values = { size: 'small', count: 'many' }
    const response = await executor.executeBatch({ session: createSession({ fields }), route, values, callModel })
    expect(response).toMatchObject({ message: 'How many?', callCount: 0, session: { data: { size: 'small' } } })
    expect(response.issues.map(({ code, field }) => [code, field])).toEqual([['invalid-value', 'count']])
    const stray = await executor.executeBatch({
      session: createSession({ fields }),
      route,
      values: { sure: true },
      callModel,
    })
    expect(stray.issues.map(({ code }) => code)).toEqual(['not-asked'])
  })
})

describe('what a turn costs', () => {
  it('counts the calls and tokens made, and those that one call for each step would have taken', async () => {
    const booking = createRoute({
      title: 'Booking',
      steps: [
        { prompt: 'Which hotel?', collect: ['hotel'] },
        { prompt: 'What date?', collect: ['date'] },
        { prompt: 'How many guests?', collect: ['guests'] },
      ],
    })
    const output = { values: { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }, asks: null, message: 'Booked.' }
    const callModel = scriptedModel(output)
    const session = createSession({ fields: booking.fields })
    const { usage, savings, callCount } = await executor.executeBatch({
      session,
      route: booking,
      input: 'all',
      callModel,
    })
    const outputTokens = Math.ceil(JSON.stringify(output).length / 4)
    expect(usage).toEqual({ inputTokens: callModel.prompts[0]?.tokenCount, outputTokens })
    expect([callCount, savings]).toEqual([1, { callCount: 2, tokenCount: 2 * (usage.inputTokens + outputTokens) }])
  })

  it('is what one call for each step would have taken, when the user digresses', async () => {
    const asking = createRoute({ title: 'Ask', fields, steps: [{ prompt: 'Which?', collect: ['size'] }] })
    const callModel = scriptedModel({ values: {}, asks: 'step-1', message: 'Which?' })
    const session = createSession({ fields })
    const { savings } = await executor.executeBatch({ session, route: asking, input: 'hm', callModel })
    expect(savings).toEqual({ callCount: 0, tokenCount: 0 })
  })

  it('says so when a turn took more than that', async () => {
    const callModel = scriptedModel(
      { values: { size: 'small' }, asks: null, message: 'Done.' },
      { message: 'How many?' },
    )
    const asking = createRoute({
      title: 'Ask',
      fields,
      steps: [
        { prompt: 'Which?', collect: ['size'] },
        { prompt: 'How many?', collect: ['count'] },
      ],
    })
    const session = createSession({ fields })
    const { savings } = await executor.executeBatch({ session, route: asking, input: 'a small one', callModel })
    expect(savings.callCount).toBe(-1)
    expect(savings.tokenCount).toBeLessThan(0)
  })
})
