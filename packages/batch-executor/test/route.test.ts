import { z } from 'zod'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  BatchError,
  createRoute,
  createSession,
  defineFields,
  END_ROUTE,
  plan,
  setValues,
  type BatchErrorCode,
  type FlowStep,
  type RouteOptions,
} from '@lockstep/batch-executor'
import { askDate, askGuests, askHotel, bookingFields, type Booking } from './booking.ts'

const route = (...steps: readonly (FlowStep<Booking> | typeof END_ROUTE)[]) =>
  createRoute({ title: 'Grand Tour', fields: bookingFields, steps })

function mistake(make: () => unknown): BatchError {
  try {
    make()
  } catch (error) {
    if (BatchError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('createRoute', () => {
  it('takes ids from the title and from positions', () => {
    const made = route(
      { prompt: 'Which hotel?', collect: ['hotel'] },
      { id: 'when', prompt: 'When?' },
      { prompt: 'Bye' },
    )
    expect(made.id).toBe('grand-tour')
    expect(made.steps.map(step => (step === END_ROUTE ? 'end' : step.id))).toEqual(['step-1', 'when', 'step-3'])
  })

  it('keeps steps without an id apart', () => {
    const made = route({ prompt: 'Which hotel?', collect: ['hotel'] }, { prompt: 'What date?', collect: ['date'] })
    const session = createSession({ fields: bookingFields, data: { hotel: 'Ritz', date: 'Friday' } })
    expect(plan(session, made).batch).toEqual(['step-1', 'step-2'])
  })

  it('requires what its steps collect, without what is optional', () => {
    const made = createRoute({
      title: 'Tour',
      fields: bookingFields,
      optionalFields: ['date'],
      steps: [askHotel, askDate],
    })
    expect(made.requiredFields).toEqual(['hotel'])
  })

  it('is frozen, and does not freeze what it was given', () => {
    const collect: ['hotel'] = ['hotel']
    const step: FlowStep<Booking> = { prompt: 'Which?', collect }
    const made = route(step)
    expect(Object.isFrozen(made) && Object.isFrozen(made.steps) && Object.isFrozen(made.steps[0])).toBe(true)
    expect(Object.isFrozen(collect) || Object.isFrozen(step)).toBe(false)
  })

  const options = (changes: Partial<RouteOptions<Booking>>) => () =>
    createRoute({ title: 'Tour', fields: bookingFields, steps: [askHotel], ...changes })
  const cases: readonly (readonly [string, BatchErrorCode, () => unknown, RegExp])[] = [
    ['no steps', 'empty-route', options({ steps: [] }), /has no steps\. Give it/],
    ['steps that are no list', 'empty-route', options({ steps: {} as never }), /has no steps\. Give it at least/],
    ['steps left out', 'empty-route', options({ steps: undefined as never }), /has no steps/],
    ['nothing but its end', 'empty-route', options({ steps: [END_ROUTE] }), /has no steps/],
    ['two steps of one id', 'duplicate-step', options({ steps: [askHotel, askHotel] }), /"ask-hotel".*id of its own/],
    [
      'an id that a position gives too',
      'duplicate-step',
      options({ steps: [{ id: 'step-2', prompt: 'Hi' }, { prompt: 'Bye' }] }),
      /"step-2"/,
    ],
    [
      'a collected field that does not exist',
      'unknown-field',
      options({ steps: [{ prompt: 'Which?', collect: ['hotl' as 'hotel'] }] }),
      /"hotl", but the fields are hotel, date, guests/,
    ],
    [
      'a required field that does not exist',
      'unknown-field',
      options({ steps: [{ prompt: 'Which?', requires: ['room' as 'hotel'] }] }),
      /"room"/,
    ],
    ['a listed field that does not exist', 'unknown-field', options({ optionalFields: ['room' as 'date'] }), /"room"/],
    [
      'a field that is required and optional',
      'conflicting-fields',
      options({ requiredFields: ['hotel'], optionalFields: ['hotel'] }),
      /"hotel" as required and as optional/,
    ],
    [
      'a required field that nobody asks for',
      'uncollected-field',
      options({ requiredFields: ['hotel', 'date'] }),
      /"date".*Add a step/,
    ],
    ['a question without words', 'missing-prompt', options({ steps: [{ collect: ['hotel'] }] }), /asks nothing/],
    ['a limit below zero', 'invalid-option', options({ steps: [{ ...askHotel, maxAsks: -1 }] }), /maxAsks -1/],
    [
      'a branch to nowhere',
      'unknown-step',
      options({ steps: [{ ...askHotel, next: 'ask-room' }, askDate] }),
      /"ask-room", but the steps are ask-hotel, ask-date/,
    ],
    [
      'a branch that goes back',
      'backward-branch',
      options({ steps: [askHotel, { ...askDate, next: [{ when: () => false, to: 'ask-hotel' }] }] }),
      /back to "ask-hotel".*round for ever.*clear its value/,
    ],
    [
      'a step that leads to itself',
      'backward-branch',
      options({ steps: [{ ...askHotel, next: 'ask-hotel' }] }),
      /back/,
    ],
    [
      'a step that nothing leads to',
      'unreachable-step',
      options({ steps: [{ ...askHotel, next: END_ROUTE }, askDate] }),
      /never gets to step "ask-date"/,
    ],
    ['a step behind the end', 'unreachable-step', options({ steps: [askHotel, END_ROUTE, askDate] }), /"ask-date"/],
  ]
  it.each(cases)('refuses %s', (...[, code, make, words]) => {
    const error = mistake(make)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(words)
    expect(error.routeId).toBe('tour')
  })

  it('takes a step behind the end that a branch leads to', () => {
    const made = route(
      { ...askHotel, next: [{ when: data => data.hotel === 'Ritz', to: 'ask-date' }] },
      END_ROUTE,
      askDate,
    )
    const at = (hotel: string) => plan(createSession({ fields: bookingFields, data: { hotel } }), made)
    expect(at('Ritz').ask?.stepId).toBe('ask-date')
    expect(at('Hilton').stoppedReason).toBe('end_route')
  })

  it('takes the same step values in several routes', () => {
    const session = createSession({ fields: bookingFields, data: { hotel: 'Ritz' } })
    expect(plan(session, route(askHotel, askGuests)).ask?.stepId).toBe('ask-guests')
    expect(plan(session, route(askDate, askHotel)).ask?.stepId).toBe('ask-date')
  })
})

describe('defineFields', () => {
  it('takes an object schema of zod or valibot, or a record of schemas of any kind', () => {
    const made = [
      defineFields(z.object({ city: z.string(), nights: z.number() })),
      defineFields(v.object({ city: v.string(), nights: v.number() })),
      defineFields({ city: z.string(), nights: v.number() }),
    ]
    for (const fields of made) {
      expect(fields.names).toEqual(['city', 'nights'])
      const session = createSession({ fields })
      const { session: after, issues } = setValues(session, { city: 'Rome', nights: 'two' }, { fields, source: 'code' })
      expect(after.data).toEqual({ city: 'Rome' })
      expect(issues.map(issue => issue.field)).toEqual(['nights'])
    }
  })

  it('refuses a schema that does not show its fields, and a field that has no schema', () => {
    expect(mistake(() => defineFields(z.string())).code).toBe('invalid-schema')
    expect(mistake(() => defineFields({ city: 'string' as unknown as z.ZodString })).code).toBe('invalid-schema')
  })

  it('refuses policies about fields that do not exist, and a field that confirms itself', () => {
    const schema = { city: z.string(), sure: z.boolean() }
    const room = 'room' as 'city'
    expect(mistake(() => defineFields(schema, { [room]: { locked: true } })).code).toBe('unknown-field')
    expect(mistake(() => defineFields(schema, { city: { dependsOn: [room] } })).code).toBe('unknown-field')
    expect(mistake(() => defineFields(schema, { sure: { confirms: [room] } })).code).toBe('unknown-field')
    expect(mistake(() => defineFields(schema, { sure: { confirms: ['sure'] } })).code).toBe('conflicting-fields')
  })
})

describe('a route without a schema', () => {
  it('has the fields that it names, each of which takes a text, a number or a boolean', () => {
    const route = createRoute({
      title: 'Booking',
      requiredFields: ['hotel', 'date', 'guests'],
      optionalFields: ['note'],
      steps: [
        { prompt: 'Which hotel?', collect: ['hotel'] },
        { prompt: 'What date?', collect: ['date'] },
        { prompt: 'How many guests?', collect: ['guests'] },
        { requires: ['price'] },
      ],
    })
    expect(route.fields.names).toEqual(['hotel', 'date', 'guests', 'note', 'price'])
    const session = createSession({ fields: route.fields })
    const said = { hotel: 'Grand Hotel', guests: 2, note: true, date: ['Friday'] }
    const written = setValues(session, said as never, { fields: route.fields, source: 'message' })
    expect(written.session.data).toEqual({ hotel: 'Grand Hotel', guests: 2, note: true })
    expect(written.issues.map(({ code, field }) => [code, field])).toEqual([['invalid-value', 'date']])
  })
})
