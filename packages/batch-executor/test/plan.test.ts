import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import {
  clearValues,
  createRoute,
  createSession,
  defineFields,
  describePlan,
  END_ROUTE,
  plan,
  setValues,
  settleTurn,
  type FlowStep,
  type Session,
} from '@lockstep/batch-executor'
import {
  askDate,
  askGuests,
  askHotel,
  begin,
  booking,
  bookingFields,
  routeThrough as route,
  type Booking,
} from './booking.ts'

const all: Booking = { hotel: 'Grand Hotel', date: 'Friday', guests: 2 }

/** Asks the plan's question a number of times without getting an answer. */
function unanswered<TData>(
  session: Session<TData>,
  times: number,
  next: (session: Session<TData>) => ReturnType<typeof plan>,
) {
  let asked = session
  for (let time = 0; time < times; time += 1) asked = settleTurn(asked, next(asked))
  return asked
}

describe('plan', () => {
  it('is frozen JSON that prints as the debug lines', () => {
    const made = plan(begin({ hotel: 'Grand Hotel', date: 'Friday' }), booking)
    expect(JSON.parse(JSON.stringify(made))).toEqual(made)
    expect(Object.isFrozen(made) && Object.isFrozen(made.steps) && Object.isFrozen(made.agenda[0])).toBe(true)
    expect(describePlan(made).split('\n')).toEqual([
      '[BatchExecutor] Starting batch determination from step index 0',
      '[BatchExecutor] Including step ask-hotel in batch (all requirements satisfied)',
      '[BatchExecutor] Including step ask-date in batch (all requirements satisfied)',
      '[BatchExecutor] Step ask-guests needs input, stopping batch',
      '[BatchExecutor] Batch determination complete. Steps: 2, Stopped reason: needs_input',
    ])
  })

  it('asks the first question when nothing is known', () => {
    const made = plan(begin(), booking)
    expect(made.batch).toEqual([])
    expect(made.ask).toEqual({
      type: 'ask',
      stepId: 'ask-hotel',
      prompt: 'Which hotel?',
      fields: ['hotel'],
      verbatim: false,
    })
    expect([made.stoppedReason, made.stoppedAtStep]).toEqual(['needs_input', 'ask-hotel'])
  })

  it('is complete, with nothing to ask, when everything is known', () => {
    const made = plan(begin(all), booking)
    expect(made.batch).toEqual(['ask-hotel', 'ask-date', 'ask-guests'])
    expect([made.stoppedReason, made.ask]).toEqual(['route_complete', undefined])
  })

  it('ends with end_route at the marked end', () => {
    expect(plan(begin(all), route(askHotel, askDate, askGuests, END_ROUTE)).stoppedReason).toBe('end_route')
    expect(plan(begin(all), route({ ...askHotel, next: END_ROUTE })).stoppedReason).toBe('end_route')
    expect(plan(begin(), route(askHotel, END_ROUTE)).stoppedReason).toBe('needs_input')
  })

  it('does not care in which order values came', () => {
    const late = plan(begin({ guests: 2 }), booking)
    expect([late.ask?.stepId, late.batch]).toEqual(['ask-hotel', []])
    expect(plan(begin({ guests: 2, hotel: 'Ritz' }), booking).ask?.stepId).toBe('ask-date')
  })

  it('asks for the field that a step still lacks, unless any one is enough', () => {
    const both: FlowStep<Booking> = { id: 'both', prompt: 'Where and when?', collect: ['hotel', 'date'] }
    const session = begin({ hotel: 'Ritz' })
    expect(plan(session, route(both)).ask?.fields).toEqual(['date'])
    expect(plan(session, route({ ...both, satisfiedBy: 'any' })).batch).toEqual(['both'])
    expect(plan(session, route(both), { satisfiedBy: 'any' }).batch).toEqual(['both'])
    expect(plan(session, route({ ...both, satisfiedBy: 'all' }), { satisfiedBy: 'any' }).ask?.fields).toEqual(['date'])
  })

  it('asks for what a step requires of the fields that it collects, even if any one is enough', () => {
    const both: FlowStep<Booking> = { prompt: 'Where and when?', collect: ['hotel', 'date'], requires: ['hotel'] }
    const made = plan(begin({ date: 'Friday' }), route({ ...both, satisfiedBy: 'any' }))
    expect(made.ask?.fields).toEqual(['hotel'])
  })

  it('asks the question of the step that collects what another step requires', () => {
    const offer: FlowStep<Booking> = { id: 'offer', prompt: 'Offer a room.', requires: ['date'] }
    const made = plan(begin(), route(offer, askHotel, askDate))
    expect(made.ask).toMatchObject({ stepId: 'ask-date', fields: ['date'] })
    expect(made.stoppedAtStep).toBe('offer')
    expect(made.agenda.map(line => line.stepId)).toEqual(['ask-date', 'offer', 'ask-hotel'])
  })

  it('asks first for what the collecting step requires itself', () => {
    const made = plan(
      begin(),
      route({ requires: ['date'], prompt: 'Go.' }, askHotel, { ...askDate, requires: ['hotel'] }),
    )
    expect(made.ask?.stepId).toBe('ask-hotel')
  })

  it('is blocked, and asks nobody, when a required field is for code to give', () => {
    const fields = defineFields({ city: z.string(), price: z.number() })
    const quote = createRoute({
      title: 'Quote',
      fields,
      steps: [
        { prompt: 'Which city?', collect: ['city'] },
        { prompt: 'Tell the price.', requires: ['price'] },
      ],
    })
    const made = plan(createSession({ fields, data: { city: 'Rome' } }), quote)
    expect([made.stoppedReason, made.stoppedAtStep, made.ask]).toEqual(['blocked', 'step-2', undefined])
    expect(made.steps.at(-1)).toMatchObject({ status: 'blocked', reason: 'requires price, which no step asks for' })
  })

  it('is blocked when two steps require what the other collects', () => {
    const made = plan(begin(), route({ ...askHotel, requires: ['date'] }, { ...askDate, requires: ['hotel'] }))
    expect(made.stoppedReason).toBe('blocked')
  })

  it('stops at the limit of steps, but lets a question and the end come first', () => {
    const limited = (data: Partial<Booking>, maxSteps: number) => plan(begin(data), booking, { maxSteps })
    expect(limited(all, 1)).toMatchObject({
      batch: ['ask-hotel'],
      stoppedReason: 'max_steps_reached',
      stoppedAtStep: 'ask-date',
    })
    expect(limited(all, 3)).toMatchObject({ stoppedReason: 'route_complete' })
    expect(limited({ hotel: 'Ritz' }, 1)).toMatchObject({ batch: ['ask-hotel'], stoppedReason: 'needs_input' })
  })

  describe('skipIf', () => {
    const skip = (skipIf: FlowStep<Booking>['skipIf']) => route({ ...askHotel, ...(skipIf && { skipIf }) }, askDate)

    it('leaves a step out before its needs are looked at', () => {
      const made = plan(
        begin(),
        skip(() => true),
      )
      expect(made.steps.map(step => step.status)).toEqual(['skipped', 'asked'])
      expect(made.ask?.stepId).toBe('ask-date')
    })

    it('sees the data', () => {
      const made = skip(data => data.guests === 2)
      expect(plan(begin({ guests: 2 }), made).ask?.stepId).toBe('ask-date')
      expect(plan(begin({ guests: 3 }), made).ask?.stepId).toBe('ask-hotel')
    })

    it('does not leave a step out when it throws, and reports that', () => {
      const made = plan(
        begin(),
        skip(() => {
          throw new Error('no weather')
        }),
      )
      expect(made.ask?.stepId).toBe('ask-hotel')
      expect(made.issues).toEqual([
        {
          code: 'condition-failed',
          stepId: 'ask-hotel',
          message: 'skipIf of step "ask-hotel" threw: no weather, so it does not hold.',
        },
      ])
    })

    it('does not leave a step out for anything but true, and reports a promise', () => {
      const made = plan(begin(), skip((() => Promise.reject(new Error('late'))) as never))
      expect(made.ask?.stepId).toBe('ask-hotel')
      expect(made.issues[0]?.message).toContain('returned a promise')
      expect(plan(begin(), skip((() => 'yes') as never)).issues[0]?.message).toContain('value of type string')
    })

    it('can leave out every step', () => {
      const made = plan(begin(), route({ ...askHotel, skipIf: () => true }, END_ROUTE))
      expect([made.stoppedReason, made.batch]).toEqual(['end_route', []])
    })
  })

  describe('branches', () => {
    const branched = route(
      {
        ...askHotel,
        next: [
          { when: data => data.hotel === 'Ritz', to: 'ritz' },
          { when: data => data.hotel === 'Hilton', to: 'hilton' },
        ],
      },
      { id: 'other', prompt: 'Other.', next: 'join' },
      { id: 'ritz', prompt: 'Ritz.', next: 'join' },
      { id: 'hilton', prompt: 'Hilton.', skipIf: () => true, next: 'join' },
      { id: 'join', prompt: 'Joined.' },
    )
    const way = (hotel: string) => plan(begin({ hotel }), branched).steps.map(step => `${step.id} ${step.status}`)

    it('take the first that holds, and the next step when none does', () => {
      expect(way('Ritz')).toEqual(['ask-hotel batched', 'ritz batched', 'join batched'])
      expect(way('Motel')).toEqual(['ask-hotel batched', 'other batched', 'join batched'])
    })

    it('are followed from a skipped step as well', () => {
      expect(way('Hilton')).toEqual(['ask-hotel batched', 'hilton skipped', 'join batched'])
    })

    it('do not hold when they throw, which is reported', () => {
      const broken = () => {
        throw new Error('no map')
      }
      const made = plan(
        begin({ hotel: 'Ritz' }),
        route({ ...askHotel, next: [{ when: broken, to: 'ask-guests' }] }, askDate, askGuests),
      )
      expect(made.ask?.stepId).toBe('ask-date')
      expect(made.issues).toMatchObject([{ code: 'condition-failed', stepId: 'ask-hotel' }])
    })
  })

  describe('maxAsks', () => {
    it('keeps the position however often the user digresses, and counts', () => {
      const session = unanswered(begin({ hotel: 'Ritz' }), 5, asked => plan(asked, booking))
      expect(session.asks).toEqual({ date: 5 })
      expect(session.turn).toBe(5)
      expect(plan(session, booking).ask?.stepId).toBe('ask-date')
    })

    it('stops the route after that many unanswered questions, without giving the field up for known', () => {
      const limited = route(askHotel, { ...askDate, maxAsks: 2 })
      const session = unanswered(begin({ hotel: 'Ritz' }), 2, asked => plan(asked, limited))
      const made = plan(session, limited)
      expect([made.stoppedReason, made.stoppedAtStep, made.ask]).toEqual(['max_asks_reached', 'ask-date', undefined])
      expect(plan(session, booking, { maxAsks: 2 }).stoppedReason).toBe('max_asks_reached')
    })

    it('counts anew once the field was known', () => {
      const asked = unanswered(begin({ hotel: 'Ritz' }), 2, session => plan(session, booking))
      const known = setValues(asked, { date: 'Friday' }, { fields: bookingFields, source: 'message' }).session
      expect(known.asks).toEqual({})
      expect(plan(clearValues(known, ['date'], bookingFields).session, booking, { maxAsks: 2 }).ask?.stepId).toBe(
        'ask-date',
      )
    })
  })

  describe('optional fields', () => {
    const optional = (step: Partial<FlowStep<Booking>> = {}) =>
      createRoute({
        title: 'Booking',
        fields: bookingFields,
        optionalFields: ['date', 'guests'],
        steps: [askHotel, { ...askDate, ...step }],
      })

    it('are asked for once and then passed over', () => {
      const session = begin({ hotel: 'Ritz' })
      const first = plan(session, optional())
      expect(first.ask?.stepId).toBe('ask-date')
      const second = plan(settleTurn(session, first), optional())
      expect(second.stoppedReason).toBe('route_complete')
      expect(second.steps.at(-1)).toMatchObject({ status: 'skipped', reason: 'date is optional and was not given' })
    })

    it('are asked for as often as their step says, which can be never', () => {
      expect(plan(begin({ hotel: 'Ritz' }), optional({ maxAsks: 0 })).stoppedReason).toBe('route_complete')
      const session = unanswered(begin({ hotel: 'Ritz' }), 1, asked => plan(asked, optional({ maxAsks: 2 })))
      expect(plan(session, optional({ maxAsks: 2 })).ask?.stepId).toBe('ask-date')
    })

    it('are never asked for when no step collects them, and their step runs when they are volunteered', () => {
      expect(plan(begin({ hotel: 'Ritz', date: 'Friday' }), optional()).batch).toEqual(['ask-hotel', 'ask-date'])
    })

    it('do not hold up the required field of the same question', () => {
      const both: FlowStep<Booking> = { id: 'both', prompt: 'Where and when?', collect: ['hotel', 'date'] }
      const mixed = createRoute({ title: 'Booking', fields: bookingFields, optionalFields: ['date'], steps: [both] })
      const asked = unanswered(begin(), 1, session => plan(session, mixed))
      expect(plan(asked, mixed).ask?.fields).toEqual(['hotel'])
      const known = setValues(asked, { hotel: 'Ritz' }, { fields: bookingFields, source: 'message' }).session
      expect(plan(known, mixed).batch).toEqual(['both'])
    })
  })

  describe('prompts', () => {
    it('can be written from the data', () => {
      const made = plan(
        begin({ hotel: 'Ritz' }),
        route(askHotel, { ...askDate, prompt: data => `When at the ${data.hotel}?` }),
      )
      expect(made.ask?.prompt).toBe('When at the Ritz?')
    })

    it('that throw are reported, and the question is asked in plain words', () => {
      const broken = () => {
        throw new Error('no words')
      }
      const made = plan(begin(), route({ ...askHotel, prompt: broken }))
      expect(made.ask?.prompt).toBe('Please tell me: hotel.')
      expect(made.issues).toMatchObject([{ code: 'prompt-failed', stepId: 'ask-hotel' }])
      const say = plan(begin(), route({ prompt: broken }))
      expect([say.batch, say.agenda, say.issues.length]).toEqual([['step-1'], [], 1])
    })

    it('of satisfied questions are not on the agenda, those of steps that only speak are', () => {
      const made = plan(
        begin({ hotel: 'Ritz' }),
        route({ prompt: 'Welcome.' }, askHotel, { prompt: 'Nice hotel.' }, askDate),
      )
      expect(made.agenda.map(line => `${line.type} ${line.prompt}`)).toEqual([
        'say Welcome.',
        'say Nice hotel.',
        'ask What date?',
      ])
    })

    it('ahead that need the answer end the guess, without a report', () => {
      const shout = (data: Partial<Booking>) => `When at the ${data.hotel!.toUpperCase()}?`
      const made = plan(begin(), route(askHotel, { ...askDate, prompt: shout }, askGuests))
      expect([made.agenda.map(line => line.stepId), made.issues]).toEqual([['ask-hotel'], []])
    })

    it('ahead are guessed up to where code needs the answer, without a report', () => {
      const needy = (data: Partial<Booking>) => data.date!.length > 3
      const made = plan(
        begin(),
        route(askHotel, { ...askDate, next: [{ when: needy, to: 'ask-guests' }] }, { id: 'middle' }, askGuests),
      )
      expect(made.agenda.map(line => line.stepId)).toEqual(['ask-hotel', 'ask-date'])
      expect(made.issues).toEqual([])
    })
  })
})

describe('an intake from the command line', () => {
  const fields = defineFields(z.object({ question: z.string().min(1), docs: z.string() }))
  const intake = createRoute({
    title: 'Ask the docs',
    fields,
    optionalFields: ['docs'],
    steps: [
      { prompt: 'What do you want to know?', collect: ['question'] },
      { prompt: 'Which folder holds the documents?', collect: ['docs'], maxAsks: 0 },
    ],
  })

  it('is complete at once when everything was given', () => {
    const session = createSession({ fields, data: { question: 'How do I install it?', docs: './docs' } })
    const made = plan(session, intake)
    expect([made.stoppedReason, made.ask, made.batch]).toEqual(['route_complete', undefined, ['step-1', 'step-2']])
    expect(session.data).toEqual({ question: 'How do I install it?', docs: './docs' })
  })

  it('does without what is optional', () => {
    expect(plan(createSession({ fields, data: { question: 'Why?', docs: undefined } }), intake).stoppedReason).toBe(
      'route_complete',
    )
  })

  it('gives the words to ask with when the question is missing, and takes the answer', () => {
    const session = createSession({ fields, data: { docs: './docs' } })
    const { ask } = plan(session, intake)
    expect(ask?.prompt).toBe('What do you want to know?')
    const [field = ''] = ask?.fields ?? []
    const answer = setValues(session, { [field]: 'Why?' }, { fields, source: 'message', words: 'Why?' })
    expect(plan(answer.session, intake).stoppedReason).toBe('route_complete')
  })

  it('asks again, with the reason, when the answer is not valid', () => {
    const session = createSession({ fields })
    const limited = defineFields(z.object({ question: z.string().min(5, 'at least five letters'), docs: z.string() }))
    const { session: after, issues } = setValues(session, { question: 'Why' }, { fields: limited, source: 'message' })
    expect(issues[0]?.message).toBe('"question" was refused: at least five letters.')
    expect(plan(after, intake).ask?.prompt).toBe('What do you want to know?')
  })
})
