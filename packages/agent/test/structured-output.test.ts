import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { NoObjectGeneratedError } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const schema = z.object({ title: z.string(), tags: z.array(z.string()) })
const whole = { title: 'Tea', tags: ['hot', 'green'] }
const pieces = ['{"tit', 'le":"T', 'ea","tags":["h', 'ot","gr', 'een"]}']
const agentOf = (turns: Parameters<typeof scriptedModel>[0]) =>
  new Agent({ name: 'writer', model: scriptedModel(turns), defaultOptions: { structuredOutput: { schema } } })

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('structured output', () => {
  it('is the object of generate and of stream', async () => {
    const agent = agentOf([{ text: pieces }, { text: pieces }])
    expect((await agent.generate('Hi')).object).toEqual(whole)
    expect(await agent.stream('Hi').object).toEqual(whole)
  })

  it('of the call takes the place of the default', async () => {
    const agent = agentOf(['{"n":1}'])
    const { object } = await agent.generate('Hi', { structuredOutput: { schema: z.object({ n: z.number() }) } })
    expect(object?.n).toBe(1)
  })

  it('rejects generate when there is none, with what there was', async () => {
    const failed: unknown = await agentOf(['no', 'never'])
      .generate('Hi')
      .catch((error: unknown) => error)
    expect(NoObjectGeneratedError.isInstance(failed)).toBe(true)
    expect(failed).toMatchObject({ result: { text: 'never', stopReason: 'error' } })
  })

  it('grows in objectStream, each value in the place of the one before', async () => {
    const seen = await collect(agentOf([{ text: pieces }]).stream('Hi').objectStream)
    expect(seen).toEqual([
      {},
      { title: 'T' },
      { title: 'Tea', tags: ['h'] },
      { title: 'Tea', tags: ['hot', 'gr'] },
      whole,
    ])
  })

  it('starts over in objectStream after an answer that did not fit, while textStream shows the good one alone', async () => {
    const turns = [{ text: ['{"title":1', '}'] }, { text: pieces }]
    const seen = await collect(agentOf(turns).stream('Hi').objectStream)
    expect(seen.slice(0, 3)).toEqual([{ title: 1 }, {}, { title: 'T' }])
    expect(seen.at(-1)).toEqual(whole)
    expect((await collect(agentOf(turns).stream('Hi').textStream)).join('')).toBe(pieces.join(''))
  })

  it('ends objectStream with what the schema made of it', async () => {
    const agent = new Agent({ name: 'a', model: scriptedModel(['{"n":1}']) })
    const structuredOutput = { schema: z.object({ n: z.number(), unit: z.string().default('C') }) }
    expect(await collect(agent.stream('Hi', { structuredOutput }).objectStream)).toEqual([
      { n: 1 },
      { n: 1, unit: 'C' },
    ])
  })

  it('fails objectStream as it fails the run', async () => {
    await expect(collect(agentOf(['no', 'never']).stream('Hi').objectStream)).rejects.toThrow('No object generated')
  })

  it('is looked at a number of times that does not grow with its length squared', async () => {
    const tags = Array.from({ length: 5000 }, (_, index) => `tag ${index}`)
    const text = JSON.stringify({ title: 'long', tags })
    const cut = Array.from({ length: Math.ceil(text.length / 7) }, (_, index) => text.slice(index * 7, index * 7 + 7))
    const seen = await collect(agentOf([{ text: cut }]).stream('Hi').objectStream)
    expect(seen.at(-1)).toEqual({ title: 'long', tags })
    expect(seen.length).toBeGreaterThan(100)
    expect(seen.length).toBeLessThan(64 * Math.log(text.length))
  })
})
