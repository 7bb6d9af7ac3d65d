// What a chunk and a run cost, counted: promises, clones, streams, prompts made anew, and what stays in memory.
import { createHook } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { jsonSchema, tool } from 'ai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

const passing = (id: string): Processor => ({ id, processOutputStream: ({ part }) => part })

const answerIn = (chunkCount: number) => scriptedModel([{ text: Array.from({ length: chunkCount }, () => 'word ') }])

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

/** Promises of one chunk, the model's own included: what a thousand more of them add to a stream that is read. */
async function promisesPerChunk(processorCount: number): Promise<number> {
  const read = async (chunkCount: number) => {
    const outputProcessors = Array.from({ length: processorCount }, (_, index) => passing(`pass-${index}`))
    const agent = new Agent({ name: 'test', model: answerIn(chunkCount), outputProcessors })
    for await (const _ of agent.stream('Go').fullStream);
  }
  await read(10)
  const few = await promisesOf(() => read(100))
  return ((await promisesOf(() => read(1_100))) - few) / 1_000
}

/** Collects garbage until none of the objects is left, or nothing changes any more. */
async function aliveOf(references: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 5; round++) {
    await new Promise(resolve => setImmediate(resolve))
    collect()
  }
  return references.filter(reference => reference.deref() !== undefined).length
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('a chunk', () => {
  it('makes no more promises than it did', async () => {
    expect(Math.round(await promisesPerChunk(0))).toBeLessThanOrEqual(5)
  })

  it('makes none for processors that answer at once', async () => {
    expect((await promisesPerChunk(10)) - (await promisesPerChunk(0))).toBeLessThan(0.01)
  })

  it('is not kept by a stream that was read to its end, nor by its result', async () => {
    const chunks: WeakRef<object>[] = []
    const agent = new Agent({ name: 'test', model: answerIn(500), outputProcessors: [passing('pass')] })
    const stream = agent.stream('Go')
    for await (const chunk of stream.fullStream) if (chunk.type === 'text-delta') chunks.push(new WeakRef(chunk))
    const result = await stream.result
    expect([chunks.length, await aliveOf(chunks)]).toEqual([500, 0])
    expect([result.text.length, await stream.text]).toEqual([2_500, result.text])
  })

  it('is kept for a reader that has not come to it, and not for one that left', async () => {
    const chunks: WeakRef<object>[] = []
    const stream = new Agent({ name: 'test', model: answerIn(500) }).stream('Go')
    const [fast, slow, gone] = [stream.fullStream, stream.fullStream, stream.fullStream]
    await gone.next()
    await gone.return(undefined)
    for await (const chunk of fast) if (chunk.type === 'text-delta') chunks.push(new WeakRef(chunk))
    expect(await aliveOf(chunks)).toBe(500)
    let count = 0
    for await (const chunk of slow) if (chunk.type === 'text-delta') count++
    expect([count, await aliveOf(chunks)]).toEqual([500, 0])
    expect(await gone.next()).toEqual({ done: true, value: undefined })
  })
})

describe('a run', () => {
  it('clones nothing in a step, and pipes through no streams of its own', async () => {
    const made: string[] = []
    const counted = <T extends typeof TransformStream | typeof ReadableStream>(of: T): T =>
      new Proxy(of, { construct: (target, args, self) => (made.push(of.name), Reflect.construct(target, args, self)) })
    const run = async (stepCount: number) => {
      const agent = new Agent({
        name: 'test',
        model: scriptedModel([...Array.from({ length: stepCount }, () => callAdd), 'Done.']),
        tools: { add },
        inputProcessors: [{ id: 'look', processInputStep: ({ messages }) => void messages.length }],
        outputProcessors: [passing('one'), passing('two')],
      })
      made.length = 0
      for await (const _ of agent.stream('Go').fullStream);
      return made.length
    }
    vi.stubGlobal('structuredClone', (value: unknown) => (made.push('structuredClone'), value))
    vi.stubGlobal('TransformStream', counted(TransformStream))
    vi.stubGlobal('ReadableStream', counted(ReadableStream))
    // One for each step: the model's own stream.
    expect((await run(11)) - (await run(1))).toBe(10)
    expect(made.filter(name => name === 'TransformStream')).toEqual([])
  })

  it('shows the model the same objects in each step, and only what is new besides', async () => {
    const model = scriptedModel([...Array.from({ length: 30 }, () => callAdd), 'Done.'])
    const agent = new Agent({ name: 'test', model, tools: { add }, defaultOptions: { maxSteps: 40 } })
    await agent.generate([{ role: 'user', content: 'One' }, { role: 'assistant', content: 'Two' }, 'Go'])
    const prompts = model.doStreamCalls.map(call => call.prompt)
    const madeAnew = prompts.slice(1).map((prompt, step) => {
      const known = new Set<unknown>(prompts[step])
      return prompt.filter(message => !known.has(message)).length
    })
    expect(madeAnew).toEqual(Array.from({ length: 30 }, () => 2))
  })

  it('checks the input of a call once', async () => {
    let count = 0
    const inputSchema = jsonSchema<{ a: number }>(
      { type: 'object' },
      { validate: value => (count++, { success: true, value: value as { a: number } }) },
    )
    const agent = new Agent({
      name: 'test',
      model: scriptedModel([callAdd, 'Done.']),
      tools: { add: tool({ inputSchema, execute: ({ a }) => a }) },
    })
    await agent.generate('Go')
    expect(count).toBe(1)
  })
})
