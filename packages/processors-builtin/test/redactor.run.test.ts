import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk } from '@lockstep/processors'
import { redactor, type RedactorOptions } from '@lockstep/processors-builtin/redactor'

const card = '4111 1111 1111 1111'

interface Outcome {
  readonly result: LoopResult
  readonly chunks: readonly Chunk[]
  /** What the model was given, call by call. */
  readonly prompts: readonly string[]
  /** What tools were given. */
  readonly inputs: readonly unknown[]
}

async function run(
  turns: readonly ScriptedTurn[],
  options: RedactorOptions,
  input = 'Go',
  retries = 0,
): Promise<Outcome> {
  const guard = redactor(options)
  const model = scriptedModel(turns)
  const messageList = new MessageList()
  messageList.add(input, 'input')
  const inputs: unknown[] = []
  const send = tool({
    inputSchema: z.object({ to: z.string() }),
    execute: given => {
      inputs.push(given)
      if (given.to === 'nobody') throw new Error(`no ${card}`)
      return { sentTo: given.to, from: 'me@example.com' }
    },
  })
  const loop = runLoop({
    model,
    messageList,
    tools: { send },
    maxProcessorRetries: retries,
    inputProcessors: [guard],
    outputProcessors: [guard],
  })
  const chunks: Chunk[] = []
  let next = await loop.next()
  for (; next.done !== true; next = await loop.next()) chunks.push(next.value)
  const prompts = model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt))
  return { result: next.value, chunks, prompts, inputs }
}

const letters = (text: string): ScriptedTurn => ({ text: text.split('') })

describe('a run with a redactor', () => {
  it('shows, stores and gives back the same redacted text', async () => {
    const { result, chunks } = await run([letters(`Pay with ${card}`)], {})
    const shown = chunks.map(chunk => (chunk.type === 'text-delta' ? chunk.payload.text : '')).join('')
    expect([shown, result.text]).toEqual(['Pay with [redacted card]', 'Pay with [redacted card]'])
    expect(JSON.stringify([result.messages, result.steps])).not.toContain('4111')
  })

  it.each(['', '.', ' and more'])('refuses what is blocked, with "%s" after it', async after => {
    const { result, chunks } = await run([letters(`Pay with ${card}${after}`)], { kinds: { card: 'block' } })
    expect([result.stopReason, result.tripwire?.processorId]).toEqual(['tripwire', 'redactor'])
    expect(JSON.stringify(chunks)).not.toContain('4111')
  })

  it('asks for another answer without it', async () => {
    const options = { kinds: { card: 'block' }, retry: true } as const
    const { result, prompts } = await run([letters(`Pay with ${card}`), 'Pay with your card'], options, 'Go', 1)
    expect([result.text, result.stopReason]).toEqual(['Pay with your card', 'completed'])
    expect(prompts[1]).toContain('has something in it that must not pass (card)')
  })

  it('lets the model work with tokens, tools and readers with values, over steps', async () => {
    const turns = [{ toolCalls: [{ toolName: 'send', input: { to: '<email-1>' } }] }, letters('Sent to <email-1>.')]
    const { result, prompts, inputs } = await run(turns, { kinds: { email: 'tokenize' } }, 'Write to joe@example.com')
    expect(inputs).toEqual([{ to: 'joe@example.com' }])
    expect(result.text).toBe('Sent to joe@example.com.')
    expect(prompts.join()).not.toContain('@')
    expect(prompts[1]).toContain('{"sentTo":"<email-1>","from":"<email-2>"}')
  })

  it('keeps what a tool throws from the stream, the prompt and the store', async () => {
    const turns = [{ toolCalls: [{ toolName: 'send', input: { to: 'nobody' } }] }, 'It failed.']
    const { result, chunks, prompts } = await run(turns, {})
    expect(JSON.stringify(prompts)).toContain('no [redacted card]')
    expect(JSON.stringify([prompts, result.messages])).not.toContain('4111')
    expect(chunks.flatMap(chunk => (chunk.type === 'tool-error' ? [String(chunk.payload.error)] : []))).toEqual([
      'Error: no [redacted card]',
    ])
  })
})
