import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runLoop, type LoopResult, type RunLoopOptions } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'

export async function drain(
  options: Omit<RunLoopOptions, 'messageList'> & { input?: string; messageList?: MessageList },
) {
  let id = 0
  const messageList =
    options.messageList ?? new MessageList({ generateId: () => `m${++id}` }).add(options.input ?? 'Hello', 'input')
  const loop = runLoop({ generateId: () => `id${++id}`, ...options, messageList } as RunLoopOptions)
  const chunks: Chunk[] = []
  for (;;) {
    const next = await loop.next()
    if (next.done) return { chunks, result: next.value as LoopResult, types: chunks.map(chunk => chunk.type) }
    chunks.push(next.value)
  }
}

const add = tool({
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

describe('a run', () => {
  it('answers with the text of the model', async () => {
    const { result, types } = await drain({ model: scriptedModel(['Hi there.']) })
    expect(result).toMatchObject({ text: 'Hi there.', stopReason: 'completed', finishReason: 'stop', error: undefined })
    expect(result.usage).toMatchObject({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })
    expect(types).toEqual(['start', 'step-start', 'text-start', 'text-delta', 'text-end', 'step-finish', 'finish'])
    expect(result.messages).toMatchObject([
      { role: 'assistant', content: { parts: [{ type: 'step-start' }, { type: 'text', text: 'Hi there.' }] } },
    ])
  })

  it('runs tools between two steps and shows the model what they gave', async () => {
    const model = scriptedModel([{ toolCalls: [{ toolName: 'add', input: { a: 1, b: 2 } }] }, 'It is 3.'])
    const { result, types } = await drain({ model, tools: { add } })
    expect(result.text).toBe('It is 3.')
    expect(result.steps).toHaveLength(2)
    expect(result.toolResults).toMatchObject([{ toolName: 'add', input: { a: 1, b: 2 }, output: 3 }])
    expect(types).toContain('tool-result')
    expect(model.doStreamCalls[1]!.prompt).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call-1' }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call-1', output: { type: 'json', value: 3 } }] },
    ])
  })

  it('withdraws a refused attempt and tells the model why', async () => {
    const guard: Processor = {
      id: 'guard',
      processOutputStep({ text, abort }) {
        if (!text.includes('please')) abort('say please', { retry: true })
      },
    }
    const model = scriptedModel(['Go away.', 'Go away, please.'])
    const { result, types } = await drain({ model, outputProcessors: [guard], maxProcessorRetries: 2 })
    expect(result.text).toBe('Go away, please.')
    expect(JSON.stringify(result.messages)).not.toContain('Go away."')
    expect(types).toEqual([
      'start',
      'step-start',
      'text-start',
      'text-delta',
      'text-end',
      'step-reset',
      'text-start',
      'text-delta',
      'text-end',
      'step-finish',
      'finish',
    ])
    expect(model.doStreamCalls[1]!.prompt[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('say please'),
    })
    expect(result.totalUsage.totalTokens).toBe(30)
    expect(result.usage.totalTokens).toBe(15)
    expect(String(result.trace)).toMatchInlineSnapshot(`
      "run: completed
      └─ step 0
         ├─ scripted retried: "say please"
         │  └─ guard.processOutputStep: asked for a retry: "say please"
         └─ scripted accepted: stop, 15 tokens"
    `)
  })
})
