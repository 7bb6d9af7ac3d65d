import { describe, expect, it } from 'vitest'
import {
  BatchExecutor,
  createRoute,
  setValues,
  type FlowStep,
  type Hook,
  type KnownData,
} from '@lockstep/batch-executor'
import {
  askDate,
  askGuests,
  askHotel,
  begin,
  bookingFields as fields,
  type Booking,
  routeThrough as route,
  logged,
} from './booking.ts'
import { scriptedModel } from './scripted-model.ts'

const all: Booking = { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }
const executor = new BatchExecutor()

describe('hooks', () => {
  it('run in step order, prepare before the reply and finalize after it', async () => {
    const log: string[] = []
    const callModel = () => {
      log.push('model')
      return { values: all, asks: null, message: 'Done.' }
    }
    await executor.executeBatch({
      session: begin(),
      route: route(logged(log, askHotel), { id: 'silent' }, logged(log, askDate), askGuests),
      input: 'all',
      callModel,
    })
    expect(log).toEqual(['model', 'prepare ask-hotel', 'prepare ask-date', 'finalize ask-hotel', 'finalize ask-date'])
  })

  it('get the data, the session, a key for the visit and the context of the turn', async () => {
    const seen: unknown[] = []
    const watch: Hook<Booking, { readonly user: string }, void> = ({ data, context, visitKey, session }) =>
      void seen.push([data.hotel, context.user, visitKey, session.id])
    const watched = createRoute({ title: 'Booking', fields, steps: [{ ...askHotel, prepare: watch, finalize: watch }] })
    const turn = { route: watched, callModel: scriptedModel(), context: { user: 'ann' } }
    const { session } = await executor.executeBatch({ ...turn, session: begin({ hotel: 'Ritz' }) })
    const corrected = setValues(session, { hotel: 'Hilton' }, { fields, source: 'code' }).session
    await executor.executeBatch({ ...turn, session: corrected })
    expect(seen).toEqual([
      ['Ritz', 'ann', 'session-1/booking/ask-hotel/1', 'session-1'],
      ['Ritz', 'ann', 'session-1/booking/ask-hotel/1', 'session-1'],
      ['Hilton', 'ann', 'session-1/booking/ask-hotel/2', 'session-1'],
      ['Hilton', 'ann', 'session-1/booking/ask-hotel/2', 'session-1'],
    ])
  })

  it('run again for a step that required a value which was corrected, and for no other', async () => {
    const log: string[] = []
    const quote: FlowStep<Booking> = { id: 'quote', requires: ['guests'] }
    const watched = route(logged(log, askHotel), logged(log, quote))
    const callModel = scriptedModel()
    const { session } = await executor.executeBatch({ session: begin(all), route: watched, callModel })
    log.length = 0
    const corrected = setValues(session, { guests: 3 }, { fields, source: 'code' }).session
    await executor.executeBatch({ session: corrected, route: watched, callModel })
    expect(log).toEqual(['prepare quote', 'finalize quote'])
  })

  it('can make a later step possible in the same turn, whatever the size of a batch', async () => {
    const steps: readonly FlowStep<Booking>[] = [
      { ...askHotel, prepare: async () => ({ guests: 4 }) },
      { id: 'quote', prompt: 'Give the price.', verbatim: true, requires: ['guests'] },
    ]
    for (const maxSteps of [1, 2, undefined]) {
      const response = await new BatchExecutor({ maxSteps }).executeBatch({
        session: begin({ hotel: 'Ritz' }),
        route: route(...steps),
        callModel: scriptedModel(),
      })
      expect(response.executedSteps.map(step => step.id)).toEqual(['ask-hotel', 'quote'])
      expect(response.message).toBe('Give the price.')
    }
  })

  it('that return what is said already do not visit an earlier step again', async () => {
    const log: string[] = []
    const tidy = route(
      logged(log, askHotel),
      { id: 'tidy', prepare: ({ data }) => ({ hotel: `${data.hotel}.` }) },
      askDate,
    )
    const first = await executor.executeBatch({
      session: begin({ hotel: 'Ritz' }),
      route: tidy,
      callModel: scriptedModel({ message: 'When?' }),
    })
    expect(first.session.data.hotel).toBe('Ritz.')
    const second = await executor.executeBatch({
      session: first.session,
      route: tidy,
      callModel: scriptedModel({ message: 'When?' }),
    })
    expect([second.executedSteps, log]).toEqual([[], ['prepare ask-hotel', 'finalize ask-hotel']])
  })

  it('that answer each other for ever come to an end', async () => {
    let count = 0
    const prepare = () => ({ guests: (count++ % 9) + 1 })
    const echo = route({ ...askHotel, requires: ['guests'], prepare }, { id: 'echo', requires: ['guests'], prepare })
    const response = await executor.executeBatch({
      session: begin({ hotel: 'Ritz', guests: 10 }),
      route: echo,
      callModel: scriptedModel(),
    })
    expect([response.stoppedReason, count]).toEqual(['route_complete', 2])
  })

  it('that return what is not valid fail', async () => {
    const broken = route({ ...askHotel, prepare: () => ({ guests: 99 }) })
    const response = await executor.executeBatch({
      session: begin({ hotel: 'Ritz' }),
      route: broken,
      callModel: scriptedModel(),
    })
    expect(response.stoppedReason).toBe('prepare_error')
    expect(response.error?.message).toContain('"guests" was refused')
  })

  it('cannot change the data that they are given', async () => {
    const nosy = route({
      ...askHotel,
      prepare: ({ data }) => {
        ;(data as { -readonly [TName in keyof KnownData<Booking>]: Booking[TName] }).hotel = 'Mine'
      },
    })
    const response = await executor.executeBatch({
      session: begin({ hotel: 'Ritz' }),
      route: nosy,
      callModel: scriptedModel(),
    })
    expect(response.stoppedReason).toBe('prepare_error')
    expect(response.session.data.hotel).toBe('Ritz')
  })
})
