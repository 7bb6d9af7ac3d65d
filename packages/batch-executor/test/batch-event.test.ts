import { z } from 'zod'
import { describe, expect, it, vi } from 'vitest'
import {
  BatchExecutor,
  createRoute,
  createSession,
  defineFields,
  describePlan,
  END_ROUTE,
  plan,
  type BatchEvent,
  type FlowStep,
} from '@lockstep/batch-executor'
import { askDate, askGuests, askHotel, begin, booking, type Booking, routeThrough as route } from './booking.ts'
import { scriptedModel } from './scripted-model.ts'

const all: Booking = { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }

describe('events', () => {
  const clock = () => 1_795_219_200_000
  function listening(options: ConstructorParameters<typeof BatchExecutor>[0] = {}) {
    const events: BatchEvent[] = []
    const told = new BatchExecutor({ now: clock, ...options })
    const stop = told.addEventListener(event => events.push(event))
    const types = () => events.map(({ type, details }) => ('stepId' in details ? `${type} ${details.stepId}` : type))
    return { told, events, stop, types }
  }
  const complete = { values: all, asks: null, message: 'Done.' }

  it('tell of a turn in order, with what each is about', async () => {
    const { told, events, types } = listening()
    const watched = route({ id: 'never', skipIf: () => true }, askHotel, askDate)
    await told.executeBatch({
      session: begin(),
      route: watched,
      input: 'the Ritz',
      callModel: () => ({ values: { hotel: 'Ritz' }, asks: 'ask-date', message: 'When?' }),
    })
    expect(types()).toEqual([
      'batch_start',
      'step_skipped never',
      'step_included ask-hotel',
      'batch_stop ask-date',
      'batch_complete',
    ])
    const id = { sessionId: 'session-1', routeId: 'booking' }
    expect(events.map(event => event.details)).toEqual([
      { ...id, reason: 'batch determination begins', batchSize: 0, stepIndex: 0 },
      { ...id, reason: 'its skipIf holds', batchSize: 0, stepId: 'never' },
      { ...id, reason: 'all requirements satisfied', batchSize: 1, stepId: 'ask-hotel' },
      {
        ...id,
        reason: 'missing date',
        batchSize: 1,
        stepId: 'ask-date',
        stoppedReason: 'needs_input',
        missing: ['date'],
      },
      {
        ...id,
        reason: 'the turn is settled',
        batchSize: 1,
        stoppedReason: 'needs_input',
        callCount: 1,
        usage: { inputTokens: expect.any(Number), outputTokens: 16 },
        savings: { callCount: 0, tokenCount: 0 },
        timing: { totalMs: 0, llmCallMs: 0, dataCollectionMs: 0, prepareHooksMs: 0, finalizeHooksMs: 0 },
      },
    ])
    expect(events[0]?.timestamp).toBe(new Date(clock()).toISOString())
    expect(JSON.parse(JSON.stringify(events))).toEqual(events)
  })

  type StopCase = readonly [
    string,
    Partial<Booking>,
    readonly (FlowStep<Booking> | typeof END_ROUTE)[],
    readonly string[],
  ]
  const stops: readonly StopCase[] = [
    [
      'end_route',
      all,
      [askHotel, END_ROUTE],
      ['batch_start', 'step_included ask-hotel', 'batch_stop', 'batch_complete'],
    ],
    [
      'route_complete',
      {},
      [{ ...askHotel, skipIf: () => true }],
      ['batch_start', 'step_skipped ask-hotel', 'batch_stop', 'batch_complete'],
    ],
    ['needs_input', {}, [{ ...askHotel, verbatim: true }], ['batch_start', 'batch_stop ask-hotel', 'batch_complete']],
    ['max_asks_reached', {}, [{ ...askHotel, maxAsks: 0 }], ['batch_start', 'batch_stop ask-hotel', 'batch_complete']],
    ['blocked', {}, [{ id: 'quote', requires: ['date'] }], ['batch_start', 'batch_stop quote', 'batch_complete']],
  ]
  it.each(stops)('tell of every stop: %s', async (...[stoppedReason, data, steps, expected]) => {
    const { told, types } = listening()
    const response = await told.executeBatch({
      session: begin(data),
      route: route(...steps),
      callModel: scriptedModel(),
    })
    expect(response.stoppedReason).toBe(stoppedReason)
    expect(types()).toEqual(expected)
  })

  it('tell of what a batch of limited size holds, and of every step once', async () => {
    const { told, types, events } = listening({ maxSteps: 2 })
    const response = await told.executeBatch({ session: begin(all), route: booking, callModel: scriptedModel() })
    expect(types()).toEqual([
      'batch_start',
      'step_included ask-hotel',
      'step_included ask-date',
      'batch_stop ask-guests',
      'batch_start',
      'step_included ask-guests',
      'batch_stop',
      'batch_complete',
    ])
    expect(events.at(-1)?.details.batchSize).toBe(response.executedSteps.length)
  })

  it('tell of a step that a hook made possible', async () => {
    const { told, types } = listening()
    const widened = route({ ...askHotel, prepare: () => ({ guests: 4 }) }, { id: 'quote', requires: ['guests'] })
    await told.executeBatch({ session: begin({ hotel: 'Ritz' }), route: widened, callModel: scriptedModel() })
    expect(types()).toEqual([
      'batch_start',
      'step_included ask-hotel',
      'batch_stop quote',
      'batch_start',
      'step_included quote',
      'batch_stop',
      'batch_complete',
    ])
  })

  it('tell of another stop when a hook changed the way', async () => {
    const { told, types } = listening()
    const branching = route(
      { ...askHotel, prepare: () => ({ guests: 4 }), next: [{ when: data => data.guests === 4, to: 'other' }] },
      { ...askDate, verbatim: true },
      { id: 'other', prompt: 'Which day?', collect: ['date'], verbatim: true },
    )
    await told.executeBatch({ session: begin({ hotel: 'Ritz' }), route: branching, callModel: scriptedModel() })
    expect(types()).toEqual([
      'batch_start',
      'step_included ask-hotel',
      'batch_stop ask-date',
      'batch_start',
      'batch_stop other',
      'batch_complete',
    ])
  })

  it('tell of a turn that was broken off', async () => {
    const { told, events } = listening()
    await told.executeBatch({
      session: begin(),
      route: booking,
      input: 'hm',
      callModel: scriptedModel(new Error('overloaded')),
    })
    expect(events.at(-1)).toMatchObject({
      type: 'batch_complete',
      details: { stoppedReason: 'llm_error', batchSize: 0, callCount: 1, error: 'The model call failed: overloaded' },
    })
  })

  it('measure each phase by the clock', async () => {
    let time = 0
    const told = new BatchExecutor({ now: () => time })
    const events: BatchEvent[] = []
    told.addEventListener(event => events.push(event))
    const slow = (ms: number) => () => void (time += ms)
    await told.executeBatch({
      session: begin(),
      route: route({ ...askHotel, prepare: slow(3), finalize: slow(5) }),
      input: 'Ritz',
      callModel: () => {
        time += 7
        return { values: { hotel: 'Ritz' }, asks: null, message: 'Done.' }
      },
    })
    expect(events.at(-1)?.details).toMatchObject({
      timing: { totalMs: 15, llmCallMs: 7, prepareHooksMs: 3, finalizeHooksMs: 5, dataCollectionMs: 0 },
    })
  })

  it('hold no values, not even of a step that failed on one', async () => {
    const { told, events } = listening()
    const secrets = defineFields({ card: z.string().min(20) }, { card: { sensitive: true } })
    const pay = createRoute({
      title: 'Pay',
      fields: secrets,
      steps: [{ prompt: 'Your card?', collect: ['card'], verbatim: true }],
    })
    const response = await told.executeBatch({
      session: createSession({ fields: secrets }),
      route: pay,
      input: '4111',
      callModel: () => ({ values: { card: '4111' }, asks: null, message: 'Thanks.' }),
    })
    expect(response.issues).toHaveLength(1)
    expect(JSON.stringify([events, response.issues, response.plan])).not.toContain('4111')
  })

  it('go on when a listener throws, for the turn and for the other listeners, and the throw is reported', async () => {
    const { told, events } = listening()
    told.addEventListener(event => {
      if (event.type === 'batch_stop') throw new Error('disk full')
    })
    const after: string[] = []
    told.addEventListener(event => after.push(event.type))
    const response = await told.executeBatch({
      session: begin(),
      route: booking,
      input: 'all',
      callModel: () => complete,
    })
    expect(response.stoppedReason).toBe('route_complete')
    expect(response.issues).toEqual([{ code: 'listener-failed', message: 'A listener threw at batch_stop: disk full' }])
    expect(after).toEqual(events.map(event => event.type))
    expect(told.determineBatch({ session: begin(), route: booking }).issues).toHaveLength(1)
  })

  it('are not told to a listener that left', async () => {
    const { told, events, stop } = listening()
    stop()
    told.determineBatch({ session: begin(), route: booking })
    expect(events).toEqual([])
  })

  it('are written to the console for debug: true, and nowhere without it', () => {
    const written: unknown[] = []
    const spy = vi.spyOn(console, 'debug').mockImplementation(line => void written.push(line))
    const session = begin({ hotel: 'Ritz' })
    new BatchExecutor().determineBatch({ session, route: booking })
    expect(written).toEqual([])
    new BatchExecutor({ debug: true }).determineBatch({ session, route: booking })
    spy.mockRestore()
    expect(written.join('\n')).toBe(describePlan(plan(session, booking)))
  })

  it('are written as debug lines', async () => {
    const lines: string[] = []
    const told = new BatchExecutor({ debug: line => lines.push(line) })
    told.determineBatch({
      session: begin({ hotel: 'Ritz' }),
      route: route(askHotel, { ...askDate, skipIf: () => true }, askGuests),
    })
    expect(lines).toEqual([
      '[BatchExecutor] Starting batch determination from step index 0',
      '[BatchExecutor] Including step ask-hotel in batch (all requirements satisfied)',
      '[BatchExecutor] Skipping step ask-date (its skipIf holds)',
      '[BatchExecutor] Step ask-guests needs input, stopping batch',
      '[BatchExecutor] Batch determination complete. Steps: 1, Stopped reason: needs_input',
    ])
  })
})
