// What the compiler must and must not accept.
import * as v from 'valibot'
import type { LanguageModel } from 'ai'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import {
  BatchExecutor,
  createRoute,
  createSession,
  defineFields,
  plan,
  setValues,
  type HookArgs,
  type Session,
} from '@lockstep/batch-executor'

const fields = defineFields(z.object({ hotel: z.string(), guests: z.number(), note: z.string().optional() }))
const session = createSession({ fields })
expectTypeOf(session).toEqualTypeOf<Session<{ hotel: string; guests: number; note?: string | undefined }>>()
expectTypeOf(session.data.guests).toEqualTypeOf<number | undefined>()

const record = defineFields({ hotel: z.string(), nights: v.pipe(v.string(), v.transform(Number)) })
expectTypeOf(createSession({ fields: record }).data.nights).toEqualTypeOf<number | undefined>()

createRoute({
  title: 'Booking',
  fields,
  requiredFields: ['hotel'],
  optionalFields: ['note'],
  steps: [
    { prompt: ({ guests }) => `For ${guests?.toFixed()}?`, collect: ['hotel'], skipIf: data => data.guests === 2 },
    // @ts-expect-error there is no field "room"
    { prompt: 'Which room?', collect: ['room'] },
    // @ts-expect-error there is no field "room"
    { prompt: 'Which room?', requires: ['room'] },
    // @ts-expect-error guests is a number
    { skipIf: data => data.guests === 'two' },
    // @ts-expect-error a condition is not asynchronous
    { skipIf: async () => true },
    // @ts-expect-error a prepare hook returns fields of the data
    { prepare: () => ({ guests: 'two' }) },
    // @ts-expect-error a finalize hook returns nothing
    { finalize: () => ({ guests: 2 }) },
  ],
})

// @ts-expect-error there is no field "room"
createRoute({ title: 'Booking', fields, requiredFields: ['room'], steps: [] })
// @ts-expect-error there is no field "room"
defineFields({ hotel: z.string() }, { room: { locked: true } })
// @ts-expect-error there is no field "room"
defineFields({ hotel: z.string() }, { hotel: { dependsOn: ['room'] } })
// @ts-expect-error there is no field "room"
setValues(session, { room: 7 }, { fields, source: 'code' })
// @ts-expect-error guests is a number
createSession({ fields, data: { guests: 'two' } })

interface Data {
  hotel: string
  guests: number
  note?: string | undefined
}
const withContext = createRoute({
  title: 'Booking',
  fields,
  steps: [{ prepare: async ({ context }: HookArgs<Data, { readonly rate: number }>) => ({ guests: context.rate }) }],
})
plan(session, withContext)
const executor = new BatchExecutor()
const callModel = () => ({})
void executor.executeBatch({ session, route: withContext, callModel, context: { rate: 2 } })
// @ts-expect-error the route's hooks need a context
void executor.executeBatch({ session, route: withContext, callModel })
// @ts-expect-error the context has another shape
void executor.executeBatch({ session, route: withContext, callModel, context: { rate: 'two' } })
void executor.executeBatch({ session, routes: [withContext, withContext], callModel, context: { rate: 2 } })
// @ts-expect-error the hooks of the routes need a context
void executor.executeBatch({ session, routes: [withContext], callModel })
// @ts-expect-error one route or several, not both
void executor.executeBatch({ session, route: withContext, routes: [withContext], callModel, context: { rate: 2 } })
// @ts-expect-error guests is no field of a form that gives a room
void executor.executeBatch({ session, route: withContext, callModel, context: { rate: 2 }, values: { room: 7 } })

const model = {} as Exclude<LanguageModel, string>
const answered = executor.respond('two of us', { routes: [withContext], model, context: { rate: 2 }, session })
expectTypeOf(answered).resolves.toExtend<{ readonly session: Session<Data>; readonly message: string }>()
// @ts-expect-error the hooks of the routes need a context
void executor.respond('two of us', { routes: [withContext], model, session })
// @ts-expect-error a response format belongs to the batch
void executor.respond('hi', { routes: [withContext], model, context: { rate: 2 }, structuredOutput: {} })

const plain = createRoute({
  title: 'Booking',
  requiredFields: ['hotel', 'guests'],
  steps: [{ prompt: ({ hotel }) => `In ${hotel}?`, collect: ['hotel', 'guests'] }],
})
expectTypeOf(createSession({ fields: plain.fields }).data['hotel']).toEqualTypeOf<
  string | number | boolean | undefined
>()
