import { describe, expect, it } from 'vitest'
import { readValues } from '../src/model/read-values.ts'

const schemas = {
  hotel: { anyOf: [{ type: 'string', enum: ['Grand Hotel', 'Harbour Inn', 'Garden Lodge'] }, { type: 'null' }] },
  date: { anyOf: [{ type: 'string', description: '(format date)' }, { type: 'null' }] },
  guests: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  breakfast: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
  confirmed: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
}
const read = (words: string, asked: readonly string[] = []) =>
  readValues(words, schemas, { today: new Date('2026-11-21T12:00:00'), asked })

describe('the embedded model', () => {
  it.each([
    ['Grand Hotel for 2 on November 30', { hotel: 'Grand Hotel', guests: 2, date: '2026-11-30' }],
    ['not the Grand, the Harbour Inn', { hotel: 'Harbour Inn' }],
    ['five of us in the lodge', { guests: 5, hotel: 'Garden Lodge' }],
    ['with breakfast please', { breakfast: true }],
    ['no breakfast', { breakfast: false }],
    ['a hotel', {}],
    ['grandparents in an innkeeper garden', { hotel: 'Garden Lodge' }],
    ['the weather', {}],
    ['yes', {}],
  ])('reads %j', (words, values) => {
    expect(read(words)).toEqual(values)
  })

  it.each([
    ['yes, please', true],
    ['go ahead', true],
    ['no', false],
    ['nobody knows', undefined],
    ['the yes of my life', undefined],
  ])('takes %j for an answer only when it is asked for one', (words, confirmed) => {
    expect(read(words, ['confirmed'])).toEqual(confirmed === undefined ? {} : { confirmed })
  })
})
