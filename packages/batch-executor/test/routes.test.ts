import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import {
  BatchExecutor,
  createRoute,
  createSession,
  defineFields,
  parseSession,
  type BatchEvent,
} from '@lockstep/batch-executor'
import { scriptedModel } from './scripted-model.ts'

interface Trip {
  name: string
  hotel: string
  nights: number
  from: string
  sure: boolean
}

const fields = defineFields(
  z.object({ name: z.string(), hotel: z.string(), nights: z.number(), from: z.string(), sure: z.boolean() }),
  { sure: { confirms: ['from'] } },
)
const hotel = createRoute({
  title: 'Hotel',
  description: 'Books a room.',
  fields,
  steps: [
    { id: 'ask-hotel', prompt: 'Which hotel?', collect: ['hotel'] },
    { id: 'ask-nights', prompt: 'How many nights?', collect: ['nights'] },
    { id: 'ask-name', prompt: 'Your name?', collect: ['name'] },
  ],
})
const taxi = createRoute({
  title: 'Taxi',
  fields,
  steps: [
    { id: 'ask-from', prompt: 'From where?', collect: ['from'] },
    { id: 'ask-name', prompt: 'For whom?', collect: ['name'] },
    { id: 'ask-sure', prompt: 'Shall I send it?', collect: ['sure'] },
  ],
})
const routes = [hotel, taxi]
const executor = new BatchExecutor()
const begin = (data: Partial<Trip> = {}) => createSession({ fields, id: 'session-1', data })

describe('several routes', () => {
  it('are chosen from in the call that reads and replies', async () => {
    const callModel = scriptedModel({
      route: 'taxi',
      values: { from: 'the station' },
      asks: 'taxi/ask-name',
      message: 'From the station. For whom?',
    })
    const response = await executor.executeBatch({
      session: begin(),
      routes,
      input: 'a taxi at the station',
      callModel,
    })
    expect(response).toMatchObject({
      message: 'From the station. For whom?',
      executedSteps: [{ id: 'ask-from', routeId: 'taxi' }],
      stoppedReason: 'needs_input',
      callCount: 1,
      session: { routeId: 'taxi', data: { from: 'the station' }, asking: { routeId: 'taxi', stepId: 'ask-name' } },
    })
  })

  it('are offered with their questions, the fields of all of them, and the choice before everything else', async () => {
    const callModel = scriptedModel({ route: null, values: {}, asks: null, message: 'A room or a taxi?' })
    await executor.executeBatch({ session: begin(), routes, input: 'hi', callModel })
    const [prompt] = callModel.prompts
    expect(Object.keys(prompt?.schema['properties'] ?? {})).toEqual(['route', 'values', 'asks', 'message'])
    expect(prompt?.schema).toMatchObject({
      additionalProperties: false,
      required: ['route', 'values', 'asks', 'message'],
      properties: { route: { anyOf: [{ enum: ['hotel', 'taxi'] }, { type: 'null' }] } },
    })
    expect(Object.keys(prompt?.names ?? {})).toEqual(['hotel', 'nights', 'name', 'from'])
    expect(prompt?.system).toContain('- hotel: "Hotel". Books a room.\n- taxi: "Taxi".')
    expect(prompt?.system).toContain('Agenda of "taxi":\n1. ask [taxi/ask-from] for from: From where?')
    expect(JSON.stringify(prompt?.schema)).toContain('"hotel/ask-name","taxi/ask-from","taxi/ask-name"')
  })

  it('leave the choice open when the user wants none of them', async () => {
    const callModel = scriptedModel({
      route: null,
      values: { name: 'Ann' },
      asks: null,
      message: 'Hello Ann! A room or a taxi?',
    })
    const response = await executor.executeBatch({ session: begin(), routes, input: 'I am Ann', callModel })
    expect(response).toMatchObject({
      stoppedReason: 'no_route',
      executedSteps: [],
      callCount: 1,
      plan: { routeId: null },
    })
    expect(response.session).toMatchObject({ data: { name: 'Ann' }, turn: 1 })
    expect(response.session.routeId).toBeUndefined()
  })

  it('are named to a user who has not spoken yet', async () => {
    const callModel = scriptedModel({ message: 'A room or a taxi?' })
    const response = await executor.executeBatch({ session: begin(), routes, callModel })
    expect([response.message, response.stoppedReason]).toEqual(['A room or a taxi?', 'no_route'])
    expect(callModel.prompts[0]?.system).toContain('You can lead the user through:\n- hotel: "Hotel"')
    expect(callModel.prompts[0]?.system).toContain('ask which of these it should be')
  })

  it('keep what was said for another route, and go on with it when the user turns there and back', async () => {
    const callModel = scriptedModel(
      { route: 'hotel', values: { hotel: 'Ritz', from: 'the station' }, asks: 'hotel/ask-nights', message: 'Nights?' },
      { route: 'taxi', values: {}, asks: 'taxi/ask-name', message: 'For whom?' },
      { route: 'hotel', values: { nights: 2 }, asks: 'hotel/ask-name', message: 'Your name?' },
    )
    const first = await executor.executeBatch({
      session: begin(),
      routes,
      input: 'Ritz, and a taxi from the station',
      callModel,
    })
    const second = await executor.executeBatch({ session: first.session, routes, input: 'the taxi first', callModel })
    const third = await executor.executeBatch({ session: second.session, routes, input: 'two nights', callModel })
    expect([first, second, third].map(({ callCount, session }) => [callCount, session.routeId])).toEqual([
      [1, 'hotel'],
      [1, 'taxi'],
      [1, 'hotel'],
    ])
    expect(second.executedSteps).toEqual([{ id: 'ask-from', routeId: 'taxi' }])
    expect(third.executedSteps).toEqual([{ id: 'ask-nights', routeId: 'hotel' }])
    expect(third.session.data).toEqual({ hotel: 'Ritz', from: 'the station', nights: 2 })
    expect(callModel.prompts[2]?.system).toContain('into `route`: "taxi" unless the user turns to another.')
    expect(callModel.prompts[0]?.system).toContain('into `route`: null when it is none of them.')
    expect(callModel.prompts[1]?.system).toContain(
      'You lead the user through "Hotel". Books a room.\nThe user may also turn to:\n- taxi',
    )
  })

  it('stay on the one that the conversation is on when the reply names none or an unknown one', async () => {
    for (const route of [null, 'train', undefined, 7]) {
      const callModel = scriptedModel({ route, values: { hotel: 'Ritz' }, asks: 'ask-nights', message: 'Nights?' })
      const session = { ...begin(), routeId: 'hotel' }
      const response = await executor.executeBatch({ session, routes, input: 'Ritz', callModel })
      expect([response.session.routeId, response.callCount, response.message]).toEqual(['hotel', 1, 'Nights?'])
    }
  })

  it('need a second call when the reply asks a question of another route', async () => {
    const callModel = scriptedModel(
      { route: 'taxi', values: {}, asks: 'hotel/ask-hotel', message: 'Which hotel?' },
      { message: 'From where?' },
    )
    const response = await executor.executeBatch({ session: begin(), routes, input: 'a taxi', callModel })
    expect([response.message, response.callCount]).toEqual(['From where?', 2])
    expect(callModel.prompts[1]?.system).toContain('You lead the user through "Taxi".')
  })

  it('tell steps with one id apart', async () => {
    const callModel = scriptedModel(
      { route: 'taxi', values: { from: 'here' }, asks: 'hotel/ask-name', message: 'Your name?' },
      { message: 'For whom?' },
    )
    const response = await executor.executeBatch({ session: begin(), routes, input: 'a taxi from here', callModel })
    expect([response.message, response.session.asking?.routeId]).toEqual(['For whom?', 'taxi'])
  })

  it('take no confirmation of one as the answer to a question of another', async () => {
    const session = { ...begin({ from: 'here', name: 'Ann' }), routeId: 'hotel' }
    const callModel = scriptedModel(
      { route: 'taxi', values: { sure: true }, asks: null, message: 'It is on its way.' },
      { message: 'Shall I send it?' },
    )
    const response = await executor.executeBatch({ session, routes, input: 'yes, the taxi', callModel })
    expect(callModel.prompts[0]?.names).not.toHaveProperty('sure')
    expect(response.session.data).not.toHaveProperty('sure')
    expect(response.issues.map(({ code }) => code)).toEqual(['not-asked'])
    expect(response.message).toBe('Shall I send it?')
  })

  it('take no yes to a question of one for the answer to a question of another', async () => {
    const either = ['send', 'cancel'].map(title =>
      createRoute({ title, fields, steps: [{ id: 'ask-sure', prompt: `Shall I ${title} it?`, collect: ['sure'] }] }),
    )
    const known = begin({ from: 'here' })
    const asked = await executor.executeBatch({
      session: known,
      routes: either.slice(0, 1),
      callModel: scriptedModel({ message: 'Shall I send it?' }),
    })
    const callModel = scriptedModel(
      { route: 'cancel', values: { sure: true }, asks: null, message: 'Cancelled.' },
      { message: 'Shall I cancel it?' },
      { route: 'cancel', values: { sure: true }, asks: null, message: 'Cancelled.' },
    )
    const turned = await executor.executeBatch({
      session: asked.session,
      routes: either,
      input: 'yes, cancel it',
      callModel,
    })
    expect([turned.message, turned.session.data, turned.executedSteps]).toEqual([
      'Shall I cancel it?',
      { from: 'here' },
      [],
    ])
    const done = await executor.executeBatch({ session: turned.session, routes: either, input: 'yes', callModel })
    expect([done.message, done.session.data.sure]).toEqual(['Cancelled.', true])
  })

  it('are refused when a field of one behaves differently in another', async () => {
    const other = defineFields({ sure: z.boolean(), nights: z.number() }, { sure: { confirms: ['nights'] } })
    const odd = createRoute({ title: 'Odd', fields: other, steps: [{ prompt: 'Sure?', collect: ['sure'] }] })
    const routesOfTwo = [taxi, odd as unknown as typeof taxi]
    const turn = executor.executeBatch({ session: begin(), routes: routesOfTwo, callModel: scriptedModel() })
    await expect(turn).rejects.toMatchObject({ code: 'conflicting-fields', message: expect.stringContaining('"sure"') })
  })

  it('look less far ahead before they leave anything out, when the budget is small', async () => {
    const callModel = scriptedModel({ route: 'hotel', values: {}, asks: 'hotel/ask-hotel', message: 'Which?' })
    const small = new BatchExecutor({ maxPromptTokens: 1 })
    await small.executeBatch({ session: begin(), routes, input: 'a room', callModel })
    const [prompt] = callModel.prompts
    expect(prompt?.others.map(({ routeId, agenda }) => [routeId, agenda.map(line => line.stepId)])).toEqual([
      ['hotel', ['ask-hotel']],
      ['taxi', ['ask-from']],
    ])
  })

  it('can have fields of their own', async () => {
    const pizza = createRoute({ title: 'Pizza', steps: [{ prompt: 'Which one?', collect: ['topping', 'size'] }] })
    const bill = createRoute({ title: 'Bill', steps: [{ prompt: 'Cash or card?', collect: ['payment'] }] })
    const callModel = scriptedModel({
      route: 'pizza',
      values: { topping: 'ham', size: 30, payment: 'cash' },
      asks: null,
      message: 'Coming.',
    })
    const session = createSession({ fields: pizza.fields })
    const response = await executor.executeBatch({ session, routes: [pizza, bill], input: 'ham, 30, cash', callModel })
    expect(response).toMatchObject({
      stoppedReason: 'route_complete',
      session: { data: { topping: 'ham', size: 30, payment: 'cash' } },
    })
    const facts = scriptedModel({ route: 'bill', values: {}, asks: null, message: 'Bye.' })
    await executor.executeBatch({
      session: response.session,
      routes: [pizza, bill],
      input: 'the bill',
      callModel: facts,
    })
    expect(facts.prompts[0]?.system).toContain('- topping: "ham"\n- size: 30\n- payment: "cash"')
  })

  it('are refused when two have one id', async () => {
    const turn = executor.executeBatch({ session: begin(), routes: [hotel, hotel], callModel: scriptedModel() })
    await expect(turn).rejects.toMatchObject({ code: 'duplicate-route', message: expect.stringContaining('"hotel"') })
  })

  it('are refused when there is none', async () => {
    const turn = executor.executeBatch({ session: begin(), routes: [], callModel: scriptedModel() })
    await expect(turn).rejects.toMatchObject({ code: 'empty-route' })
  })

  it('need no choice when there is only one', async () => {
    const callModel = scriptedModel({ values: {}, asks: 'ask-hotel', message: 'Which hotel?' })
    await executor.executeBatch({ session: begin(), routes: [hotel], input: 'hi', callModel })
    expect(callModel.prompts[0]?.schema['required']).toEqual(['values', 'asks', 'message'])
  })

  it('tell events of the one that was chosen', async () => {
    const told = new BatchExecutor()
    const events: BatchEvent[] = []
    told.addEventListener(event => events.push(event))
    const callModel = scriptedModel(
      { route: null, values: {}, asks: null, message: 'Which?' },
      { route: 'taxi', values: {}, asks: 'taxi/ask-from', message: 'From where?' },
    )
    const { session } = await told.executeBatch({ session: begin(), routes, input: 'hi', callModel })
    await told.executeBatch({ session, routes, input: 'taxi', callModel })
    expect(events.map(({ type, details }) => [type, details.routeId])).toEqual([
      ['batch_start', null],
      ['batch_stop', null],
      ['batch_complete', null],
      ['batch_start', 'taxi'],
      ['batch_stop', 'taxi'],
      ['batch_complete', 'taxi'],
    ])
  })

  it('are remembered by a session that was stored', async () => {
    const callModel = scriptedModel({ route: 'taxi', values: {}, asks: 'taxi/ask-from', message: 'From where?' })
    const { session } = await executor.executeBatch({ session: begin(), routes, input: 'taxi', callModel })
    expect(parseSession(JSON.stringify(session))).toEqual(session)
  })
})
