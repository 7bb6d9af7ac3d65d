import { runLoop, type ChunkGenerator, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'

type Loop = ChunkGenerator<Chunk, LoopResult>

const words = Array.from({ length: 200 }, (_, index) => `${index} `)
const loopOf = (): Loop =>
  runLoop({ model: scriptedModel([{ text: words }]), messageList: new MessageList().add('Go', 'input') })

const asked = (loop: Loop) =>
  new Promise<IteratorResult<Chunk, LoopResult>>((resolve, reject) => loop.read({ resolve, reject }))

async function readWith(next: (loop: Loop) => Promise<IteratorResult<Chunk, LoopResult>>) {
  const loop = loopOf()
  let text = ''
  for (;;) {
    const read = await next(loop)
    if (read.done) return { text, result: read.value, after: await next(loop) }
    if (read.value.type === 'text-delta') text += read.value.payload.text
  }
}

describe('a run that is read with callbacks', () => {
  it('gives what it gives to promises', async () => {
    let count = 0
    const either = (loop: Loop) => (count++ % 2 ? asked(loop) : loop.next())
    for (const next of [asked, (loop: Loop) => loop.next(), either]) {
      const { text, result, after } = await readWith(next)
      expect([text, result.text]).toEqual([words.join(''), words.join('')])
      expect(after).toEqual({ done: true, value: undefined })
    }
  })

  it('answers those who ask at once in their order, and tells the end to one of them', async () => {
    const loop = loopOf()
    const given: string[] = []
    const results: unknown[] = []
    const all = Array.from({ length: 300 }, async (_, index) => {
      const read = await (index % 2 ? asked(loop) : loop.next())
      if (!read.done && read.value.type === 'text-delta') given.push(read.value.payload.text)
      else if (read.done) results.push(read.value)
    })
    await Promise.all(all)
    expect(given).toEqual(words)
    expect(results.filter(result => result !== undefined)).toMatchObject([{ stopReason: 'completed' }])
  })

  it('tells what could not be begun', async () => {
    const loop = runLoop({ model: undefined as never, messageList: new MessageList() })
    await expect(asked(loop as Loop)).rejects.toThrow('model')
    expect(await asked(loop as Loop)).toEqual({ done: true, value: undefined })
  })

  it('is over for who asks after it was left', async () => {
    const loop = loopOf()
    await asked(loop)
    const left = await loop.return(undefined as never)
    expect(left).toMatchObject({ done: true, value: { stopReason: 'aborted' } })
    expect(await asked(loop)).toEqual({ done: true, value: undefined })
  })
})
