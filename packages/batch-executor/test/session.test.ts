import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import {
  BatchError,
  clearValues,
  createRoute,
  createSession,
  defineFields,
  parseSession,
  plan,
  setValues,
  settleTurn,
  type RawValues,
  type Session,
} from '@lockstep/batch-executor'
import { begin, booking, bookingFields as fields, type Booking } from './booking.ts'

const say = (session: Session<Booking>, values: RawValues<Booking>, words?: string) =>
  setValues(session, values, { fields, source: 'message', ...(words !== undefined && { words }) })

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    return BatchError.isInstance(error) ? error.code : String(error)
  }
  return undefined
}

describe('createSession', () => {
  it('begins with what is known, and says that it was there at the start', () => {
    const session = begin({ hotel: 'Ritz' })
    expect(session).toEqual({
      version: 1,
      id: 'session-1',
      turn: 0,
      revision: 1,
      data: { hotel: 'Ritz' },
      provenance: { hotel: { source: 'initial', turn: 0, revision: 1 } },
      asks: {},
      visits: [],
    })
  })

  it('gives each session an id of its own', () => {
    expect(createSession({ fields }).id).not.toBe(createSession({ fields }).id)
  })

  it('does not start with a value that is not valid', () => {
    expect(codeOf(() => begin({ guests: 0 }))).toBe('invalid-data')
  })
})

describe('setValues', () => {
  it('keeps the good values of a message and reports the bad ones', () => {
    const { session, changes, issues } = say(begin(), { hotel: 'Ritz', guests: 'two', date: 7 })
    expect(session.data).toEqual({ hotel: 'Ritz' })
    expect(changes).toEqual([{ type: 'set', field: 'hotel' }])
    expect(issues.map(({ code, field }) => [code, field])).toEqual([
      ['invalid-value', 'guests'],
      ['invalid-value', 'date'],
    ])
    expect(plan(session, booking).ask?.stepId).toBe('ask-date')
  })

  it('remembers where each value came from', () => {
    const first = settleTurn(say(begin(), { hotel: 'Ritz' }, 'the Ritz please').session, plan(begin(), booking))
    const { provenance } = say(first, { guests: 2 }, 'two of us').session
    expect(provenance).toEqual({
      hotel: { source: 'message', turn: 0, revision: 1, words: 'the Ritz please' },
      guests: { source: 'message', turn: 1, revision: 2, words: 'two of us' },
    })
  })

  it('takes undefined, null and the empty string for nothing said', () => {
    const session = begin({ hotel: 'Ritz' })
    const { session: after, issues } = say(session, { hotel: null, date: '', guests: undefined })
    expect(after).toBe(session)
    expect(issues).toEqual([])
  })

  it('reports a field that does not exist, also one with the name of something every object has', () => {
    const { issues, session } = say(
      begin(),
      JSON.parse('{"room": 7, "constructor": 1, "__proto__": 2}') as RawValues<Booking>,
    )
    expect(issues.map(({ code, field }) => [code, field])).toEqual([
      ['unknown-field', 'room'],
      ['unknown-field', 'constructor'],
      ['unknown-field', '__proto__'],
    ])
    expect(session.data).toEqual({})
  })

  it('knows a field called constructor only when it was given', () => {
    const odd = defineFields({ constructor: z.string(), toString: z.string() })
    const route = createRoute({
      title: 'Odd',
      fields: odd,
      steps: [{ prompt: 'Who builds?', collect: ['constructor'] }],
    })
    const session = createSession({ fields: odd, data: {} as never })
    expect(plan(session, route).stoppedReason).toBe('needs_input')
    const after = setValues(session, { constructor: 'Ann' }, { fields: odd, source: 'message' }).session
    expect(plan(after, route).stoppedReason).toBe('route_complete')
  })

  it('changes nothing, and returns the same session, when a value is said again', () => {
    const session = begin({ hotel: 'Ritz' })
    expect(say(session, { hotel: 'Ritz' }).session).toBe(session)
  })

  it('stores what validation makes of a value', () => {
    const trimmed = defineFields({ city: z.string().trim(), nights: z.coerce.number() })
    const { session } = setValues(
      createSession({ fields: trimmed }),
      { city: ' Rome ', nights: '3' },
      { fields: trimmed, source: 'code' },
    )
    expect(session.data).toEqual({ city: 'Rome', nights: 3 })
  })

  it('copies and freezes what it stores, and leaves the value given as it is', () => {
    const lists = defineFields({ rooms: z.array(z.object({ beds: z.number() })) })
    const rooms = [{ beds: 2 }]
    const { session } = setValues(createSession({ fields: lists }), { rooms }, { fields: lists, source: 'code' })
    expect(Object.isFrozen(session.data.rooms?.[0])).toBe(true)
    expect(Object.isFrozen(rooms[0])).toBe(false)
    rooms[0]!.beds = 3
    expect(session.data).toEqual({ rooms: [{ beds: 2 }] })
  })

  it('refuses schemas whose values JSON cannot hold, and schemas that make it wait', () => {
    const dates = defineFields({ on: z.coerce.date() })
    expect(
      codeOf(() =>
        setValues(createSession({ fields: dates }), { on: '2026-11-21' }, { fields: dates, source: 'code' }),
      ),
    ).toBe('not-json')
    const slow = defineFields({ city: z.string().refine(async () => true) })
    expect(
      codeOf(() => setValues(createSession({ fields: slow }), { city: 'Rome' }, { fields: slow, source: 'code' })),
    ).toBe('async-schema')
  })

  describe('corrections', () => {
    const travel = defineFields(
      { city: z.string(), hotel: z.string(), room: z.string(), guests: z.number() },
      { hotel: { dependsOn: ['city'] }, room: { dependsOn: ['hotel'] } },
    )
    const start = createSession({ fields: travel, data: { city: 'Rome', hotel: 'Ritz', room: '12', guests: 2 } })
    const correct = (values: RawValues<{ city: string; hotel: string; room: string; guests: number }>) =>
      setValues(start, values, { fields: travel, source: 'message' })

    it('replace a value and clear everything that depends on it', () => {
      const { session, changes } = correct({ city: 'Paris' })
      expect(session.data).toEqual({ city: 'Paris', guests: 2 })
      expect(changes).toEqual([
        { type: 'corrected', field: 'city' },
        { type: 'cleared', field: 'hotel', because: 'city' },
        { type: 'cleared', field: 'room', because: 'hotel' },
      ])
      expect(session.provenance).toEqual({
        city: { source: 'message', turn: 0, revision: 2 },
        guests: { source: 'initial', turn: 0, revision: 1 },
      })
    })

    it('keep what the same message gives, or says again', () => {
      expect(correct({ city: 'Paris', hotel: 'Lutetia' }).session.data).toEqual({
        city: 'Paris',
        hotel: 'Lutetia',
        guests: 2,
      })
      expect(correct({ city: 'Paris', hotel: 'Ritz' }).session.data).toEqual({
        city: 'Paris',
        hotel: 'Ritz',
        room: '12',
        guests: 2,
      })
    })

    it('clear nothing when a field becomes known for the first time', () => {
      const session = createSession({ fields: travel, data: { hotel: 'Ritz' } })
      expect(setValues(session, { city: 'Paris' }, { fields: travel, source: 'message' }).session.data).toEqual({
        hotel: 'Ritz',
        city: 'Paris',
      })
    })

    it('can be made by clearing, with the same consequences', () => {
      const { session, changes } = clearValues(start, ['hotel'], travel)
      expect(session.data).toEqual({ city: 'Rome', guests: 2 })
      expect(changes.map(change => change.field)).toEqual(['hotel', 'room'])
      expect(clearValues(session, ['hotel'], travel).session).toBe(session)
    })
  })

  it('lets no message change a locked value, but code and hooks', () => {
    const priced = defineFields({ price: z.number() }, { price: { locked: true } })
    const { session } = setValues(
      createSession({ fields: priced }),
      { price: 10 },
      { fields: priced, source: 'message' },
    )
    expect(session.data).toEqual({ price: 10 })
    const refused = setValues(session, { price: 1 }, { fields: priced, source: 'message' })
    expect([refused.session, refused.issues[0]?.code]).toEqual([session, 'locked'])
    expect(setValues(session, { price: 12 }, { fields: priced, source: 'hook' }).session.data).toEqual({ price: 12 })
  })

  it('takes a quoted value only from a message that has it, whatever its case and punctuation', () => {
    const booked = defineFields(
      { code: z.string(), guests: z.number() },
      { code: { quoted: true }, guests: { quoted: true } },
    )
    const session = createSession({ fields: booked })
    const say = (values: object, words?: string) =>
      setValues(session, values, { fields: booked, source: 'message', ...(words !== undefined && { words }) })
    expect(say({ code: 'AB-12', guests: 2 }, 'It is ab 12, for 2.').session.data).toEqual({ code: 'AB-12', guests: 2 })
    for (const words of ['It is ab 123', 'cab 12', '12 for 20', '']) {
      const refused = say({ code: 'AB-12', guests: 2 }, words)
      expect([refused.session, refused.issues.map(({ code }) => code)]).toEqual([session, ['not-said', 'not-said']])
    }
    expect(say({ guests: 2 }).session.data).toEqual({ guests: 2 })
  })

  it('does not quote the value of a sensitive field', () => {
    const cards = defineFields({ card: z.enum(['1111', '2222']) }, { card: { sensitive: true } })
    const { issues } = setValues(
      createSession({ fields: cards }),
      { card: '1234' },
      { fields: cards, source: 'message' },
    )
    expect(issues).toEqual([{ code: 'invalid-value', field: 'card', message: '"card" was refused: not valid.' }])
  })

  describe('confirmations', () => {
    const sure = defineFields(
      { hotel: z.string(), guests: z.number(), confirmed: z.boolean() },
      { confirmed: { confirms: ['hotel', 'guests'] } },
    )
    const route = createRoute({
      title: 'Booking',
      fields: sure,
      steps: [
        { id: 'ask', prompt: 'Which hotel, how many?', collect: ['hotel', 'guests'] },
        { id: 'confirm', prompt: 'Shall I book?', collect: ['confirmed'] },
        { id: 'done', prompt: 'Booked.' },
      ],
    })
    const known = createSession({ fields: sure, data: { hotel: 'Ritz', guests: 2 } })
    const asked = settleTurn(known, plan(known, route))
    const hear = (session: typeof known, values: RawValues<{ hotel: string; guests: number; confirmed: boolean }>) =>
      setValues(session, values, { fields: sure, source: 'message' })

    it('are asked only once everything that they confirm is known', () => {
      const session = createSession({ fields: sure, data: { hotel: 'Ritz' } })
      const first = createRoute({ ...route, steps: [...route.steps].reverse(), requiredFields: [] })
      expect(plan(session, first).ask).toMatchObject({ stepId: 'ask', fields: ['guests'] })
      expect(plan(known, route).ask?.stepId).toBe('confirm')
    })

    it('count as the answer to their question', () => {
      const { session, issues } = hear(asked, { confirmed: true })
      expect([session.data.confirmed, issues]).toEqual([true, []])
      expect(plan(session, route).stoppedReason).toBe('route_complete')
    })

    it('do not count before the question, nor after another one', () => {
      expect(hear(known, { confirmed: true }).issues[0]?.code).toBe('not-asked')
      const later = settleTurn(asked, { ...plan(asked, route), ask: undefined })
      expect(hear(later, { confirmed: true }).issues[0]?.code).toBe('not-asked')
    })

    it('do not count for values that the same message changes', () => {
      const { session, issues } = hear(asked, { confirmed: true, guests: 3 })
      expect(session.data).toEqual({ hotel: 'Ritz', guests: 3 })
      expect(issues[0]?.code).toBe('changed-since-asked')
      expect(plan(session, route).ask?.stepId).toBe('confirm')
    })

    it('do not count for values that code changed after the question', () => {
      const changed = setValues(asked, { guests: 4 }, { fields: sure, source: 'code' }).session
      expect(hear(changed, { confirmed: true }).issues[0]?.code).toBe('changed-since-asked')
    })

    it('cover optional values too, and are taken back by one that is new, but do not wait for it', () => {
      const late = defineFields(
        { hotel: z.string(), note: z.string(), confirmed: z.boolean() },
        { confirmed: { confirms: ['hotel', 'note'] } },
      )
      const open = createRoute({
        title: 'Booking',
        fields: late,
        optionalFields: ['note'],
        steps: [
          { id: 'ask', prompt: 'Which hotel?', collect: ['hotel'] },
          { id: 'confirm', prompt: 'Shall I book?', collect: ['confirmed'] },
        ],
      })
      const start = createSession({ fields: late, data: { hotel: 'Ritz' } })
      expect(plan(start, open).ask?.stepId).toBe('confirm')
      const question = settleTurn(start, plan(start, open))
      const say = (session: typeof start, values: object) =>
        setValues(session, values, { fields: late, source: 'message' })
      const both = say(question, { confirmed: true, note: 'late' })
      expect([both.session.data, both.issues[0]?.code]).toEqual([
        { hotel: 'Ritz', note: 'late' },
        'changed-since-asked',
      ])
      const agreed = say(question, { confirmed: true }).session
      expect(agreed.data.confirmed).toBe(true)
      const after = say(agreed, { note: 'late' })
      expect(after.changes).toContainEqual({ type: 'cleared', field: 'confirmed', because: 'note' })
    })

    it('are not reported when they are a no that comes with its correction', () => {
      const { session, issues } = hear(asked, { guests: 3, confirmed: false })
      expect([session.data, issues]).toEqual([{ hotel: 'Ritz', guests: 3 }, []])
      expect(hear(known, { confirmed: false })).toEqual({ session: known, changes: [], issues: [] })
    })

    it('are taken back when what they confirm changes', () => {
      const { session } = hear(asked, { confirmed: true })
      const { session: after, changes } = hear(session, { hotel: 'Hilton' })
      expect(changes).toContainEqual({ type: 'cleared', field: 'confirmed', because: 'hotel' })
      expect(plan(after, route).ask?.stepId).toBe('confirm')
    })

    it('are taken back by a message that says yes again and changes what was confirmed', () => {
      const { session } = hear(asked, { confirmed: true })
      expect(hear(session, { confirmed: true, guests: 3 }).session.data).toEqual({ hotel: 'Ritz', guests: 3 })
      expect(hear(session, { confirmed: true }).session).toBe(session)
    })

    it('are asked again after a no, which is known to the question and still counts as asked', () => {
      const { session } = hear(asked, { confirmed: false })
      expect(session.data.confirmed).toBe(false)
      expect(plan(session, route).ask).toMatchObject({ stepId: 'confirm', declined: true })
      expect(session.asks).toEqual({ confirmed: 1 })
      expect(plan(session, route, { maxAsks: 1 }).stoppedReason).toBe('max_asks_reached')
    })

    it('can be given by code, for example a button', () => {
      const { session } = setValues(known, { confirmed: true }, { fields: sure, source: 'code' })
      expect(plan(session, route).stoppedReason).toBe('route_complete')
    })
  })

  describe('rules between fields', () => {
    const stay = defineFields(
      z
        .object({ from: z.iso.date(), to: z.iso.date() })
        .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be after from' }),
    )
    const write = (data: { from?: string; to?: string }, values: { from?: string; to?: string }) =>
      setValues(createSession({ fields: stay, data }), values, { fields: stay, source: 'message' })

    it('refuse the value that they name and keep the other', () => {
      const { session, issues } = write({}, { from: '2026-11-21', to: '2026-11-20' })
      expect(session.data).toEqual({ from: '2026-11-21' })
      expect(issues).toEqual([{ code: 'invalid-value', field: 'to', message: '"to" was refused: must be after from.' }])
    })

    it('keep the old value when its correction is refused', () => {
      const { session } = write({ from: '2026-11-21', to: '2026-11-22' }, { to: '2026-11-20' })
      expect(session.data).toEqual({ from: '2026-11-21', to: '2026-11-22' })
    })

    it('clear an older value that a new one made impossible', () => {
      const { session, changes, issues } = write({ from: '2026-11-21', to: '2026-11-22' }, { from: '2026-11-30' })
      expect(session.data).toEqual({ from: '2026-11-30' })
      expect(changes).toContainEqual({ type: 'cleared', field: 'to', because: 'from' })
      expect(issues.map(issue => issue.field)).toEqual(['to'])
    })

    it('wait for values that are not there yet', () => {
      expect(write({}, { to: '2026-11-20' }).issues).toEqual([])
    })

    it('refuse everything that was written when they name nothing', () => {
      const pair = defineFields(
        z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, 'a must be less than b'),
      )
      const { session, issues } = setValues(
        createSession({ fields: pair }),
        { a: 2, b: 1 },
        { fields: pair, source: 'message' },
      )
      expect(session.data).toEqual({})
      expect(issues.map(issue => issue.field)).toEqual(['a', 'b'])
    })
  })
})

describe('parseSession', () => {
  const session = settleTurn(begin({ hotel: 'Ritz' }), plan(begin({ hotel: 'Ritz' }), booking))

  it('reads what JSON.stringify wrote, as text or parsed, and freezes it', () => {
    const text = JSON.stringify(session)
    expect(parseSession(text)).toEqual(session)
    const parsed: unknown = JSON.parse(text)
    expect(parseSession(parsed)).toEqual(session)
    expect(Object.isFrozen(parseSession(text).data) && !Object.isFrozen(parsed)).toBe(true)
  })

  it('says which version it cannot read', () => {
    expect(() => parseSession({ ...session, version: 2 })).toThrow(/version 2, and this package reads version 1/)
    expect(codeOf(() => parseSession({ ...session, version: 2 }))).toBe('session-version')
  })

  it('says where something is not a session', () => {
    for (const wrong of ['{', 'null', '7', '[]', { ...session, extra: 1 }, { ...session, asks: { date: 'once' } }]) {
      expect(codeOf(() => parseSession(wrong))).toBe('invalid-session')
    }
    expect(() => parseSession({ ...session, asks: { date: 'once' } })).toThrow(/^asks\.date: /)
  })
})
