// The route that most tests travel: a hotel, a date and a number of guests.
import { z } from 'zod'
import {
  createRoute,
  createSession,
  defineFields,
  type END_ROUTE,
  type FlowStep,
  type Session,
} from '@lockstep/batch-executor'

export const bookingFields = defineFields(
  z.object({ hotel: z.string().min(2), date: z.string(), guests: z.number().int().min(1).max(10) }),
)

export interface Booking {
  hotel: string
  date: string
  guests: number
}

export const askHotel: FlowStep<Booking> = { id: 'ask-hotel', prompt: 'Which hotel?', collect: ['hotel'] }
export const askDate: FlowStep<Booking> = { id: 'ask-date', prompt: 'What date?', collect: ['date'] }
export const askGuests: FlowStep<Booking> = { id: 'ask-guests', prompt: 'How many guests?', collect: ['guests'] }

export const booking = createRoute({
  title: 'Booking',
  fields: bookingFields,
  requiredFields: ['hotel', 'date', 'guests'],
  steps: [askHotel, askDate, askGuests],
})

export const begin = (data: Partial<Booking> = {}): Session<Booking> =>
  createSession({ fields: bookingFields, id: 'session-1', data })

/** A route through steps of a test's own. */
export const routeThrough = (...steps: readonly (FlowStep<Booking> | typeof END_ROUTE)[]) =>
  createRoute({ title: 'Booking', fields: bookingFields, steps })

/** Hooks that write down when they ran. */
export function logged(log: string[], step: FlowStep<Booking>): FlowStep<Booking> {
  return {
    ...step,
    prepare: ({ stepId }) => void log.push(`prepare ${stepId}`),
    finalize: ({ stepId }) => void log.push(`finalize ${stepId}`),
  }
}
