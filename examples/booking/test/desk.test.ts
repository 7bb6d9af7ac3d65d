import { describe, expect, it } from 'vitest'
import { Desk } from '../src/desk.ts'
import { ruleModel } from '../src/model/rule-model.ts'

/** Says these lines to a desk, and gives its last answer, what it knows and what every turn took. */
async function talk(...lines: readonly string[]) {
  const desk = new Desk({ model: ruleModel({ today: new Date('2026-11-21T12:00:00') }) })
  const answers: { readonly message: string; readonly callCount: number; readonly stoppedReason: string }[] = []
  for (const line of [undefined, ...lines]) {
    const answer = desk.say(line, new AbortController().signal)
    let shown = ''
    let next = await answer.next()
    for (; !next.done; next = await answer.next())
      shown = next.value.type === 'text-delta' ? shown + next.value.text : ''
    expect(shown).toBe(next.value.message)
    answers.push(next.value)
  }
  return { answer: answers.at(-1)!, callCounts: answers.map(({ callCount }) => callCount), data: desk.data, desk }
}

describe('a booking', () => {
  it('that is fully given in one message is asked nothing but to be confirmed', async () => {
    const { answer, callCounts, data } = await talk('I want to book the Grand Hotel for 2 people next Friday')
    expect(answer.message).toBe('Grand Hotel, 2026-11-27, 2 guests: 240 euros. Shall I book it?')
    expect(callCounts).toEqual([1, 1])
    expect(data).toEqual({ hotel: 'Grand Hotel', date: '2026-11-27', guests: 2, price: 240 })
  })

  it('that is partly given is asked for the rest, and never for what was said', async () => {
    const { answer } = await talk('two people tomorrow')
    expect(answer.message).toBe(
      'Noted: 2026-11-22, 2 guests. Which hotel would you like: Grand Hotel, Harbour Inn, Garden Lodge?',
    )
    const { answer: last } = await talk('two people tomorrow', 'the lodge')
    expect(last.message).toBe('Garden Lodge, 2026-11-22, 2 guests: 170 euros. Shall I book it?')
  })

  it('that is given piece by piece takes one call a turn', async () => {
    const { answer, callCounts } = await talk('hello', 'the harbour', 'tomorrow', 'for one', 'yes')
    expect(callCounts).toEqual([1, 1, 1, 1, 1, 0])
    expect(answer).toMatchObject({
      message: 'Booked. Your reference at the Harbour Inn is HB-001.',
      stoppedReason: 'route_complete',
    })
  })

  it('that is corrected has another price and is confirmed again', async () => {
    const { answer, data, desk } = await talk('Grand Hotel for 2 tomorrow', 'make it three')
    expect(answer.message).toContain('3 guests: 360 euros. Shall I book it?')
    expect([data.confirmed, desk.bookings.count]).toEqual([undefined, 0])
  })

  it.each([
    ['before anything is asked', ['yes']],
    ['together with a change', ['Grand Hotel for 2 tomorrow', 'yes, but for 5']],
    ['as the answer to another question', ['Grand Hotel', 'yes', 'for 2 tomorrow']],
  ])('is not confirmed by a yes %s', async (_, lines) => {
    const { data, desk } = await talk(...lines)
    expect([data.confirmed, desk.bookings.count]).toEqual([undefined, 0])
  })

  it('that is declined asks what should be different, and goes on from there', async () => {
    const { answer } = await talk('Grand Hotel for 2 tomorrow', 'no')
    expect(answer.message).toBe('What should be different?')
    const { answer: next } = await talk('Grand Hotel for 2 tomorrow', 'no', 'the harbour, with breakfast')
    expect(next.message).toBe('Harbour Inn, 2026-11-22, 2 guests, with breakfast: 140 euros. Shall I book it?')
  })

  it('that was made and is then changed is confirmed and booked anew', async () => {
    const { data, desk } = await talk('Grand Hotel for 2 tomorrow', 'yes', 'make it four', 'yes')
    expect(data).toMatchObject({ guests: 4, price: 480, reference: 'HB-002' })
    expect(desk.bookings.count).toBe(2)
  })

  it('for more guests than a room has is refused, and the rest of the message is kept', async () => {
    const { answer, data } = await talk('Grand Hotel for 99 tomorrow')
    expect(answer.message).toMatch(/"guests" was refused: .+ For how many guests\?$/)
    expect(data).toEqual({ hotel: 'Grand Hotel', date: '2026-11-22' })
  })

  it('that is complete stays so when the guest says thanks', async () => {
    const { answer, desk } = await talk('Grand Hotel for 2 tomorrow', 'yes', 'thank you')
    expect([answer.message, answer.stoppedReason]).toEqual(['There is nothing left to do.', 'route_complete'])
    expect(desk.bookings.count).toBe(1)
  })

  it('is as it was when a turn is aborted, and the same turn can be made again', async () => {
    const { desk, data } = await talk('Grand Hotel')
    const aborted = desk.say('for 2 tomorrow', AbortSignal.abort())
    expect((await aborted.next()).value).toMatchObject({ stoppedReason: 'aborted' })
    expect(desk.data).toBe(data)
    const again = desk.say('for 2 tomorrow', new AbortController().signal)
    for (let next = await again.next(); !next.done; next = await again.next());
    expect(desk.data).toMatchObject({ guests: 2, price: 240 })
  })
})
