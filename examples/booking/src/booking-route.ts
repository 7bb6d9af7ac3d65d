// The whole conversation as data: what has to be known, in which order it is asked, and what happens when it is known.
import { createRoute, defineFields, type DataOf } from '@lockstep/batch-executor'
import { z } from 'zod'
import { hotels, priceOf, type Bookings } from './hotels.ts'

const schema = z.object({
  hotel: z.enum(hotels),
  date: z.iso.date(),
  guests: z.int().min(1).max(8),
  breakfast: z.boolean(),
  price: z.number(),
  confirmed: z.boolean(),
  reference: z.string(),
})

export type Booking = DataOf<typeof schema>

export const fields = defineFields(schema, {
  price: { dependsOn: ['hotel', 'guests'] },
  confirmed: {
    confirms: ['hotel', 'date', 'guests', 'breakfast'],
    match: words => (/^yes[.!]?$/i.test(words.trim()) ? true : undefined),
  },
  reference: { dependsOn: ['confirmed'] },
})

/** The route of a booking. The books come with each turn. */
export const booking = createRoute<Booking, Bookings>({
  title: 'Booking',
  description: 'Books a hotel room for one night.',
  fields,
  optionalFields: ['breakfast'],
  steps: [
    { id: 'ask-hotel', prompt: `Which hotel would you like: ${hotels.join(', ')}?`, collect: ['hotel'] },
    { id: 'ask-date', prompt: 'For which date?', collect: ['date'] },
    { id: 'ask-guests', prompt: 'For how many guests?', collect: ['guests'] },
    {
      id: 'quote',
      requires: ['hotel', 'guests'],
      prepare: ({ data: { hotel, guests } }) => (hotel && guests ? { price: priceOf(hotel, guests) } : {}),
    },
    {
      id: 'confirm',
      collect: ['confirmed'],
      requires: ['price'],
      verbatim: true,
      prompt: ({ hotel, date, guests, price, breakfast, confirmed }) =>
        confirmed === false
          ? 'What should be different?'
          : `${hotel}, ${date}, ${count(guests ?? 0, 'guest')}${breakfast ? ', with breakfast' : ''}: ${price} euros. Shall I book it?`,
    },
    {
      id: 'book',
      requires: ['confirmed'],
      prepare: ({ context, visitKey }) => ({ reference: context.book(visitKey) }),
    },
    {
      id: 'done',
      requires: ['reference'],
      verbatim: true,
      prompt: ({ hotel, reference }) => `Booked. Your reference at the ${hotel} is ${reference}.`,
    },
  ],
})

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
