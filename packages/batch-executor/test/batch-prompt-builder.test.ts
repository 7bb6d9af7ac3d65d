import { z } from 'zod'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  BatchExecutor,
  BatchPromptBuilder,
  createRoute,
  createSession,
  defineFields,
  plan,
  setValues,
  settleTurn,
  type BatchPrompt,
  type DataSchema,
  type FieldPolicy,
  type PromptBudget,
} from '@lockstep/batch-executor'
import { begin, booking, type Booking } from './booking.ts'
import { scriptedModel } from './scripted-model.ts'

const builder = new BatchPromptBuilder()
const promptFor = (data: Partial<Booking>, budget: PromptBudget = {}) => {
  const session = begin(data)
  return new BatchPromptBuilder(budget).build({ session, route: booking, plan: plan(session, booking), input: 'Hello' })
}

interface ReplySchema {
  readonly properties: { readonly values: { readonly properties: Readonly<Record<string, unknown>> } }
}

const fieldSchemas = ({ schema }: BatchPrompt) => (schema as unknown as ReplySchema).properties.values.properties

/** The wire schema of one field, and what a reply with a value for it leaves in the session. */
async function onTheWire(schema: DataSchema, value: unknown) {
  const fields = defineFields({ field: schema as z.ZodType })
  const route = createRoute({
    title: 'One',
    fields,
    steps: [{ prompt: 'Tell me.', collect: ['field'], verbatim: true }],
  })
  const callModel = scriptedModel({ values: { field: value }, asks: null, message: 'Thanks.' }, { message: 'Again.' })
  const { session } = await new BatchExecutor().executeBatch({
    session: createSession({ fields }),
    route,
    input: 'x',
    callModel,
  })
  const [prompt] = callModel.prompts
  return { schema: prompt && fieldSchemas(prompt)['field'], stored: session.data.field }
}

describe('the prompt', () => {
  it('holds what is known as facts, the open questions in order, and no satisfied question', () => {
    const { system, agenda } = promptFor({ hotel: 'Grand "G" Hotel' })
    expect(system).toContain('- hotel: "Grand \\"G\\" Hotel"')
    expect(agenda.map(line => line.prompt)).toEqual(['What date?', 'How many guests?'])
    expect(system).toContain('1. ask [ask-date] for date: What date?\n2. ask [ask-guests] for guests: How many guests?')
    expect(system).not.toContain('Which hotel?')
  })

  it('holds the first question when nothing is known, and no facts', () => {
    const { system } = promptFor({})
    expect(system).toContain('1. ask [ask-hotel] for hotel: Which hotel?')
    expect(system).not.toContain('Known facts')
  })

  it('asks nothing when all is known', () => {
    const { system, agenda } = promptFor({ hotel: 'Ritz', date: 'Friday', guests: 2 })
    expect(agenda).toEqual([])
    expect(system).toContain('There is nothing to ask')
  })

  it('is JSON, and the same for the same source', () => {
    const prompt = promptFor({ hotel: 'Ritz' })
    expect(JSON.parse(JSON.stringify(prompt))).toEqual(prompt)
    expect(promptFor({ hotel: 'Ritz' })).toEqual(prompt)
  })

  it('reads nothing when nobody spoke, and then asks for a message alone', () => {
    const session = begin()
    const { schema, names, system } = builder.build({ session, route: booking, plan: plan(session, booking) })
    expect(names).toEqual({})
    expect(schema).toMatchObject({ required: ['message'], additionalProperties: false })
    expect(system).toContain('- ask: Which hotel?')
    expect(system).not.toContain('What date?')
  })

  it('names what has just changed and what was refused', () => {
    const session = begin({ hotel: 'Ritz' })
    const { system } = builder.build({
      session,
      route: booking,
      plan: plan(session, booking),
      changes: [
        { type: 'corrected', field: 'hotel' },
        { type: 'cleared', field: 'date', because: 'hotel' },
        { type: 'set', field: 'guests' },
      ],
      refused: [{ code: 'invalid-value', field: 'guests', message: '"guests" was refused: too many.' }],
    })
    expect(system).toContain(
      'Just now, to be mentioned:\n- hotel was corrected\n- date no longer holds, because hotel changed\n- "guests" was refused: too many.',
    )
  })

  const policies = (policy: FieldPolicy<'card'>) => {
    const fields = defineFields({ card: z.string(), city: z.string() }, { card: policy })
    const route = createRoute({
      title: 'Pay',
      description: 'Takes the payment.',
      fields,
      steps: [
        { prompt: 'Card?', collect: ['card'] },
        { prompt: 'City?', collect: ['city'] },
      ],
    })
    const session = createSession({ fields, data: { card: '4111' } })
    return builder.build({ session, route, plan: plan(session, route), input: 'hi' })
  }

  it('shows that a sensitive value is known, not which it is', () => {
    const prompt = policies({ sensitive: true })
    expect(prompt.system).toContain('- card: known, not shown')
    expect(JSON.stringify(prompt)).not.toContain('4111')
    expect(prompt.system).toContain('"Pay". Takes the payment.')
  })

  it('lets known values be corrected, but not locked ones', () => {
    expect(Object.keys(policies({}).names)).toEqual(['card', 'city'])
    expect(Object.keys(policies({ locked: true }).names)).toEqual(['city'])
  })

  it('lets a confirmation be given only when it was asked for', () => {
    const fields = defineFields({ city: z.string(), sure: z.boolean() }, { sure: { confirms: ['city'] } })
    const route = createRoute({
      title: 'Trip',
      fields,
      steps: [
        { prompt: 'City?', collect: ['city'] },
        { prompt: 'Sure?', collect: ['sure'] },
      ],
    })
    const build = (session: ReturnType<typeof createSession<{ city: string; sure: boolean }>>) =>
      builder.build({ session, route, plan: plan(session, route), input: 'yes' })
    const session = createSession({ fields, data: { city: 'Rome' } })
    expect(Object.keys(build(session).names)).toEqual(['city'])
    const asked = settleTurn(session, plan(session, route))
    expect(Object.keys(build(asked).names)).toEqual(['city', 'sure'])
    const declined = setValues(asked, { sure: false }, { fields, source: 'message' }).session
    expect(build(declined).system).toContain('The user said no to this: ask what should be different.')
  })

  describe('budget', () => {
    it('of steps limits how many questions are looked ahead to, not what is read', () => {
      const { agenda, omitted, names, schema } = promptFor({}, { maxSteps: 2 })
      expect(agenda.map(line => line.stepId)).toEqual(['ask-hotel', 'ask-date'])
      expect(omitted).toEqual(['ask-guests'])
      expect(Object.keys(names)).toEqual(['hotel', 'date', 'guests'])
      expect(JSON.stringify(schema)).not.toContain('ask-guests')
    })

    it('of tokens leaves out later questions until the prompt fits', () => {
      const full = promptFor({}).tokenCount
      const { agenda, omitted, tokenCount } = promptFor({}, { maxPromptTokens: full - 1 })
      expect(tokenCount).toBeLessThan(full)
      expect(agenda.length + omitted.length).toBe(3)
      expect(omitted).toContain('ask-guests')
    })

    it('of tokens never leaves out the first question or a fact', () => {
      const { agenda, system } = promptFor({ hotel: 'Ritz' }, { maxPromptTokens: 1 })
      expect(agenda.map(line => line.stepId)).toEqual(['ask-date'])
      expect(system).toContain('"Ritz"')
    })

    it('of tokens is counted as the caller counts', () => {
      expect(promptFor({}, { countTokens: () => 7 }).tokenCount).toBe(21)
    })

    it('that is too small is reported with the turn', async () => {
      const callModel = scriptedModel({ values: {}, asks: 'ask-hotel', message: 'Which?' })
      const response = await new BatchExecutor({ maxPromptTokens: 1 }).executeBatch({
        session: begin(),
        route: booking,
        input: 'hi',
        callModel,
      })
      expect(response.issues.map(issue => issue.code)).toEqual(['over-budget'])
      expect(response.message).toBe('Which?')
    })
  })
})

describe('the wire schema', () => {
  it('is closed, requires everything, and has the message last', () => {
    const { schema } = promptFor({})
    expect(schema).toMatchObject({
      type: 'object',
      required: ['values', 'asks', 'message'],
      additionalProperties: false,
    })
    expect(Object.keys((schema as { properties: object }).properties)).toEqual(['values', 'asks', 'message'])
    expect(schema).toMatchObject({
      properties: {
        values: { type: 'object', required: ['hotel', 'date', 'guests'], additionalProperties: false },
        asks: { anyOf: [{ type: 'string', enum: ['ask-hotel', 'ask-date', 'ask-guests'] }, { type: 'null' }] },
      },
    })
  })

  const nothing = { type: 'null' }
  const forms: readonly (readonly [string, DataSchema, unknown, unknown])[] = [
    ['text', z.string().describe('A city'), { anyOf: [{ type: 'string', description: 'A city' }, nothing] }, 'Rome'],
    [
      'a bounded number',
      z.number().int().min(1).max(9),
      { anyOf: [{ type: 'integer', description: '(minimum 1, maximum 9)' }, nothing] },
      3,
    ],
    ['a safe integer', z.int(), { anyOf: [{ type: 'integer' }, nothing] }, 3],
    ['a date', z.iso.date(), { anyOf: [{ type: 'string', description: '(format date)' }, nothing] }, '2026-11-21'],
    ['a choice', z.enum(['a', 'b']), { anyOf: [{ type: 'string', enum: ['a', 'b'] }, nothing] }, 'b'],
    ['one value', z.literal(7), { anyOf: [{ type: 'number', enum: [7] }, nothing] }, 7],
    [
      'alternatives',
      z.union([z.string(), z.number()]),
      { anyOf: [{ type: 'string' }, { type: 'number' }, nothing] },
      4,
    ],
    ['a list', z.array(z.boolean()), { anyOf: [{ type: 'array', items: { type: 'boolean' } }, nothing] }, [true]],
    [
      'a pair',
      z.tuple([z.string(), z.number()]),
      {
        anyOf: [
          {
            type: 'array',
            items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
            description: '(minItems 2, maxItems 2)',
          },
          nothing,
        ],
      },
      ['a', 1],
    ],
    [
      'an object with an optional part',
      z.object({ street: z.string(), floor: z.number().optional() }),
      {
        anyOf: [
          {
            type: 'object',
            properties: { street: { type: 'string' }, floor: { anyOf: [{ type: 'number' }, nothing] } },
            required: ['street', 'floor'],
            additionalProperties: false,
          },
          nothing,
        ],
      },
      { street: 'Main' },
    ],
  ]
  it.each(forms)('says %s in words that every provider takes', async (...[, schema, expected, value]) => {
    const wire = await onTheWire(schema, value)
    expect(wire.schema).toEqual(expected)
    expect(wire.stored).toEqual(value)
  })

  it('takes null for an optional part that is absent, and for a nullable one as what it is', async () => {
    const address = z.object({ street: z.string(), floor: z.number().optional() })
    expect((await onTheWire(address, { street: 'Main', floor: null })).stored).toEqual({ street: 'Main' })
    expect((await onTheWire(z.array(address), [{ street: 'Main', floor: null }])).stored).toEqual([{ street: 'Main' }])
    const nullable = z.object({ floor: z.number().nullable() })
    expect((await onTheWire(nullable, { floor: null })).stored).toEqual({ floor: null })
  })

  it.each([z.any(), z.array(z.any()), z.record(z.string(), z.number()), z.date(), v.string()])(
    'refuses what it cannot say, with the cure: %#',
    async schema => {
      await expect(onTheWire(schema, 'x')).rejects.toMatchObject({
        code: 'no-json-schema',
        message: expect.stringContaining('Standard JSON Schema'),
      })
    },
  )

  it('gives a field whose name a provider refuses another one, and finds it again in the reply', async () => {
    const fields = defineFields({ 'check-in': z.string(), field_1: z.string(), Größe: z.number(), message: z.string() })
    const names = fields.names
    const route = createRoute({
      title: 'Odd',
      fields,
      steps: [{ prompt: 'All of it?', collect: names, verbatim: true }],
    })
    const callModel = scriptedModel({
      values: { field_1_: 'Friday', field_1: 'one', field_3: 3, message: 'hi' },
      asks: null,
      message: 'Thanks.',
    })
    const response = await new BatchExecutor().executeBatch({
      session: createSession({ fields }),
      route,
      input: 'x',
      callModel,
    })
    expect(callModel.prompts[0]?.names).toEqual({
      field_1_: 'check-in',
      field_1: 'field_1',
      field_3: 'Größe',
      message: 'message',
    })
    expect(response.session.data).toEqual({ 'check-in': 'Friday', field_1: 'one', Größe: 3, message: 'hi' })
    expect(response.message).toBe('Thanks.')
  })
})
