import type { Chunk } from '@lockstep/agent'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { showAnswer } from '../src/answer-view.ts'

const envelope = { runId: 'run', from: 'AGENT' } as const
const text = (value: string): Chunk => ({ ...envelope, type: 'text-delta', payload: { id: 'text', text: value } })
const stepStart: Chunk = { ...envelope, type: 'step-start', payload: { stepNumber: 0, messageId: 'm' } }
const stepReset: Chunk = { ...envelope, type: 'step-reset', payload: { stepNumber: 0, reason: 'no' } }

async function* streamOf<Item>(items: readonly Item[]): AsyncGenerator<Item, void, void> {
  yield* items
}

async function written(chunks: readonly Chunk[], isTTY: boolean): Promise<string> {
  let output = ''
  const write = (part: Buffer, _: string, done: () => void) => ((output += String(part)), done())
  const screen = Object.assign(new Writable({ write }), { isTTY, columns: 10 })
  await showAnswer({ fullStream: streamOf(chunks), textStream: streamOf(['accepted ', 'text']) }, screen)
  return output
}

describe('showing an answer', () => {
  it('writes the accepted text where nothing can be taken back', async () => {
    expect(await written([text('draft')], false)).toBe('accepted text')
  })

  it('writes drafts live on a terminal and takes back every row of one that is withdrawn', async () => {
    const chunks = [stepStart, text('one\n'), text('a row and a half'), stepReset, text('better')]
    expect(await written(chunks, true)).toBe('one\na row and a half\u001B[10D\u001B[2A\u001B[0Jbetter')
  })

  it('takes back nothing of the steps before', async () => {
    expect(await written([stepStart, text('kept'), stepStart, text('x'), stepReset], true)).toBe(
      'keptx\u001B[10D\u001B[0J',
    )
  })
})
