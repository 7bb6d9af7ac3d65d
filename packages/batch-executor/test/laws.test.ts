import fc from 'fast-check'
import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import {
  BatchExecutor,
  createSession,
  defineFields,
  describePlan,
  parseSession,
  plan,
  setValues,
  type BatchEvent,
  type Session,
} from '@lockstep/batch-executor'
import {
  converse,
  fields,
  routeOf,
  routeShape,
  straight,
  userShape,
  type MakeTurn,
  type RouteShape,
  type Words,
} from './random-route.ts'
import { inPieces, readAll } from './streamed.ts'

const runs = { numRuns: 150 }

describe('over random routes and conversations', () => {
  it('the size of a batch changes neither the data, nor the hooks and their order, nor the questions', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const [one, two, any] = await Promise.all(
          [1, 2, Infinity].map(async maxSteps => {
            const log: string[] = []
            const turns = await converse(new BatchExecutor({ maxSteps }), routeOf(shape, log), user)
            const questions = turns.map(({ response }) => [response.stoppedReason, response.plan.ask, response.message])
            return { log, questions, session: turns.at(-1)?.response.session }
          }),
        )
        expect(one).toEqual(any)
        expect(two).toEqual(any)
      }),
      runs,
    )
  })

  it('each visit of a step runs each of its hooks exactly once, and prepares come before their finalize', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const log: string[] = []
        await converse(new BatchExecutor(), routeOf(shape, log), user)
        const visits = (hook: string) => log.filter(line => line.startsWith(hook)).map(line => line.split(' ')[1])
        expect(new Set(visits('prepare')).size).toBe(visits('prepare').length)
        expect(visits('finalize')).toEqual(visits('prepare'))
      }),
      runs,
    )
  })

  it('every turn asks the next question in its message, or the route has come to its end', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        for (const { response } of await converse(new BatchExecutor(), routeOf(shape, []), user)) {
          const { stoppedReason, message } = response
          const { ask } = response.plan
          expect(['needs_input', 'route_complete', 'end_route', 'blocked']).toContain(stoppedReason)
          expect(ask !== undefined).toBe(stoppedReason === 'needs_input')
          expect(message).toContain(ask?.prompt ?? '')
        }
      }),
      runs,
    )
  })

  it('nothing that is known is asked for, and everything known is among the facts', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        for (const { before, response, prompts } of await converse(new BatchExecutor(), routeOf(shape, []), user)) {
          for (const field of response.plan.ask?.fields ?? []) expect(response.session.data).not.toHaveProperty(field)
          const [first] = prompts
          for (const field of first?.agenda.flatMap(line => line.fields) ?? [])
            expect(before.data).not.toHaveProperty(field)
          for (const [field, value] of Object.entries(before.data))
            expect(first?.system).toContain(`- ${field}: "${value}"`)
        }
      }),
      runs,
    )
  })

  it('a turn makes one call, and one more only when the reply could not know the plan', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        for (const { response } of await converse(new BatchExecutor(), routeOf(shape, []), user)) {
          expect(response.callCount).toBeLessThanOrEqual(2)
        }
        for (const { response } of await converse(new BatchExecutor(), routeOf(straight(shape), []), {
          ...user,
          turns: [],
        })) {
          expect(response.callCount).toBeLessThanOrEqual(1)
        }
      }),
      runs,
    )
  })

  it('reading and replying in two calls comes to the same as in one', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const run = async (speculate: boolean) => {
          const log: string[] = []
          const turns = await converse(new BatchExecutor({ speculate }), routeOf(shape, log), user)
          const told = turns.map(({ response: { session, message, plan: made, changes, executedSteps } }) => {
            return { session, message, made, changes, executedSteps }
          })
          return { log, told, callCounts: turns.map(({ response }) => response.callCount) }
        }
        const one = await run(true)
        const two = await run(false)
        expect([two.told, two.log]).toEqual([one.told, one.log])
        for (const [index, count] of two.callCounts.entries())
          expect(count).toBeGreaterThanOrEqual(one.callCounts[index]!)
      }),
      runs,
    )
  })

  it('the session given is never changed, and each is JSON that reads back as itself and plans the same', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const route = routeOf(shape, [])
        let session = createSession({ fields, id: 'random' })
        const texts: string[] = []
        for (const { before, response } of await converse(new BatchExecutor(), route, user)) {
          expect(before).toEqual(session)
          texts.push(JSON.stringify(before))
          session = response.session
          const read = parseSession<Words>(JSON.stringify(session))
          expect(read).toEqual(session)
          expect(plan(read, route)).toEqual(plan(session, route))
          expect(isFrozen(session) && isFrozen(response.plan)).toBe(true)
        }
        for (const text of texts) expect(JSON.stringify(parseSession(text))).toBe(text)
      }),
      runs,
    )
  })

  it('a plan is the same every time, is JSON, and its text names why it stops', () => {
    const data = fc.record(
      { a: fc.constantFrom('one', 'two'), b: fc.constant('one'), x: fc.constant('two') } as const,
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(routeShape, data, (shape, known) => {
        const session = createSession({ fields, id: 'random', data: known })
        const route = routeOf(shape, [])
        const made = plan(session, route)
        expect(plan(session, route)).toEqual(made)
        expect(JSON.parse(JSON.stringify(made))).toEqual(made)
        expect(describePlan(made)).toContain(`Stopped reason: ${made.stoppedReason}`)
      }),
      runs,
    )
  })

  it('on a route without conditions, saying it all at once and saying it piece by piece come to the same', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, async (shape, user) => {
        const run = async (volunteers: UserFields) => {
          const log: string[] = []
          const turns = [{ volunteers, corrects: null, digresses: false, turnsTo: null }]
          const made = await converse(new BatchExecutor(), routeOf(straight(shape), log), { ...user, turns })
          const hooks = (name: string) => log.filter(line => line.startsWith(name)).map(line => line.split(' ')[1])
          return { data: made.at(-1)?.response.session.data, hooks: [hooks('prepare'), hooks('finalize')] }
        }
        const collected = [...new Set(shape.steps.flatMap(step => step.collect))]
        expect(await run(collected)).toEqual(await run([]))
      }),
      runs,
    )
  })

  it('on a route without conditions, knowing more never gets less far', () => {
    const data = fc.record(
      { a: fc.constant('one'), b: fc.constant('two'), c: fc.constant('one'), d: fc.constant('one') } as const,
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(routeShape, data, data, (shape, some, more) => {
        const route = routeOf(straight(shape), [])
        const reach = (known: Partial<Words>) => plan(createSession({ fields, data: known }), route).batch.length
        expect(reach({ ...some, ...more })).toBeGreaterThanOrEqual(reach(some))
      }),
      runs,
    )
  })

  it('events tell of each executed step once, and their totals are those of the response', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, fc.constantFrom(1, 2, Infinity), async (shape, user, maxSteps) => {
        const executor = new BatchExecutor({ maxSteps })
        const perTurn: BatchEvent[][] = [[]]
        executor.addEventListener(event => {
          perTurn.at(-1)?.push(event)
          if (event.type === 'batch_complete') perTurn.push([])
        })
        for (const [index, { response }] of (await converse(executor, routeOf(shape, []), user)).entries()) {
          const events = perTurn[index] ?? []
          const included = events.flatMap(event => (event.type === 'step_included' ? [event.details.stepId] : []))
          const executed = response.executedSteps.map(step => step.id)
          expect(executed.every(id => included.includes(id))).toBe(true)
          expect(events.find(event => event.type === 'batch_stop')?.details.batchSize).toBeLessThanOrEqual(
            shape.steps.length,
          )
          expect(events.findLast(event => event.type === 'batch_stop')?.details.batchSize).toBe(executed.length)
          expect(events[0]?.type).toBe('batch_start')
          expect(events.at(-1)).toMatchObject({
            type: 'batch_complete',
            details: {
              batchSize: executed.length,
              stoppedReason: response.stoppedReason,
              callCount: response.callCount,
            },
          })
        }
      }),
      runs,
    )
  })

  it('an abort at any await gives the session back, and the turn made again is the turn made once', async () => {
    await fc.assert(
      fc.asyncProperty(routeShape, userShape, fc.integer({ min: 0, max: 12 }), async (shape, user, at) => {
        const session = createSession({ fields, id: 'random' })
        const turn = async (from: Session<Words>, limit: number) => {
          const controller = new AbortController()
          let awaits = 0
          const wait = async () => {
            if (awaits++ === limit) controller.abort(new Error('enough'))
            await Promise.resolve()
          }
          const plain = routeOf(shape, [])
          const route = {
            ...plain,
            steps: plain.steps.map(step =>
              typeof step === 'symbol' ? step : { ...step, finalize: wait, prepare: wait },
            ),
          }
          const callModel = async () => {
            await wait()
            return { values: user.answers, asks: null, message: 'Hm.' }
          }
          return new BatchExecutor().executeBatch({
            session: from,
            route,
            input: 'all',
            callModel,
            abortSignal: controller.signal,
          })
        }
        const aborted = await turn(session, at)
        if (aborted.stoppedReason !== 'aborted') return
        expect(aborted.session).toBe(session)
        expect(await turn(aborted.session, -1)).toEqual(await turn(session, -1))
      }),
      runs,
    )
  })
})

type UserFields = ('a' | 'b' | 'c' | 'd')[]

describe('over random conversations on several routes', () => {
  const shapes = fc.tuple(routeShape, routeShape)
  const routesOf = ([one, two]: readonly [RouteShape, RouteShape], log: string[]) => [
    routeOf(one, log, 'One'),
    routeOf(two, log, 'Two'),
  ]

  it('each turn is on one route, asks its next question, and takes one call, or two when the reply could not know', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, userShape, async (pair, user) => {
        const routes = routesOf(pair, [])
        for (const { before, response } of await converse(new BatchExecutor(), routes, user)) {
          const { plan: made, executedSteps, message, callCount, session } = response
          const route = routes.find(({ id }) => id === made.routeId)
          expect(session.routeId).toBe(made.routeId ?? before.routeId)
          expect(executedSteps.every(step => step.routeId === made.routeId)).toBe(true)
          expect([1, 2]).toContain(callCount)
          expect(message).toContain(made.ask?.prompt ?? '')
          expect(made.stoppedReason === 'no_route').toBe(route === undefined)
          for (const field of made.ask?.fields ?? []) expect(session.data).not.toHaveProperty(field)
        }
      }),
      runs,
    )
  })

  it('neither the size of a batch, nor streaming, nor a call for each task changes what comes of it', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, userShape, fc.integer({ min: 1, max: 9 }), async (pair, user, length) => {
        const run = async (executor: BatchExecutor, make?: MakeTurn) => {
          const log: string[] = []
          const turns = await converse(executor, routesOf(pair, log), user, make)
          return { log, told: turns.map(({ response }) => [response.session, response.message, response.plan]) }
        }
        const plain = await run(new BatchExecutor())
        expect(await run(new BatchExecutor({ maxSteps: 1 }))).toEqual(plain)
        expect(await run(new BatchExecutor({ speculate: false }))).toEqual(plain)
        const streamed = await run(new BatchExecutor(), async (executor, turn) => {
          const stream = executor.streamBatch({ ...turn, callModel: inPieces(turn.callModel, [length]) })
          return (await readAll(stream)).response
        })
        expect(streamed).toEqual(plain)
      }),
      runs,
    )
  })
})

describe('over random replies', () => {
  const anything = fc.jsonValue({ maxDepth: 3 })
  const some = fc.oneof(fc.constantFrom('one', 'two', 'four', null, '', 7), anything)
  const reply = fc.oneof(
    anything,
    fc.record(
      {
        route: fc.oneof(fc.constantFrom('one', 'two', null), anything),
        values: fc.oneof(fc.record({ a: some, b: some, x: some, nothing: some }, { requiredKeys: [] }), anything),
        asks: fc.oneof(fc.constantFrom('s0', 's1', 'one/s0', 'two/s1', null), anything),
        message: fc.oneof(fc.string(), anything),
      },
      { requiredKeys: [] },
    ),
  )

  it('a turn is a value whatever the model writes: the session stays valid, and streaming changes nothing', async () => {
    const two = fc.tuple(reply, reply)
    await fc.assert(
      fc.asyncProperty(
        routeShape,
        routeShape,
        two,
        fc.integer({ min: 1, max: 20 }),
        async (one, other, said, length) => {
          const routes = [routeOf(one, [], 'One'), routeOf(other, [], 'Two')]
          const session = createSession({ fields, id: 'random', data: { c: 'one' } })
          const turn = () => {
            let count = 0
            return { session, routes, input: 'something', callModel: () => said[count++] }
          }
          const whole = await new BatchExecutor().executeBatch(turn())
          expect(parseSession(JSON.stringify(whole.session))).toEqual(whole.session)
          for (const value of Object.values(whole.session.data)) expect(['one', 'two', 'three']).toContain(value)
          if (whole.stoppedReason === 'llm_error') expect(whole.session).toBe(session)
          const given = turn()
          const callModel = inPieces(given.callModel, [length])
          const { text, response } = await readAll(new BatchExecutor().streamBatch({ ...given, callModel }))
          const { error: left, ...streamed } = response
          const { error: right, ...drained } = whole
          expect([text, streamed, left?.code]).toEqual([whole.message, drained, right?.code])
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('over random values', () => {
  it('JSON goes in and comes out the same, frozen, and independent of the object that was given', () => {
    const open = defineFields({ value: z.json() })
    // zod itself leaves out a property that is named `__proto__`.
    const said = fc
      .jsonValue()
      .filter(value => value !== null && value !== '' && !JSON.stringify(value).includes('__proto__'))
    fc.assert(
      fc.property(said, value => {
        const { session } = setValues(createSession({ fields: open }), { value }, { fields: open, source: 'code' })
        const expected: unknown = JSON.parse(JSON.stringify(value))
        expect(session.data.value).toEqual(expected)
        expect(isFrozen(session)).toBe(true)
        expect(parseSession(JSON.stringify(session))).toEqual(session)
        expect(setValues(session, { value: expected }, { fields: open, source: 'code' }).session).toBe(session)
      }),
    )
  })
})

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isFrozen)
}
