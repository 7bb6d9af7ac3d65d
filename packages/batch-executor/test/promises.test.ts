// What earlier engines of this kind got wrong, one test for each, by name.
import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { scriptedModel as loopScript } from '@lockstep/agent-loop/testing'
import {
  BatchExecutor,
  createRoute,
  createSession,
  defineFields,
  END_ROUTE,
  loopModel,
  parseSession,
  plan,
  setValues,
  settleTurn,
  type BatchEvent,
  type FlowStep,
} from '@lockstep/batch-executor'
import {
  askDate,
  askGuests,
  askHotel,
  begin,
  booking,
  bookingFields,
  logged,
  routeThrough,
  type Booking,
} from './booking.ts'
import { converse, routeOf, routeShape, userShape } from './random-route.ts'
import { scriptedModel } from './scripted-model.ts'
import { inPieces, readAll } from './streamed.ts'

const executor = new BatchExecutor()
const all: Booking = { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }
const said = (values: object, asks: string | null, message = 'Fine.') => ({ values, asks, message })

describe('one call', () => {
  it('1: full information in one message takes exactly one model call and ends the route', async () => {
    const callModel = scriptedModel(said(all, null))
    const response = await executor.executeBatch({ session: begin(), route: booking, input: 'all', callModel })
    expect(response).toMatchObject({ callCount: 1, stoppedReason: 'route_complete' })
    expect(response.executedSteps).toHaveLength(3)
  })

  it('2: with partial information the prompt has known values as facts, the next question, and no satisfied question', async () => {
    const callModel = scriptedModel(said({ date: 'Friday' }, 'ask-guests'))
    await executor.executeBatch({ session: begin({ hotel: 'Ritz' }), route: booking, input: 'Friday', callModel })
    const [prompt] = callModel.prompts
    expect(prompt?.system).toContain('- hotel: "Ritz"')
    expect(prompt?.system).toContain('How many guests?')
    expect(prompt?.system).not.toContain('Which hotel?')
  })

  it('3: when nothing is known only the first question is asked', async () => {
    const response = await executor.executeBatch({
      session: begin(),
      route: booking,
      callModel: scriptedModel({ message: 'Which hotel?' }),
    })
    expect(response.plan.ask).toMatchObject({ stepId: 'ask-hotel', fields: ['hotel'] })
  })

  it('20: a reply that guessed the plan costs one call, one that did not costs two and asks the right question', async () => {
    const hit = scriptedModel(said({ hotel: 'Ritz' }, 'ask-date', 'When?'))
    const miss = scriptedModel(said({ hotel: 'Ritz' }, 'ask-guests', 'How many?'), { message: 'When?' })
    const never = scriptedModel({ values: { hotel: 'Ritz' } }, { message: 'When?' })
    const turn = { session: begin(), route: booking, input: 'the Ritz' }
    const results = await Promise.all([
      executor.executeBatch({ ...turn, callModel: hit }),
      executor.executeBatch({ ...turn, callModel: miss }),
      new BatchExecutor({ speculate: false }).executeBatch({ ...turn, callModel: never }),
    ])
    expect(results.map(({ callCount }) => callCount)).toEqual([1, 2, 2])
    for (const { message, session } of results) expect([message, session]).toEqual(['When?', results[0].session])
    expect(never.prompts[0]?.schema['required']).toEqual(['values'])
  })

  it('22: no call is made when nothing is unknown and the next step is silent or fixed', async () => {
    const silent = routeThrough(askHotel, { id: 'silent' }, { id: 'bye', prompt: 'Bye.', verbatim: true })
    const response = await executor.executeBatch({
      session: begin({ hotel: 'Ritz' }),
      route: silent,
      callModel: scriptedModel(),
    })
    expect(response).toMatchObject({ callCount: 0, message: 'Bye.', stoppedReason: 'route_complete' })
  })
})

describe('what a model gets wrong', () => {
  it('4: null, the empty string, a wrong type and an extra key leave the field open, and the turn succeeds', async () => {
    for (const values of [{ hotel: null }, { hotel: '' }, { hotel: 7 }, { hotell: 'Ritz' }, 'Ritz', null]) {
      const callModel = scriptedModel({ values, asks: 'ask-hotel', message: 'Which?' }, { message: 'Which?' })
      const response = await executor.executeBatch({ session: begin(), route: booking, input: 'hm', callModel })
      expect([response.stoppedReason, response.session.data]).toEqual(['needs_input', {}])
    }
  })

  it('5: a step that got one of its two fields asks for the other one only', () => {
    const route = routeThrough({ id: 'both', prompt: 'When, and how many?', collect: ['date', 'guests'] })
    expect(plan(begin({ date: 'Friday' }), route).ask?.fields).toEqual(['guests'])
  })

  it('6: digressing leaves the position, counts the asks, and ends at maxAsks', async () => {
    const limited = new BatchExecutor({ maxAsks: 3 })
    let session = begin()
    for (let count = 1; count <= 3; count += 1) {
      const callModel = scriptedModel(said({}, 'ask-hotel'))
      const response = await limited.executeBatch({ session, route: booking, input: 'nice weather', callModel })
      expect([response.plan.ask?.stepId, response.session.asks]).toEqual(['ask-hotel', { hotel: count }])
      session = response.session
    }
    const callModel = scriptedModel(said({}, 'ask-hotel'), { message: 'I give up.' })
    const response = await limited.executeBatch({ session, route: booking, input: 'rain', callModel })
    expect([response.stoppedReason, response.message]).toEqual(['max_asks_reached', 'I give up.'])
  })

  it('21: the schema sent has only unknown and correctable fields, is closed, all required and nullable, with safe names', async () => {
    const fields = defineFields(
      { 'first name': z.string().optional(), city: z.string(), vip: z.boolean() },
      { city: { locked: true } },
    )
    const route = createRoute({
      title: 'Who',
      fields,
      steps: [{ prompt: 'Who and where?', collect: ['first name', 'city'] }],
    })
    const session = createSession({ fields, data: { city: 'Rome' } })
    const callModel = scriptedModel(said({ field_1: 'Ann' }, null))
    const response = await executor.executeBatch({ session, route, input: 'Ann', callModel })
    expect(callModel.prompts[0]?.schema['properties']).toMatchObject({
      values: {
        additionalProperties: false,
        required: ['field_1'],
        properties: { field_1: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      },
    })
    expect(response.session.data).toEqual({ 'first name': 'Ann', city: 'Rome' })
  })
})

describe('corrections', () => {
  const fields = defineFields(z.object({ city: z.string(), hotel: z.string(), sure: z.boolean() }), {
    hotel: { dependsOn: ['city'] },
    sure: { confirms: ['city', 'hotel'] },
  })
  const route = createRoute({
    title: 'Trip',
    fields,
    steps: [
      { id: 'ask-city', prompt: 'Which city?', collect: ['city'] },
      { id: 'ask-hotel', prompt: 'Which hotel?', collect: ['hotel'] },
      { id: 'ask-sure', prompt: 'Sure?', collect: ['sure'] },
    ],
  })

  it('7: a correction replaces the value, clears what depends on it, is in the changes, and the reply acknowledges it', async () => {
    const session = createSession({ fields, data: { city: 'Rome', hotel: 'Ritz' } })
    const callModel = scriptedModel(said({ city: 'Paris' }, null, 'Done.'), { message: 'Paris, then. Which hotel?' })
    const response = await executor.executeBatch({ session, route, input: 'no, Paris', callModel })
    expect(response.changes).toEqual([
      { type: 'corrected', field: 'city' },
      { type: 'cleared', field: 'hotel', because: 'city' },
    ])
    expect(response).toMatchObject({ session: { data: { city: 'Paris' } }, message: 'Paris, then. Which hotel?' })
    expect(callModel.prompts[1]?.system).toContain(
      '- city was corrected\n- hotel no longer holds, because city changed',
    )
  })

  it('7: fixed words leave room for the acknowledgement when the reply says them', async () => {
    const fixed = routeThrough(askHotel, { ...askDate, verbatim: true })
    const reply = async (message: string) => {
      const callModel = scriptedModel(said({ hotel: 'Hilton' }, 'ask-date', message))
      return (
        await executor.executeBatch({ session: begin({ hotel: 'Ritz' }), route: fixed, input: 'Hilton', callModel })
      ).message
    }
    expect(await reply('The Hilton instead. What date?')).toBe('The Hilton instead. What date?')
    expect(await reply('The Hilton instead. When is it?')).toBe('What date?')
    const first = scriptedModel(said({ hotel: 'Ritz' }, 'ask-date', 'The Ritz! What date?'))
    const { message } = await executor.executeBatch({ session: begin(), route: fixed, input: 'Ritz', callModel: first })
    expect(message).toBe('What date?')
  })

  it('8: a locked field is not overwritten by a message', () => {
    const locked = defineFields({ city: z.string() }, { city: { locked: true } })
    const session = createSession({ fields: locked, data: { city: 'Rome' } })
    const written = setValues(session, { city: 'Paris' }, { fields: locked, source: 'message' })
    expect([written.session, written.issues[0]?.code]).toEqual([session, 'locked'])
  })

  it('19: a confirmation is never satisfied by anything but an answer to its question', async () => {
    const session = createSession({ fields, data: { city: 'Rome', hotel: 'Ritz' } })
    const early = scriptedModel(said({ sure: true }, null), { message: 'Sure?' })
    const first = await executor.executeBatch({ session, route, input: 'yes, nice weather', callModel: early })
    expect(first.session.data).not.toHaveProperty('sure')
    const changed = scriptedModel(said({ sure: true, hotel: 'Hilton' }, null), { message: 'The Hilton. Sure?' })
    const second = await executor.executeBatch({
      session: first.session,
      route,
      input: 'yes, but the Hilton',
      callModel: changed,
    })
    expect(second.session.data).toEqual({ city: 'Rome', hotel: 'Hilton' })
    const third = await executor.executeBatch({
      session: second.session,
      route,
      input: 'yes',
      callModel: scriptedModel(said({ sure: true }, null)),
    })
    expect([third.session.data.sure, third.stoppedReason]).toEqual([true, 'route_complete'])
  })
})

describe('routes', () => {
  it('9: conditions choose the branch, and a cycle is refused when the route is made', () => {
    const branching = routeThrough(
      { ...askHotel, next: [{ when: data => data.hotel === 'Ritz', to: 'ask-guests' }, { to: 'ask-date' }] },
      askDate,
      askGuests,
    )
    expect(plan(begin({ hotel: 'Ritz' }), branching).ask?.stepId).toBe('ask-guests')
    expect(plan(begin({ hotel: 'Hilton' }), branching).ask?.stepId).toBe('ask-date')
    expect(() => routeThrough(askHotel, { ...askDate, next: 'ask-hotel' })).toThrow(/goes back to "ask-hotel"/)
  })

  it('10: a duplicate id, an unknown field, an unreachable step and a branch to nowhere are refused with their place', () => {
    const unknown = { id: 'odd', prompt: 'Odd?', collect: ['oddity'] } as unknown as FlowStep<Booking>
    expect(() => routeThrough(askHotel, askHotel)).toThrow('Step "ask-hotel" of route "Booking"')
    expect(() => routeThrough(unknown)).toThrow('Step "odd" of route "Booking" names the field "oddity"')
    expect(() => routeThrough({ ...askHotel, next: END_ROUTE }, askDate)).toThrow('never gets to step "ask-date"')
    expect(() => routeThrough({ ...askHotel, next: 'nowhere' })).toThrow('goes to "nowhere"')
  })

  it('11: each hook runs exactly once per visit, over any split into batches', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, fc.constantFrom(1, 2, Infinity), async (shape, user, maxSteps) => {
        const log: string[] = []
        await converse(new BatchExecutor({ maxSteps }), routeOf(shape, log), user)
        const keys = log.map(line => line.split(' ').slice(0, 2).join(' '))
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 60 },
    )
  })

  it('12: maxSteps 1, 2 and any come to the same data and the same sequence of hooks', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const run = async (maxSteps: number) => {
          const log: string[] = []
          const turns = await converse(new BatchExecutor({ maxSteps }), routeOf(shape, log), user)
          return [turns.at(-1)?.response.session, log]
        }
        const one = await run(1)
        expect([await run(2), await run(Infinity)]).toEqual([one, one])
      }),
      { numRuns: 60 },
    )
  })
})

describe('turns', () => {
  it('13: a prepare hook, the model, an abort and a timeout give the session back, and trying again gives the same', async () => {
    const session = begin()
    const turn = { session, route: booking, input: 'all', callModel: () => said(all, null) }
    const throwing = () => {
      throw new Error('down')
    }
    const broken = [
      { ...turn, callModel: throwing },
      { ...turn, route: routeThrough({ ...askHotel, prepare: throwing }) },
      { ...turn, abortSignal: AbortSignal.abort(new Error('enough')) },
      { ...turn, callModel: () => new Promise<never>(() => {}), abortSignal: AbortSignal.timeout(1) },
    ]
    const fresh = await executor.executeBatch(turn)
    for (const one of broken) {
      const response = await executor.executeBatch(one)
      expect(response.session).toBe(session)
      expect(await executor.executeBatch({ ...turn, session: response.session })).toEqual(fresh)
    }
  })

  it('14: streamed equals not streamed, only the message is shown, and an abort in the middle takes it back', async () => {
    const turn = { session: begin(), route: booking, input: 'all' }
    const callModel = scriptedModel(said(all, null, 'Booked.'), said(all, null, 'Booked.'))
    const whole = await executor.executeBatch({ ...turn, callModel })
    const { text, response } = await readAll(executor.streamBatch({ ...turn, callModel: inPieces(callModel, [3]) }))
    expect([text, response]).toEqual(['Booked.', whole])
    const controller = new AbortController()
    const stream = executor.streamBatch({
      ...turn,
      callModel: inPieces(() => said(all, null, 'Booked.'), [3]),
      abortSignal: controller.signal,
    })
    expect((await stream.next()).value).toEqual({ type: 'text-delta', text: expect.any(String) })
    controller.abort()
    const rest = await readAll(stream)
    expect([rest.chunks, rest.response.stoppedReason]).toEqual([[{ type: 'text-reset' }], 'aborted'])
  })

  it('15: after a round of tools the fields are those of the last round, and two calls of one tool keep their ids', async () => {
    const ids: string[] = []
    const look = tool({ inputSchema: z.object({}), execute: (_, { toolCallId }) => ids.push(toolCallId) })
    const calls = [
      { toolName: 'look', input: {} },
      { toolName: 'look', input: {} },
    ]
    const model = loopScript([
      { text: JSON.stringify(said({ ...all, guests: 9 }, null)), toolCalls: calls },
      JSON.stringify(said(all, null)),
    ])
    const callModel = loopModel({ model, tools: { look } })
    const response = await executor.executeBatch({ session: begin(), route: booking, input: 'all', callModel })
    expect([ids, response.session.data]).toEqual([['call-1', 'call-2'], all])
  })

  it('16: a session round-trips through JSON, and one of another version is refused with the cure', () => {
    const session = settleTurn(begin({ hotel: 'Ritz' }), plan(begin({ hotel: 'Ritz' }), booking))
    expect(parseSession(JSON.stringify(session))).toEqual(session)
    expect(() => parseSession({ ...session, version: 2 })).toThrow(/version 2.*begin a new session with its data/)
  })

  it('17: one executor serves two sessions at once, and nothing leaks', async () => {
    const run = (hotel: string) =>
      executor.executeBatch({
        session: createSession({ fields: bookingFields, id: hotel }),
        route: booking,
        input: hotel,
        callModel: async () => (await Promise.resolve(), said({ hotel }, 'ask-date')),
      })
    const both = await Promise.all([run('Ritz'), run('Hilton')])
    expect(both.map(({ session }) => [session.id, session.data])).toEqual([
      ['Ritz', { hotel: 'Ritz' }],
      ['Hilton', { hotel: 'Hilton' }],
    ])
  })

  it('18: events come in order for a turn, a throwing listener harms nothing, and the totals are those of the result', async () => {
    const told = new BatchExecutor()
    const events: BatchEvent[] = []
    told.addEventListener(() => {
      throw new Error('deaf')
    })
    told.addEventListener(event => events.push(event))
    const callModel = scriptedModel(said({ hotel: 'Ritz' }, 'ask-date'))
    const { callCount, usage, savings } = await told.executeBatch({
      session: begin(),
      route: booking,
      input: 'Ritz',
      callModel,
    })
    expect(events.map(({ type }) => type)).toEqual(['batch_start', 'step_included', 'batch_stop', 'batch_complete'])
    expect(events.at(-1)?.details).toMatchObject({ callCount, usage, savings })
  })
})

describe('the rest of what was wrong', () => {
  it('steps without an id stay apart', () => {
    const route = createRoute({
      title: 'Booking',
      fields: bookingFields,
      steps: [
        { prompt: 'Which hotel?', collect: ['hotel'] },
        { prompt: 'What date?', collect: ['date'] },
      ],
    })
    expect(plan(begin({ hotel: 'Ritz' }), route).steps.map(({ id }) => id)).toEqual(['step-1', 'step-2'])
  })

  it('prepare and finalize of the step that asks next wait for its answer', async () => {
    const log: string[] = []
    const route = routeThrough(logged(log, askHotel), logged(log, askDate))
    const callModel = scriptedModel(said({ hotel: 'Ritz' }, 'ask-date'))
    const { session } = await executor.executeBatch({ session: begin(), route, input: 'Ritz', callModel })
    expect(log).toEqual(['prepare ask-hotel', 'finalize ask-hotel'])
    await executor.executeBatch({
      session,
      route,
      input: 'Friday',
      callModel: scriptedModel(said({ date: 'Friday' }, null)),
    })
    expect(log).toEqual(['prepare ask-hotel', 'finalize ask-hotel', 'prepare ask-date', 'finalize ask-date'])
  })

  it('a route that is complete stays complete, and asks nothing', async () => {
    const done = await executor.executeBatch({
      session: begin(),
      route: booking,
      input: 'all',
      callModel: scriptedModel(said(all, null)),
    })
    const thanks = scriptedModel(said({}, null, 'You are welcome.'))
    const response = await executor.executeBatch({
      session: done.session,
      route: booking,
      input: 'thanks',
      callModel: thanks,
    })
    expect(response).toMatchObject({
      message: 'You are welcome.',
      executedSteps: [],
      stoppedReason: 'route_complete',
      callCount: 1,
    })
  })

  it('a value that a prepare hook derives can satisfy a later step in the same turn', async () => {
    const route = routeThrough({ ...askHotel, prepare: () => ({ guests: 2 }) }, askGuests)
    const callModel = scriptedModel(said({ hotel: 'Ritz' }, 'ask-guests'), { message: 'Done.' })
    const response = await executor.executeBatch({ session: begin(), route, input: 'Ritz', callModel })
    expect(response.executedSteps.map(({ id }) => id)).toEqual(['ask-hotel', 'ask-guests'])
  })

  it('a field that no step asks for and no hook gives blocks with a reason instead of asking for ever', () => {
    const route = routeThrough({ id: 'pay', prompt: 'Pay.', requires: ['guests'] })
    expect(plan(begin(), route)).toMatchObject({ stoppedReason: 'blocked', stoppedAtStep: 'pay' })
  })
})
