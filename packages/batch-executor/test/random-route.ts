// Random routes and random conversations over them, for the laws.
import fc from 'fast-check'
import { z } from 'zod'
import {
  createRoute,
  createSession,
  defineFields,
  END_ROUTE,
  type BatchExecutor,
  type BatchPrompt,
  type BatchResponse,
  type CallModel,
  type FlowStep,
  type Route,
  type Session,
} from '@lockstep/batch-executor'
import { perfectModel } from './scripted-model.ts'

const given = ['a', 'b', 'c', 'd'] as const
const derived = ['x', 'y'] as const
const word = z.enum(['one', 'two', 'three'])
type Word = z.infer<typeof word>
export type Words = Record<(typeof given)[number] | (typeof derived)[number], Word>

export const fields = defineFields(
  { a: word, b: word, c: word, d: word, x: word, y: word },
  { b: { dependsOn: ['a'] }, d: { locked: true } },
)

const anyWord = fc.constantFrom(...word.options)
const anyField = fc.constantFrom(...given, ...derived)
const whenever = fc.record({ field: anyField, is: anyWord })

/** What a random step is made of; conditions as data, so that a failing case can be read. */
const stepShape = fc.record({
  collect: fc.subarray([...given], { maxLength: 2 }),
  speaks: fc.boolean(),
  fromData: fc.boolean(),
  requires: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...given, ...derived], { maxLength: 2 }) },
  ),
  skip: fc.option(whenever, { freq: 4 }),
  jump: fc.option(fc.record({ when: whenever, by: fc.integer({ min: 2, max: 4 }) }), { freq: 4 }),
  writes: fc.option(fc.record({ field: fc.constantFrom(...derived), from: fc.constantFrom(...given) }), { freq: 4 }),
  any: fc.boolean(),
})

export const routeShape = fc.record({
  steps: fc.array(stepShape, { minLength: 1, maxLength: 6 }),
  optional: fc.subarray([...given]),
  ends: fc.boolean(),
})
export type RouteShape = typeof routeShape extends fc.Arbitrary<infer T> ? T : never

/** The same route without anything that depends on data: every step follows the one before. */
export const straight = (shape: RouteShape): RouteShape => ({
  ...shape,
  optional: [],
  steps: shape.steps.map(step => ({
    ...step,
    requires: [],
    skip: null,
    jump: null,
    writes: null,
    fromData: false,
    any: false,
  })),
})

/** Makes a route that writes down every hook it runs. */
export function routeOf(shape: RouteShape, log: string[], title = 'Random'): Route<Words> {
  const steps = shape.steps.map((step, index): FlowStep<Words> => {
    const prompt = `Line ${index}.`
    const { writes, skip, jump } = step
    const to = jump === null ? undefined : index + jump.by < shape.steps.length ? `s${index + jump.by}` : END_ROUTE
    return {
      id: `s${index}`,
      collect: step.collect,
      requires: step.requires,
      satisfiedBy: step.any ? 'any' : 'all',
      ...((step.speaks || step.collect.length > 0) && {
        prompt: step.fromData ? data => `${prompt} (${data.a})` : prompt,
      }),
      ...(skip && { skipIf: data => data[skip.field] === skip.is }),
      ...(jump && to !== undefined && { next: [{ when: data => data[jump.when.field] === jump.when.is, to }] }),
      prepare: async ({ visitKey, data }) => {
        log.push(`prepare ${visitKey} ${fields.names.map(name => `${name}=${data[name]}`).join()}`)
        return writes === null ? {} : { [writes.field]: data[writes.from] }
      },
      finalize: ({ visitKey }) => void log.push(`finalize ${visitKey}`),
    }
  })
  return createRoute({
    title,
    fields,
    optionalFields: shape.optional,
    steps: shape.ends ? [...steps, END_ROUTE] : steps,
  })
}

/** What the user knows, and what they say in each turn besides answering: fields volunteered, corrections, silence. */
export const userShape = fc.record({
  answers: fc.record(
    Object.fromEntries(given.map(name => [name, anyWord])) as Record<(typeof given)[number], typeof anyWord>,
  ),
  turns: fc.array(
    fc.record({
      volunteers: fc.subarray([...given]),
      corrects: fc.option(fc.record({ field: fc.constantFrom(...given), to: anyWord }), { freq: 3 }),
      digresses: fc.boolean(),
      turnsTo: fc.option(fc.constantFrom(0, 1), { freq: 2 }),
    }),
    { maxLength: 6 },
  ),
})
export type UserShape = typeof userShape extends fc.Arbitrary<infer T> ? T : never

export interface Turn {
  readonly before: Session<Words>
  readonly response: BatchResponse<Words>
  readonly prompts: readonly BatchPrompt[]
}

/** A turn to be made: on one route, or on several. */
export type RandomTurn = { readonly session: Session<Words>; readonly input: string; readonly callModel: CallModel } & (
  | { readonly route: Route<Words> }
  | { readonly routes: readonly Route<Words>[] }
)

/** How a turn of a conversation is made. */
export type MakeTurn = (executor: BatchExecutor, turn: RandomTurn) => Promise<BatchResponse<Words>>

/** Leads a conversation to its end: a user that answers what is asked, and a model that understands without fail. */
export async function converse(
  executor: BatchExecutor,
  over: Route<Words> | readonly Route<Words>[],
  user: UserShape,
  make: MakeTurn = (made, turn) => made.executeBatch(turn),
): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  let session: Session<Words> = createSession({ fields, id: 'random' })
  let asked: readonly string[] = []
  for (let number = 0; number < 20; number += 1) {
    const script = user.turns[number]
    const names = [...(script?.digresses ? [] : asked), ...(script?.volunteers ?? [])]
    const said: Record<string, unknown> = Object.fromEntries(
      names.map(name => [name, (user.answers as Record<string, Word>)[name]]),
    )
    if (script?.corrects) said[script.corrects.field] = script.corrects.to
    const before = session
    const knows = (field: string) => Object.hasOwn(said, field) || Object.hasOwn(before.data, field)
    const wants = 'title' in over ? null : (over[script?.turnsTo ?? -1]?.id ?? null)
    const model = perfectModel(said, knows, wants)
    const turn = { session, input: 'something', callModel: model }
    const response = await make(executor, 'title' in over ? { ...turn, route: over } : { ...turn, routes: over })
    turns.push({ before, response, prompts: model.prompts })
    session = response.session
    asked = response.plan.ask?.fields ?? []
    if (asked.length === 0 && number >= user.turns.length) break
  }
  return turns
}
