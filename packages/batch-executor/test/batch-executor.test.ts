import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import {
  BatchError,
  BatchExecutor,
  createRoute,
  createSession,
  defineFields,
  END_ROUTE,
  plan,
  type FlowStep,
} from '@lockstep/batch-executor'
import {
  askDate,
  askGuests,
  askHotel,
  begin,
  booking,
  bookingFields as fields,
  type Booking,
  routeThrough as route,
  logged,
} from './booking.ts'
import { scriptedModel } from './scripted-model.ts'

const all: Booking = { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }
const executor = new BatchExecutor()

describe('executeBatch', () => {
  it('makes one call when everything is said at once', async () => {
    const callModel = scriptedModel({ values: all, asks: null, message: 'Booked the Grand Hotel for 2 on Friday.' })
    const session = begin()
    const response = await executor.executeBatch({
      session,
      route: booking,
      input: 'Grand Hotel for 2 on Friday',
      callModel,
    })
    expect(response).toMatchObject({
      message: 'Booked the Grand Hotel for 2 on Friday.',
      executedSteps: [
        { id: 'ask-hotel', routeId: 'booking' },
        { id: 'ask-date', routeId: 'booking' },
        { id: 'ask-guests', routeId: 'booking' },
      ],
      stoppedReason: 'route_complete',
      session: { data: all },
      callCount: 1,
      issues: [],
    })
    expect(response.error).toBeUndefined()
    expect(session).toEqual(begin())
  })

  it('executes what a partial answer satisfied and asks the next question in the same call', async () => {
    const callModel = scriptedModel({
      values: { hotel: 'Ritz', date: null, guests: 2 },
      asks: 'ask-date',
      message: 'The Ritz for two. When?',
    })
    const response = await executor.executeBatch({
      session: begin(),
      route: booking,
      input: 'the Ritz for two',
      callModel,
    })
    expect(response.executedSteps.map(step => step.id)).toEqual(['ask-hotel'])
    expect([response.stoppedReason, response.message, response.callCount]).toEqual([
      'needs_input',
      'The Ritz for two. When?',
      1,
    ])
    expect(response.session.asks).toEqual({ date: 1 })
    expect(response.session.provenance.hotel).toEqual({
      source: 'message',
      turn: 0,
      revision: 1,
      words: 'the Ritz for two',
    })
  })

  it('makes a second call when the reply asks the wrong question, with what is known by then', async () => {
    const callModel = scriptedModel(
      { values: { hotel: 'Ritz', date: 'Friday' }, asks: 'ask-date', message: 'When?' },
      { message: 'How many of you?' },
    )
    const response = await executor.executeBatch({
      session: begin(),
      route: booking,
      input: 'the Ritz on Friday',
      callModel,
    })
    expect([response.message, response.callCount]).toEqual(['How many of you?', 2])
    const [, second] = callModel.prompts
    expect(second?.system).toContain('- hotel: "Ritz"\n- date: "Friday"')
    expect(second?.system).toContain('How many guests?')
    expect(second?.system).not.toContain('What date?')
    expect(second?.names).toEqual({})
  })

  it('makes a second call when the reply took a refused value for granted', async () => {
    const callModel = scriptedModel(
      { values: { ...all, guests: 99 }, asks: 'ask-guests', message: 'All 99 of you!' },
      { message: 'At most ten, please.' },
    )
    const response = await executor.executeBatch({ session: begin(), route: booking, input: '99 of us', callModel })
    expect(response.message).toBe('At most ten, please.')
    expect(response.session.data).toEqual({ hotel: 'Grand Hotel', date: 'Friday' })
    expect(response.issues.map(issue => issue.code)).toEqual(['invalid-value'])
    expect(callModel.prompts[1]?.system).toContain('"guests" was refused')
  })

  it('survives null, empty, wrong and invented values: the turn succeeds and the fields stay open', async () => {
    const values = { hotel: null, date: '', guests: 'two', room: 7 }
    const callModel = scriptedModel({ values, asks: 'ask-hotel', message: 'Which?' }, { message: 'Which hotel?' })
    const response = await executor.executeBatch({ session: begin(), route: booking, input: 'hm', callModel })
    expect(response.session.data).toEqual({})
    expect(response.issues.map(({ code, field }) => [code, field])).toEqual([
      ['invalid-value', 'guests'],
      ['unknown-field', 'room'],
    ])
    expect([response.stoppedReason, response.plan.ask?.stepId]).toEqual(['needs_input', 'ask-hotel'])
  })

  it('does not let a message give what only code may give', async () => {
    const priced = defineFields({ city: z.string(), price: z.number() })
    const quote = createRoute({
      title: 'Quote',
      fields: priced,
      steps: [
        { prompt: 'Which city?', collect: ['city'], prepare: () => ({ price: 90 }) },
        { prompt: 'Tell the price.', requires: ['price'] },
      ],
    })
    const callModel = scriptedModel(
      { values: { city: 'Rome', price: 1 }, asks: null, message: 'That is 1.' },
      { message: 'That is 90.' },
    )
    const session = createSession({ fields: priced })
    const response = await executor.executeBatch({ session, route: quote, input: 'Rome, for 1', callModel })
    expect(callModel.prompts[0]?.names).toEqual({ city: 'city' })
    expect(response.issues.map(issue => issue.code)).toEqual(['not-collected'])
    expect(response.session.data).toEqual({ city: 'Rome', price: 90 })
    expect(response.session.provenance.price).toMatchObject({ source: 'hook', stepId: 'step-1' })
  })

  it('corrects a known value, visits its step again and says so to the model', async () => {
    const log: string[] = []
    const watched = route(logged(log, askHotel), logged(log, askDate), logged(log, askGuests))
    const first = scriptedModel({ values: all, asks: null, message: 'Booked.' })
    const { session } = await executor.executeBatch({
      session: begin(),
      route: watched,
      input: 'all of it',
      callModel: first,
    })
    log.length = 0
    const callModel = scriptedModel({ values: { guests: 3 }, asks: null, message: 'Three, then.' })
    const response = await executor.executeBatch({ session, route: watched, input: 'make it three', callModel })
    expect(response).toMatchObject({ message: 'Three, then.', callCount: 1, session: { data: { guests: 3 } } })
    expect(response.changes).toEqual([{ type: 'corrected', field: 'guests' }])
    expect(response.executedSteps.map(step => step.id)).toEqual(['ask-guests'])
    expect(log).toEqual(['prepare ask-guests', 'finalize ask-guests'])
  })

  it('knows the next question however small a batch is and however much was known before', async () => {
    const callModel = scriptedModel({ values: {}, asks: 'ask-guests', message: 'How many guests?' })
    const small = new BatchExecutor({ maxSteps: 1 })
    const session = begin({ hotel: 'Ritz', date: 'Friday' })
    const response = await small.executeBatch({ session, route: booking, input: 'hello', callModel })
    expect([response.callCount, response.executedSteps.length]).toEqual([1, 2])
  })

  it('needs no call to begin with fixed words', async () => {
    const greeting = route({ prompt: 'Welcome.', verbatim: true }, { ...askHotel, verbatim: true })
    const callModel = scriptedModel()
    const response = await executor.executeBatch({ session: begin(), route: greeting, callModel })
    expect([response.message, response.callCount, response.stoppedReason]).toEqual([
      'Welcome.\nWhich hotel?',
      0,
      'needs_input',
    ])
  })

  it('needs no call when all is known, nobody spoke and nothing is to be said', async () => {
    const response = await executor.executeBatch({ session: begin(all), route: booking, callModel: scriptedModel() })
    expect(response).toMatchObject({ message: '', callCount: 0, stoppedReason: 'route_complete' })
    expect(response.executedSteps).toHaveLength(3)
    const again = await executor.executeBatch({ session: response.session, route: booking, callModel: scriptedModel() })
    expect(again).toMatchObject({ message: '', executedSteps: [], stoppedReason: 'route_complete' })
  })

  it('says fixed words instead of the reply, with the one call that reads the message', async () => {
    const fixed = route({ ...askHotel, verbatim: true }, { ...askDate, verbatim: true })
    const callModel = scriptedModel({ values: { hotel: 'Ritz' }, asks: 'ask-date', message: 'And the day?' })
    const response = await executor.executeBatch({ session: begin(), route: fixed, input: 'Ritz', callModel })
    expect([response.message, response.callCount]).toEqual(['What date?', 1])
  })

  it('says what speaking steps say once, and not again', async () => {
    const speaking = route({ id: 'hello', prompt: 'Welcome.' }, askHotel)
    const first = scriptedModel({ message: 'Welcome! Which hotel?' })
    const { session } = await executor.executeBatch({ session: begin(), route: speaking, callModel: first })
    const second = scriptedModel({ values: { hotel: null }, asks: 'ask-hotel', message: 'Which hotel?' })
    const response = await executor.executeBatch({ session, route: speaking, input: 'nice weather', callModel: second })
    expect(first.prompts[0]?.system).toContain('- say: Welcome.')
    expect(second.prompts[0]?.system).not.toContain('Welcome.')
    expect([response.executedSteps, response.callCount]).toEqual([[], 1])
  })

  it('writes a reply anew when the step that it speaks for is not on the way any more', async () => {
    const branching = route(
      { ...askHotel, next: [{ when: data => data.hotel === 'Ritz', to: 'ritz' }] },
      { id: 'plain', prompt: 'Mention the garage.', next: END_ROUTE },
      { id: 'ritz', prompt: 'Mention the dress code.' },
    )
    const callModel = scriptedModel(
      { values: { hotel: 'Ritz' }, asks: null, message: 'We have a garage.' },
      { message: 'Dress up.' },
    )
    const response = await executor.executeBatch({ session: begin(), route: branching, input: 'Ritz', callModel })
    expect([response.message, response.callCount]).toEqual(['Dress up.', 2])
    expect(callModel.prompts[1]?.system).toContain('Mention the dress code.')
    expect(callModel.prompts[1]?.system).not.toContain('garage')
  })

  it('leaves what several sessions say apart, though they share an executor and run at once', async () => {
    const shared = new BatchExecutor()
    const run = (hotel: string) =>
      shared.executeBatch({
        session: createSession({ fields, id: hotel }),
        route: booking,
        input: hotel,
        callModel: async () => {
          await Promise.resolve()
          return { values: { hotel }, asks: 'ask-date', message: 'When?' }
        },
      })
    const [ritz, hilton] = await Promise.all([run('Ritz'), run('Hilton')])
    expect([ritz.session.data, hilton.session.data]).toEqual([{ hotel: 'Ritz' }, { hotel: 'Hilton' }])
    expect([ritz.session.id, hilton.session.id]).toEqual(['Ritz', 'Hilton'])
  })

  it('asks a limited number of times and then says that it cannot go on', async () => {
    const limited = new BatchExecutor({ maxAsks: 1 })
    const first = await limited.executeBatch({
      session: begin(),
      route: booking,
      callModel: scriptedModel({ message: 'Which hotel?' }),
    })
    const callModel = scriptedModel({ values: {}, asks: 'ask-hotel', message: 'Which hotel?' }, { message: 'Sorry.' })
    const second = await limited.executeBatch({ session: first.session, route: booking, input: 'hm', callModel })
    expect([second.stoppedReason, second.message, second.plan.ask]).toEqual(['max_asks_reached', 'Sorry.', undefined])
    expect(callModel.prompts[1]?.system).toContain('cannot go on')
  })
})

describe('a turn that is broken off', () => {
  const failing = (hook: 'prepare' | 'finalize', log: string[] = []) =>
    route(logged(log, askHotel), {
      ...askDate,
      [hook]: () => {
        throw new TypeError('no stock')
      },
    })
  const session = begin({ hotel: 'Ritz' })
  const said = { values: { date: 'Friday' }, asks: null, message: 'Done.' }

  it('by a prepare hook returns the session as it was, drops the reply, and succeeds when made again', async () => {
    const log: string[] = []
    let broken = true
    const flaky = route(logged(log, askHotel), {
      ...askDate,
      prepare: () => {
        if (broken) throw new TypeError('no stock')
      },
    })
    const turn = { session, route: flaky, input: 'Friday', callModel: () => said }
    const first = await executor.executeBatch(turn)
    expect(first).toMatchObject({ message: '', executedSteps: [], stoppedReason: 'prepare_error', changes: [] })
    expect(first.session).toBe(session)
    expect(first.error).toMatchObject({
      code: 'prepare-failed',
      routeId: 'booking',
      stepId: 'ask-date',
      cause: new TypeError('no stock'),
    })
    expect(log).toEqual(['prepare ask-hotel'])
    broken = false
    const second = await executor.executeBatch(turn)
    expect(second).toMatchObject({ message: 'Done.', stoppedReason: 'route_complete' })
    expect(await executor.executeBatch({ ...turn, session: first.session })).toEqual(second)
  })

  it('by the model returns the session as it was', async () => {
    const response = await executor.executeBatch({
      session,
      route: booking,
      input: 'Friday',
      callModel: scriptedModel(new Error('overloaded')),
    })
    expect(response).toMatchObject({ message: '', executedSteps: [], stoppedReason: 'llm_error', callCount: 1 })
    expect(response.error).toMatchObject({ code: 'model-failed', message: 'The model call failed: overloaded' })
    expect(response.session).toBe(session)
  })

  it.each([undefined, 'Hello', [], { values: {} }, { message: 7 }])(
    'by a reply without a message: %j',
    async output => {
      const response = await executor.executeBatch({
        session,
        route: booking,
        input: 'Friday',
        callModel: () => output,
      })
      expect([response.stoppedReason, response.error?.code]).toEqual(['llm_error', 'invalid-reply'])
      expect(response.session).toBe(session)
    },
  )

  it('by a finalize hook is not broken off: it is reported, the others run, and the session goes on', async () => {
    const log: string[] = []
    const response = await executor.executeBatch({
      session,
      route: failing('finalize', log),
      input: 'Friday',
      callModel: () => said,
    })
    expect(response).toMatchObject({
      message: 'Done.',
      stoppedReason: 'route_complete',
      session: { data: { date: 'Friday' }, turn: 1 },
    })
    expect(response.error).toMatchObject({ code: 'finalize-failed', stepId: 'ask-date' })
    expect(log).toEqual(['prepare ask-hotel', 'finalize ask-hotel'])
  })

  it('reports every finalize hook that failed', async () => {
    const fail = (word: string) => () => Promise.reject(new Error(word))
    const both = route({ ...askHotel, finalize: fail('one') }, { id: 'two', finalize: fail('two') })
    const { error } = await executor.executeBatch({ session, route: both, callModel: scriptedModel() })
    expect(error?.message).toMatch(/"ask-hotel" failed: one.*"two" failed: two/)
    expect(error?.cause).toMatchObject({ errors: [{ stepId: 'ask-hotel' }, { stepId: 'two' }] })
  })

  const never = new Promise<never>(() => {})
  const hangs: readonly (readonly [string, Partial<FlowStep<Booking>>, boolean])[] = [
    ['while the model thinks', {}, true],
    ['while a prepare hook runs', { prepare: () => never }, false],
    ['while a finalize hook runs', { finalize: () => never }, false],
  ]
  it.each(hangs)('by an abort %s returns the session as it was, at once', async (_, hooks, modelHangs) => {
    const controller = new AbortController()
    const callModel = () => {
      if (modelHangs) queueMicrotask(() => controller.abort(new Error('enough')))
      return modelHangs ? never : said
    }
    const abortingHooks = Object.fromEntries(
      Object.entries(hooks).map(([name, hook]) => [
        name,
        () => {
          queueMicrotask(() => controller.abort(new Error('enough')))
          return (hook as () => unknown)()
        },
      ]),
    )
    const hanging = route({ ...askHotel, ...abortingHooks }, askDate)
    const response = await executor.executeBatch({
      session,
      route: hanging,
      input: 'Friday',
      callModel,
      abortSignal: controller.signal,
    })
    expect(response).toMatchObject({ message: '', executedSteps: [], stoppedReason: 'aborted' })
    expect(response.session).toBe(session)
    expect(response.error).toMatchObject({ code: 'aborted', cause: new Error('enough') })
  })

  it('before it began makes no call and runs no hook', async () => {
    const log: string[] = []
    const response = await executor.executeBatch({
      session,
      route: route(logged(log, askHotel)),
      callModel: scriptedModel(),
      abortSignal: AbortSignal.abort(),
    })
    expect([response.stoppedReason, response.callCount, log]).toEqual(['aborted', 0, []])
  })

  it('starts no hook after the signal aborted', async () => {
    const log: string[] = []
    const controller = new AbortController()
    const aborting = new BatchExecutor()
    aborting.addEventListener(() => controller.abort())
    const response = await aborting.executeBatch({
      session,
      route: route(logged(log, askHotel)),
      callModel: scriptedModel(),
      abortSignal: controller.signal,
    })
    expect([response.stoppedReason, log]).toEqual(['aborted', []])
  })

  it('passes its signal to the model and leaves nothing listening', async () => {
    const controller = new AbortController()
    const counts = { added: 0, removed: 0 }
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = ((...args: Parameters<typeof add>) => (counts.added++, add(...args))) as typeof add
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => (
      counts.removed++,
      remove(...args)
    )) as typeof remove
    const seen: unknown[] = []
    await executor.executeBatch({
      session,
      route: route({ ...askHotel, prepare: async () => {} }, askDate),
      input: 'Friday',
      abortSignal: signal,
      callModel: (_, { abortSignal }) => {
        seen.push(abortSignal)
        return said
      },
    })
    expect(seen).toEqual([signal])
    expect(counts.added).toBeGreaterThan(0)
    expect(counts.removed).toBe(counts.added)
  })

  it('throws for mistakes of the author, which no second try can cure', async () => {
    const bare = {
      '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value: value as string }) },
    } as const
    const own = defineFields({ city: bare })
    const asking = createRoute({ title: 'Own', fields: own, steps: [{ prompt: 'Which city?', collect: ['city'] }] })
    const turn = executor.executeBatch({
      session: createSession({ fields: own }),
      route: asking,
      input: 'Rome',
      callModel: () => ({}),
    })
    await expect(turn).rejects.toMatchObject({ code: 'no-json-schema' })
    expect(plan(createSession({ fields: own }), asking).ask?.prompt).toBe('Which city?')
  })
})

describe('the phases on their own', () => {
  it('make a turn by hand', async () => {
    const collected = executor.collectBatchData({
      session: begin(),
      route: booking,
      values: { hotel: 'Ritz', guests: 'x' },
      input: 'Ritz',
    })
    expect([collected.missing, collected.issues.length]).toEqual([['date', 'guests'], 1])
    const due = executor.determineBatch({ session: collected.session, route: booking })
    const prepared = await executor.executePrepareHooks({ session: collected.session, route: booking, plan: due })
    expect(prepared.executedSteps).toEqual([{ id: 'ask-hotel', routeId: 'booking' }])
    expect(prepared.plan.batch).toEqual([])
    expect(await executor.executeFinalizeHooks({ ...prepared, route: booking })).toEqual([])
  })

  it('say which prepare hooks ran before one failed', async () => {
    const broken = route(askHotel, {
      ...askDate,
      prepare: () => {
        throw 'no stock'
      },
    })
    const session = begin({ hotel: 'Ritz', date: 'Friday' })
    const prepared = await executor.executePrepareHooks({ session, route: broken, plan: plan(session, broken) })
    expect(prepared.executedSteps.map(step => step.id)).toEqual(['ask-hotel'])
    expect(prepared.session).toBe(session)
    expect(prepared.error?.message).toBe('The prepare hook of step "ask-date" failed: no stock')
  })

  it('refuse a batch of no steps', () => {
    expect(() => new BatchExecutor({ maxSteps: 0 })).toThrow(BatchError)
  })
})
