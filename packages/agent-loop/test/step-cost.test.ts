// What a step costs, in promises: they are counted alike on every machine, and one too many in a step is seen here.
import { createHook } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { jsonSchema, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'

const add = tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
const callAdd = { toolCalls: [{ toolName: 'add', input: { a: 1, b: 2 } }] }

async function promisesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && count++) })
  hook.enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return count
}

/** Promises of one step with a tool call: what 20 more of them add to a run. */
async function promisesPerStep(options: () => Partial<DrainOptions> = () => ({})): Promise<number> {
  const run = (stepCount: number) =>
    promisesOf(() =>
      drain({
        model: scriptedModel([...Array.from({ length: stepCount }, () => callAdd), 'Done.']),
        tools: { add },
        maxSteps: 99,
        ...options(),
      }),
    )
  await run(1)
  return ((await run(25)) - (await run(5))) / 20
}

/** What reading such a step's stream makes by itself, which is the engine's affair. */
async function promisesOfReading(): Promise<number> {
  const model = scriptedModel([callAdd, callAdd])
  const read = async () => {
    const reader = (await model.doStream({ prompt: [] })).stream.getReader()
    while (!(await reader.read()).done);
  }
  await read()
  return promisesOf(read)
}

/** Whether V8 keeps two objects in one shape. A new shape for each object is slow, and outlives what the object holds. */
function haveOneShape(one: object, other: object): boolean {
  setFlagsFromString('--allow-natives-syntax')
  const areOne = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (one: object, other: object) => boolean
  return areOne(one, other)
}

describe('a step with a tool call', () => {
  it('gives the tool options of the shape that they had before, in every run', async () => {
    const given: object[] = []
    const look = tool({ inputSchema: z.object({}), execute: (_, options) => void given.push(options) })
    const callLook = { toolCalls: [{ toolName: 'look', input: {} }] }
    const ended = () => drain({ model: scriptedModel([callLook, callLook, 'Done.']), tools: { look } })
    const [first, second] = [await ended(), await ended()]
    expect(given).toHaveLength(4)
    expect(given.slice(1).every(options => haveOneShape(options, given[0]!))).toBe(true)
    expect(haveOneShape(first.result.response, second.result.response)).toBe(true)
  })

  it('makes no more promises than it did', async () => {
    expect((await promisesPerStep()) - (await promisesOfReading())).toBeLessThanOrEqual(63)
  })

  it.each([undefined, ['add', 'other']])(
    'makes no schema of a tool again, with the active tools %j',
    async activeTools => {
      let count = 0
      const other = tool({
        inputSchema: () => (count++, jsonSchema<{ a: number }>({ type: 'object' })),
        execute: () => 1,
      })
      const run = async (stepCount: number) => {
        const before = count
        const model = scriptedModel([...Array.from({ length: stepCount }, () => callAdd), 'Done.'])
        await drain({ model, tools: { add, other: { ...other } }, activeTools: activeTools as never, maxSteps: 99 })
        return count - before
      }
      expect(await run(20)).toBe(await run(1))
    },
  )

  it('makes as many after a thousand messages as after one', async () => {
    const list = new MessageList().add(
      Array.from({ length: 1000 }, (_, index) => ({
        role: index % 2 ? ('assistant' as const) : ('user' as const),
        content: 'word',
      })),
      'memory',
    )
    expect(await promisesPerStep(() => ({ messageList: list.fork().add('Go', 'input') }))).toBe(await promisesPerStep())
  })

  it('makes none for processors that answer at once, whatever hooks they have', async () => {
    const quiet = (id: string): Processor => ({
      id,
      processInputStep: () => undefined,
      processLLMRequest: () => undefined,
      processOutputStream: ({ part }) => part,
      processOutputStep: () => undefined,
      processToolCall: () => undefined,
      processToolResult: () => undefined,
      processStepEnd: () => undefined,
    })
    const processors = [quiet('one'), quiet('two'), quiet('three')]
    const with3 = await promisesPerStep(() => ({ inputProcessors: processors, outputProcessors: processors }))
    expect(with3 - (await promisesPerStep())).toBeLessThanOrEqual(67)
  })
})
