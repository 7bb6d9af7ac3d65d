import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import { budget, type BudgetEvent, type BudgetOptions } from '@lockstep/processors-builtin/budget'
import { processorContract } from '@lockstep/testing/vitest'

processorContract(() => budget({ steps: 2, toolCalls: 1, tokens: 40, now: () => 0 }))

let count = 0
const call = (...toolNames: readonly string[]): ScriptedTurn => ({
  toolCalls: toolNames.map(toolName => ({ toolName, input: { n: ++count } })),
  usage: { input: 100, output: 20 },
})
const calls = (times: number) => Array.from({ length: times }, () => call('read'))

interface Outcome {
  readonly result: LoopResult
  readonly events: readonly BudgetEvent[]
  readonly asked: readonly { readonly system: readonly string[]; readonly toolChoice: string | undefined }[]
  readonly ran: readonly string[]
}

async function run(
  turns: readonly ScriptedTurn[],
  options: BudgetOptions,
  others: readonly Processor[] = [],
): Promise<Outcome> {
  const events: BudgetEvent[] = []
  const ran: string[] = []
  const guard = budget({ ...options, onLimit: event => events.push(event) })
  const model = scriptedModel(turns)
  const messageList = new MessageList()
  messageList.add('Go', 'input')
  const named = (name: string) => tool({ inputSchema: z.object({ n: z.number() }), execute: () => ran.push(name) })
  const chunks = runLoop({
    model,
    messageList,
    maxSteps: 30,
    maxProcessorRetries: 5,
    tools: { read: named('read'), write: named('write') },
    inputProcessors: [guard],
    outputProcessors: [guard, ...others] as never,
  })
  let next = await chunks.next()
  while (next.done !== true) next = await chunks.next()
  const asked = model.doStreamCalls.map(({ prompt, toolChoice }) => ({
    system: prompt.flatMap(({ role, content }) => (role === 'system' ? [content as string] : [])),
    toolChoice: toolChoice?.type,
  }))
  return { result: next.value, events, asked, ran }
}

const actions = ({ events }: Outcome) => events.map(({ limit, used, of, action }) => [limit, used, of, action])

describe('a budget', () => {
  it('of steps warns, then asks for the answer in the last one', async () => {
    const outcome = await run([...calls(4), 'Enough.'], { steps: 5, warnAt: 0.6 })
    expect(actions(outcome)).toEqual([
      ['steps', 3, 5, 'warn'],
      ['steps', 4, 5, 'answer'],
    ])
    expect(outcome.asked.map(({ system }) => system)).toEqual([
      [],
      [],
      [],
      ['Of 5 steps for this run 3 are used. Come to an end soon.'],
      ['Of 5 steps for this run 4 are used. Answer now with what you have.'],
    ])
    expect(outcome.asked.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'auto', 'none'])
    expect([outcome.result.text, outcome.result.stopReason]).toEqual(['Enough.', 'completed'])
  })

  it('stops a model that goes on all the same', async () => {
    const { result, events } = await run(calls(9), { steps: 3 })
    expect([result.stopReason, result.steps.length]).toEqual(['tripwire', 3])
    expect(result.tripwire).toMatchObject({
      processorId: 'budget',
      reason: 'Of 3 steps for this run 3 are used.',
      metadata: { limit: 'steps', used: 3, of: 3, action: 'stop' },
    })
    expect(events.at(-1)).toMatchObject({ action: 'stop' })
  })

  it('of model calls counts attempts that were refused', async () => {
    const picky: Processor = {
      id: 'picky',
      processOutputStep: ({ abort, retryCount }) => (retryCount < 3 ? abort('Again.', { retry: true }) : undefined),
    }
    const { result, asked } = await run(['a', 'b', 'c', 'd'], { modelCalls: 2 }, [picky])
    expect([result.stopReason, asked.length]).toEqual(['tripwire', 2])
    expect((await run(['a', 'b', 'c', 'd'], { modelCalls: 5 }, [picky])).result.text).toBe('d')
  })

  it('of tokens lets one answer be given beyond it, and no more', async () => {
    const outcome = await run([...calls(2), 'Enough.'], { tokens: 200, warnAt: 1 })
    expect([actions(outcome), outcome.result.text]).toEqual([[['tokens', 240, 200, 'answer']], 'Enough.'])
    expect((await run(calls(9), { outputTokens: 40 })).result.steps.length).toBe(3)
  })

  it('of tokens counts refused attempts and what processors ask models', async () => {
    const picky: Processor = {
      id: 'picky',
      processOutputStep: ({ abort, retryCount }) => (retryCount < 1 ? abort('Again.', { retry: true }) : undefined),
    }
    const refused = await run([call('read'), 'yes'], { tokens: 240, warnAt: 0.5 }, [picky])
    expect(actions(refused)).toEqual([['tokens', 120, 240, 'warn']])
    const judge: Processor = {
      id: 'judge',
      async processOutputStep({ callModel }) {
        await callModel({ model: scriptedModel([{ text: 'fine', usage: { input: 150, output: 0 } }]), prompt: 'Well?' })
      },
    }
    const judged = await run([...calls(1), 'yes'], { tokens: 400, warnAt: 0.5 }, [judge])
    expect(actions(judged)).toEqual([['tokens', 270, 400, 'warn']])
  })

  it('of money counts what was in the cache at its own price', async () => {
    const price = { input: 1_000, output: 10_000 }
    const outcome = await run([...calls(3), 'Enough.'], { money: 0.8, price, warnAt: 0.5 })
    expect(actions(outcome).map(([limit, used, , action]) => [limit, Number(used).toFixed(2), action])).toEqual([
      ['money', '0.60', 'warn'],
      ['money', '0.90', 'answer'],
    ])
    expect(outcome.asked.at(-1)!.system).toEqual([
      'Of the money for this run 0.9 of 0.8 are spent. Answer now with what you have.',
    ])
    expect(() => budget({ money: 1 })).toThrow(BuiltinError)
  })

  it('of tool calls refuses those beyond it, also within a step', async () => {
    const outcome = await run([call('read', 'write', 'read'), 'Enough.'], { toolCalls: 2 })
    expect(outcome.ran).toEqual(['read', 'write'])
    expect(actions(outcome)).toEqual([
      ['toolCalls', 2, 2, 'deny'],
      ['toolCalls', 2, 2, 'answer'],
    ])
  })

  it('of tool calls counts one under an id that was used before, and one with the name of what objects have', async () => {
    const again = { toolCalls: [{ toolName: 'read', input: { n: 1 }, toolCallId: 'same' }] }
    expect((await run([again, again, 'Done.'], { toolCalls: { read: 1 } })).ran).toEqual(['read'])
    expect((await run([call('toString'), 'Done.'], { toolCalls: { read: 1 } })).events).toEqual([])
  })

  it('of tool calls counts those of attempts that passed', async () => {
    let refusals = 0
    const picky: Processor = {
      id: 'picky',
      processToolCall: ({ abort, retryCount }) => void (retryCount < 2 && abort(`No ${++refusals}.`, { retry: true })),
    }
    const outcome = await run([call('read'), call('read'), call('read'), 'Done.'], { toolCalls: 2 }, [picky])
    expect([outcome.ran, refusals, outcome.result.text]).toEqual([['read'], 2, 'Done.'])
    expect(actions(outcome)).toEqual([])
  })

  it('of the calls of one tool leaves the others', async () => {
    const outcome = await run([call('write'), call('write', 'read'), call('read'), 'Done.'], {
      toolCalls: { write: 1 },
    })
    expect([outcome.ran, outcome.result.text]).toEqual([['write', 'read', 'read'], 'Done.'])
    expect(JSON.stringify(outcome.asked.length)).toBe('4')
    expect(actions(outcome)).toEqual([['toolCalls', 1, 1, 'deny']])
  })

  it('of time looks at the clock before each step', async () => {
    let time = 0
    const outcome = await run([...calls(3), 'Enough.'], { wallClockMs: 100, now: () => (time += 45) })
    expect(actions(outcome)).toEqual([
      ['wallClockMs', 90, 100, 'warn'],
      ['wallClockMs', 135, 100, 'answer'],
    ])
  })

  it('says nothing of what it is not near to', async () => {
    const outcome = await run([...calls(2), 'Done.'], { steps: 10, tokens: 10_000, toolCalls: 9, wallClockMs: 1e9 })
    expect([outcome.events, outcome.result.text]).toEqual([[], 'Done.'])
  })

  it.each([
    [{}, 'A budget with the options [] has no limit.'],
    [{ step: 3 }, 'A budget with the options ["step"] has no limit. Give one of steps, modelCalls'],
    [{ steps: Number.NaN }, 'The budget has steps: NaN. Give a number, 0 or more.'],
    [{ steps: '3' }, 'The budget has steps: 3.'],
    [{ tokens: null }, 'The budget has tokens: null.'],
    [{ tokens: -1 }, 'The budget has tokens: -1.'],
    [{ toolCalls: { search: 'two' } }, 'The budget has search: two.'],
    [{ money: 1, price: { input: 1, output: 'x' } }, 'The budget has output: x.'],
    [{ steps: 3, warnAt: Number.NaN }, 'The budget has warnAt: NaN.'],
  ])('refuses %j, which would limit nothing', (options, message) => {
    expect(() => budget(options as BudgetOptions)).toThrow(expect.objectContaining({ code: 'invalid-limit' }))
    expect(() => budget(options as BudgetOptions)).toThrow(message)
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['budget', { steps: 5 }])).id).toBe('budget')
  })
})
