import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import type { MessageInput } from '@lockstep/message-list'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { tokenLimiter } from '@lockstep/processors-builtin/token-limiter'
import { toolFilter, type ToolFilterOptions } from '@lockstep/processors-builtin/tool-filter'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, turnsOf, words } from './long-conversation.ts'
import { runCount } from './redactor-run.ts'

processorContract(() => toolFilter())

const call = (toolName: string, toolCallId: string) => ({ type: 'tool-call', toolName, toolCallId, input: {} }) as const
const result = (toolName: string, toolCallId: string, value: string): MessageInput => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolName, toolCallId, output: { type: 'text', value } }],
})
const says = (...content: readonly object[]): MessageInput => ({
  role: 'assistant',
  content: content as never,
})
const reasoning = (text: string) => ({ type: 'reasoning', text })
const text = (said: string) => ({ type: 'text', text: said })

async function run(options: ToolFilterOptions, more: RunWithOptions = {}) {
  const outcome = await runWith(toolFilter(options), {
    model: ['Yes.'],
    history: turnsOf(3),
    input: 'question 3',
    ...more,
  })
  expect(outcome.prompts.flatMap(orphansIn)).toEqual([])
  return { ...outcome, said: saidIn(outcome.prompts.at(-1)!), prompt: JSON.stringify(outcome.prompts.at(-1)) }
}

const mixed: readonly MessageInput[] = [
  { role: 'user', content: 'question 0' },
  says(reasoning('thought 1'), call('browse_page', 'a')),
  result('browse_page', 'a', 'result 0'),
  says(reasoning('thought 2'), text('Let me look.'), call('browse_link', 'b'), call('lookup', 'c')),
  result('browse_link', 'b', 'result 1'),
  result('lookup', 'c', 'result 2'),
  says(reasoning('thought 3'), text('answer 0')),
]

describe('the tool filter', () => {
  it('leaves the calls of earlier turns out, with their results, and keeps what was said', async () => {
    const { said, prompt } = await run({})
    expect(said).toEqual(['question 0', 'answer 0', 'question 1', 'answer 1', 'question 2', 'answer 2', 'question 3'])
    expect(prompt).not.toMatch(/tool-call|tool-result/)
  })

  it('keeps the calls of the run itself, so that it does not make them again', async () => {
    const tools = { lookup: { inputSchema: jsonSchema({}), execute: () => 'result 3' } } as unknown as ToolSet
    const model = [{ toolCalls: [{ toolName: 'lookup', input: {} }] }, 'answer 3']
    const { prompts } = await run({}, { model, tools })
    expect(saidIn(prompts[1]!).slice(-2)).toEqual(['question 3', 'result 3'])
  })

  it('keeps all of them in the conversation', async () => {
    const { result: done } = await run({})
    const stored = JSON.stringify(done.messageList.get.all.db())
    expect(stored.match(/result \d/g)).toEqual(['result 0', 'result 1', 'result 2'])
  })

  it('leaves the calls of named tools out, by pattern too', async () => {
    const history = mixed
    expect((await run({ tools: ['browse_*'] }, { history })).said).toEqual([
      'question 0',
      'result 2',
      'answer 0',
      'question 3',
    ])
    expect((await run({ exclude: ['browse_link'] }, { history })).said).toEqual([
      'question 0',
      'result 1',
      'answer 0',
      'question 3',
    ])
    expect((await run({ tools: [] }, { history })).said).toHaveLength(6)
  })

  it('keeps the calls of the last turns, and of pinned ones', async () => {
    expect((await run({ keepTurns: 1 })).said.filter(said => said.startsWith('result'))).toEqual(['result 2'])
    const pin: ToolFilterOptions['pin'] = ({ content }) => JSON.stringify(content).includes('answer 0')
    expect((await run({ pin })).said.filter(said => said.startsWith('result'))).toEqual(['result 0'])
  })

  it('leaves the reasoning out that led to nothing but such a call', async () => {
    const { prompt } = await run({}, { history: mixed })
    expect(prompt.match(/thought \d/g)).toEqual(['thought 2', 'thought 3'])
  })

  it('leaves room that a token limiter after it can use', async () => {
    const history = turnsOf(3, 60)
    const limiter = tokenLimiter({ limit: 500 })
    const { said } = await run({}, { history, others: { inputProcessors: [limiter] } })
    expect(said).toContain('question 0')
    const { prompts } = await runWith(limiter, { model: ['Yes.'], history, input: 'question 3' })
    expect(saidIn(prompts[0]!)).not.toContain('question 0')
  })

  it('gives the same messages again in each step, for what is known of them', async () => {
    const seen: unknown[][] = []
    const probe = {
      id: 'probe',
      processLLMRequest: ({ prompt }: { prompt: readonly unknown[] }) => void seen.push([...prompt]),
    }
    const tools = { lookup: { inputSchema: jsonSchema({}), execute: () => 'result 3' } } as unknown as ToolSet
    const model = [{ toolCalls: [{ toolName: 'lookup', input: {} }] }, 'answer 3']
    await run({}, { model, tools, history: mixed, others: { inputProcessors: [probe] } })
    expect(seen[0]!.every((message, index) => message === seen[1]![index])).toBe(true)
  })

  it('leaves no half of a pair, whatever was said', async () => {
    const turn = fc.array(fc.tuple(fc.constantFrom('browse', 'lookup'), fc.boolean()), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 5 }), fc.nat(3), async (turns, keepTurns) => {
        const history = turns.flatMap((calls, index): readonly MessageInput[] => [
          { role: 'user', content: `question ${index}` },
          ...calls.flatMap(([name, alone], at) => [
            says(...(alone ? [] : [reasoning('hm'), text('so')]), call(name, `${index}-${at}`)),
            result(name, `${index}-${at}`, words(3)),
          ]),
          says(text(`answer ${index}`)),
        ])
        const { said, prompt } = await run({ tools: ['browse'], keepTurns }, { history })
        expect(said.filter(one => one.startsWith('question'))).toHaveLength(turns.length + 1)
        const kept = turns.flatMap((calls, index) =>
          calls.filter(([name]) => name === 'lookup' || index >= turns.length - keepTurns),
        )
        expect(prompt.match(/"tool-call"/g)?.length ?? 0).toBe(kept.length)
      }),
      { numRuns: runCount(50) },
    )
  })

  it('reads ten thousand messages once a step', async () => {
    const { said } = await run({}, { history: turnsOf(2_500, 1) })
    expect(said.filter(one => one.startsWith('result'))).toEqual([])
  })

  it('refuses a number of turns that is none', () => {
    expect(() => toolFilter({ keepTurns: -1 })).toThrow('Calls cannot stay in -1 turns.')
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['tool-filter', { keepTurns: 1 }])).id).toBe('tool-filter')
  })
})
