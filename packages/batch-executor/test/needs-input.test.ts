import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRoute, createSession, needsInput, plan } from '@lockstep/batch-executor'
import { askHotel, bookingFields, type Booking } from './booking.ts'

describe('needsInput', () => {
  it('waits while something that a step requires is missing, whatever it collects', () => {
    const step = { requires: ['date', 'hotel'], collect: ['guests'] } as const
    expect(needsInput<Booking>(step, { date: 'Friday', guests: 2 })).toBe(true)
    expect(needsInput<Booking>(step, { date: 'Friday', hotel: 'Ritz', guests: 2 })).toBe(false)
  })

  it('is content with any one of the collected fields', () => {
    const step = { collect: ['hotel', 'guests'] } as const
    expect(needsInput<Booking>(step, {})).toBe(true)
    expect(needsInput<Booking>(step, { date: 'Friday' })).toBe(true)
    expect(needsInput<Booking>(step, { guests: 2 })).toBe(false)
  })

  it('never waits for a step that neither requires nor collects', () => {
    expect(needsInput<Booking>({}, {})).toBe(false)
    expect(needsInput<Booking>({ requires: [], collect: [] }, {})).toBe(false)
  })

  it('takes only undefined for missing', () => {
    expect(needsInput<Booking>({ collect: ['hotel'] }, { hotel: undefined })).toBe(true)
    expect(needsInput<Booking>({ collect: ['hotel'] }, { hotel: '' })).toBe(false)
    expect(needsInput<{ note: string | null }>({ collect: ['note'] }, { note: null })).toBe(false)
  })

  it('says the same as a plan with satisfiedBy any', () => {
    const names = fc.subarray(['hotel', 'date'] as const)
    fc.assert(
      fc.property(names, names, fc.subarray(['hotel', 'date', 'guests'] as const), (collect, requires, given) => {
        const step = { id: 'step', prompt: 'Tell me.', collect, requires }
        const sample: Booking = { hotel: 'Ritz', date: 'Friday', guests: 2 }
        const data: Partial<Booking> = Object.fromEntries(given.map(name => [name, sample[name]]))
        fc.pre(collect.every(name => !requires.includes(name)))
        const route = createRoute({ title: 'One', fields: bookingFields, steps: [step, { ...askHotel, id: 'last' }] })
        const session = createSession({ fields: bookingFields, data })
        const [first] = plan(session, route, { satisfiedBy: 'any' }).steps
        expect(first?.status !== 'batched').toBe(needsInput<Booking>(step, data))
      }),
    )
  })
})
