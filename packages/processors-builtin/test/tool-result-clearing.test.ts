import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import { loadBuiltin } from '@lockstep/processors-builtin'
import {
  toolResultClearing,
  type ClearedResults,
  type ToolResultClearingOptions,
} from '@lockstep/processors-builtin/tool-result-clearing'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, turnsOf, words } from './long-conversation.ts'

processorContract(() => toolResultClearing({ trigger: 100, keep: 1, atLeast: 20 }), { toolResults: [words(60)] })

let count = 0
const tools = {
  lookup: { inputSchema: jsonSchema({}), execute: () => `result ${++count} ${words(60)}` },
  ask: { inputSchema: jsonSchema({}), execute: () => `result ${++count} ${words(60)}` },
} as unknown as ToolSet
const call = (toolName: string): ScriptedTurn => ({ toolCalls: [{ toolName, input: {} }] })

async function run(options: ToolResultClearingOptions, more: RunWithOptions = {}) {
  count = 0
  const told: ClearedResults[] = []
  const clearing = toolResultClearing({
    trigger: 200,
    keep: 2,
    atLeast: 0,
    onClear: event => told.push(event),
    ...options,
  })
  const model = [...Array.from({ length: 6 }, () => call('lookup')), 'Yes.']
  const outcome = await runWith(clearing, { model, tools, ...more })
  const results = outcome.prompts.map(prompt => saidIn(prompt).filter(said => said.startsWith('result')))
  return { ...outcome, told, results }
}

describe('tool result clearing', () => {
  it('shows the newest results only, once the conversation is long', async () => {
    const { results, prompts, told } = await run({})
    expect(results.map(list => list.join())).toEqual([
      '',
      'result 1',
      'result 1,result 2',
      'result 2,result 3',
      'result 3,result 4',
      'result 4,result 5',
      'result 5,result 6',
    ])
    expect(told.map(({ toolCallIds }) => toolCallIds)).toEqual([['call-1'], ['call-2'], ['call-3'], ['call-4']])
    for (const prompt of prompts) expect(orphansIn(prompt)).toEqual([])
    expect(JSON.stringify(prompts.at(-1)).match(/cleared to save room/g)).toHaveLength(4)
  })

  it('clears no result that the model has not answered to', async () => {
    const four = { toolCalls: Array.from({ length: 4 }, () => ({ toolName: 'lookup', input: {} })) }
    const { results } = await run({ keep: 1, trigger: 0 }, { model: [call('lookup'), four, call('lookup'), 'Yes.'] })
    expect(results.map(list => list.join())).toEqual([
      '',
      'result 1',
      'result 2,result 3,result 4,result 5',
      'result 6',
    ])
  })

  it('keeps the results in the conversation', async () => {
    const { result } = await run({})
    const stored = JSON.stringify(result.messageList.get.all.db())
    expect(stored.match(/result \d/g)).toHaveLength(6)
    expect(stored).not.toContain('cleared')
    expect(result.toolResults).toHaveLength(6)
  })

  it('clears the results of earlier runs as well', async () => {
    const { prompts } = await run({ keep: 3 }, { history: turnsOf(8, 60), model: ['Yes.'] })
    expect(saidIn(prompts[0]!).filter(said => said.startsWith('result'))).toEqual(['result 5', 'result 6', 'result 7'])
    expect(saidIn(prompts[0]!)).toContain('answer 0')
  })

  it('waits until it is worth it', async () => {
    const { results } = await run({ atLeast: 100, keep: 1 })
    expect(results.map(list => list.length)).toEqual([0, 1, 2, 3, 1, 2, 3])
    expect((await run({ trigger: 100_000 })).results.at(-1)).toHaveLength(6)
  })

  it('leaves tools alone that it is told to, and results that are as short as the placeholder', async () => {
    const model = [call('ask'), call('lookup'), call('lookup'), 'Yes.']
    const { results } = await run({ exclude: ['ask'], keep: 0 }, { model })
    expect(results.at(-1)).toEqual(['result 1', 'result 3'])
    const short = { lookup: { inputSchema: jsonSchema({}), execute: () => `result ${++count}` } } as unknown as ToolSet
    expect((await run({ trigger: 0, keep: 0 }, { tools: short })).results.at(-1)).toHaveLength(6)
  })

  it('says what it is told to say in their place', async () => {
    const { prompts } = await run({ placeholder: 'gone' })
    expect(JSON.stringify(prompts.at(-1)).match(/"gone"/g)).toHaveLength(4)
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin('tool-result-clearing')).id).toBe('tool-result-clearing')
  })
})
