import { jsonSchema, type ToolSet } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { MessageInput } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { promptCache, type PromptCacheOptions } from '@lockstep/processors-builtin/prompt-cache'
import { runWith, type ProcessorRun, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { turnsOf } from './long-conversation.ts'
import { runCount } from './redactor-run.ts'

processorContract(() => promptCache({ mark: { scripted: { cache: true } } }))

const ephemeral = { type: 'ephemeral' }
const tool = (more: object = {}) => ({ inputSchema: jsonSchema({}), execute: () => 'noon', ...more })
const tools = { lookup: tool(), act: tool() } as unknown as ToolSet
const call: ScriptedTurn = {
  toolCalls: [
    { toolName: 'lookup', input: {} },
    { toolName: 'act', input: {} },
  ],
}

async function run(
  options: PromptCacheOptions,
  provider: string,
  more: RunWithOptions = {},
  turns: readonly ScriptedTurn[] = [call, call, 'Yes.'],
) {
  const model = scriptedModel(turns, { modelId: 'anthropic/claude' })
  Object.defineProperty(model, 'provider', { value: provider })
  return runWith(promptCache(options), { model, tools, system: ['You help.'], ...more })
}

const isMarked = ({ providerOptions }: { readonly providerOptions?: object | undefined }) =>
  /cache/i.test(JSON.stringify(providerOptions ?? {}))
const partsOf = (message: ProcessorRun['prompts'][number][number]) =>
  typeof message.content === 'string' ? [] : message.content

/** Where a call has marks: the names of its tools, and its messages by place and role. */
const marksIn = ({ calls }: ProcessorRun) =>
  calls.map(({ tools: offered = [], prompt }) => [
    ...offered.flatMap(one => (one.type === 'function' && isMarked(one) ? [one.name] : [])),
    ...prompt.flatMap((message, place) =>
      [message, ...partsOf(message)].filter(isMarked).map(() => `${place} ${message.role}`),
    ),
  ])

describe('the breakpoints of the prompt cache', () => {
  it('are after the tools, after the instructions, where the last prompt ended, and at the end', async () => {
    expect(marksIn(await run({}, 'anthropic.messages'))).toEqual([
      ['act', '0 system', '1 user'],
      ['act', '0 system', '1 user', '3 tool'],
      ['act', '0 system', '3 tool', '5 tool'],
    ])
  })

  it('stay where the step before had its end, with whatever is said', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.nat(4), async (steps, past) => {
        const turns = [...Array.from({ length: steps }, () => call), 'Yes.']
        const outcome = await run({}, 'anthropic.messages', { history: turnsOf(past) }, turns)
        const ends = outcome.prompts.map(prompt => prompt.length - 1)
        for (const [index, marks] of marksIn(outcome).entries()) {
          expect(marks.length).toBeLessThanOrEqual(4)
          const places = marks.slice(2).map(mark => Number.parseInt(mark))
          expect(places.at(-1)).toBe(ends[index])
          expect(index === 0 || places[0] === ends[index - 1]).toBe(true)
        }
      }),
      { numRuns: runCount(30) },
    )
  })

  it.each<[string, PromptCacheOptions, object]>([
    ['anthropic.messages', {}, { anthropic: { cacheControl: ephemeral } }],
    ['vertex.anthropic.messages', { lifetime: '1h' }, { anthropic: { cacheControl: { ...ephemeral, ttl: '1h' } } }],
    ['amazon-bedrock', {}, { bedrock: { cachePoint: { type: 'default' } } }],
    ['gateway', {}, { anthropic: { cacheControl: ephemeral } }],
    ['openrouter.chat', { lifetime: '1h' }, { openrouter: { cacheControl: { ...ephemeral, ttl: '1h' } } }],
    ['mine', { mark: { mine: { cache: true } } }, { mine: { cache: true } }],
  ])('are written as %s reads them', async (provider, options, mark) => {
    const { calls } = await run(options, provider)
    expect([
      calls[0]!.prompt[0]!.providerOptions,
      (calls[0]!.tools!.at(-1) as { providerOptions: object }).providerOptions,
    ]).toEqual([mark, mark])
  })

  it('are on the last part of a message where a provider copies those of the message to each', async () => {
    const { calls } = await run({}, 'openrouter')
    const results = calls[1]!.prompt.at(-1)!
    expect([results.providerOptions, partsOf(results).map(isMarked)]).toEqual([undefined, [false, true]])
  })

  it('are not set for providers that cache by themselves', async () => {
    const { calls, result } = await run({}, 'openai.responses')
    expect(marksIn({ calls } as ProcessorRun).flat()).toEqual([])
    expect(result.trace.events).toEqual([])
  })

  it('follow a change of the model', async () => {
    const claude = scriptedModel(['Yes.'])
    Object.defineProperty(claude, 'provider', { value: 'anthropic' })
    const change: Processor = { id: 'change', processInputStep: () => ({ model: claude }) }
    await runWith([change, promptCache()], { model: [], tools })
    expect(isMarked(claude.doStreamCalls[0]!.prompt[0]!)).toBe(true)
  })

  const cacheControl = { anthropic: { cacheControl: ephemeral } }
  const marked = (count: number): readonly MessageInput[] =>
    Array.from(
      { length: count },
      (_, index) => ({ role: 'user', content: `${index}`, providerOptions: cacheControl }) as const,
    )

  it.each([0, 1, 2, 3, 4, 5])('are four at most together with %i that are there', async count => {
    const outcome = await run({}, 'anthropic', { history: marked(count) })
    const own = Array.from({ length: count }, (_, index) => `${index + 1} user`)
    for (const [index, marks] of marksIn(outcome).entries()) {
      expect(marks).toHaveLength(Math.max(count, Math.min(4, count + (index === 0 ? 3 : 4))))
      expect(marks).toEqual(expect.arrayContaining(own))
    }
  })

  it('are at the end rather than in the midst when there is no room for all', async () => {
    const marks = marksIn(await run({}, 'anthropic', { history: marked(2) }))
    expect(marks[2]).toEqual(['act', '1 user', '2 user', '7 tool'])
  })

  it('leave what is marked, and other options, as they are', async () => {
    const own = { anthropic: { cacheControl: { ...ephemeral, ttl: '1h' }, effort: 'high' }, other: { a: 1 } }
    const given = { lookup: tool({ providerOptions: { anthropic: { deferLoading: true } } }) } as unknown as ToolSet
    const { calls } = await run(
      {},
      'anthropic',
      { tools: given, history: [{ role: 'user', content: 'a', providerOptions: own }], input: 'b' },
      ['Yes.'],
    )
    expect((calls[0]!.tools![0] as { providerOptions: object }).providerOptions).toEqual({
      anthropic: { deferLoading: true, cacheControl: ephemeral },
    })
    expect(JSON.stringify(calls[0]!.prompt).match(/"ttl":"1h"/g)).toHaveLength(1)
    expect(given['lookup']!.providerOptions).toEqual({ anthropic: { deferLoading: true } })
  })

  it('pass over instructions that were added for a step', async () => {
    const note: Processor = {
      id: 'note',
      processInputStep: ({ stepNumber, systemMessages }) =>
        stepNumber === 0
          ? undefined
          : { systemMessages: [...systemMessages, { role: 'system', content: `Step ${stepNumber}.` }] },
    }
    const { calls } = await run({}, 'anthropic', { others: { inputProcessors: [note] } })
    expect(calls.map(({ prompt }) => prompt.filter(({ role }) => role === 'system').map(isMarked))).toEqual([
      [true],
      [true, false],
      [true, false],
    ])
  })

  it('are on the last tool that a step has, and not on a tool of the provider', async () => {
    const own = { type: 'provider', id: 'anthropic.web_search', args: {}, inputSchema: jsonSchema({}) }
    const given = { ...tools, search: own } as unknown as ToolSet
    expect(marksIn(await run({}, 'anthropic', { tools: given }))[0]![0]).toBe('act')
    expect(marksIn(await run({}, 'anthropic', { activeTools: ['lookup'] }))[0]![0]).toBe('lookup')
    expect(marksIn(await run({}, 'anthropic', { tools: {}, system: [] }, ['Yes.']))).toEqual([['0 user']])
  })

  it('leave the tools the same ones in each step', async () => {
    const seen: unknown[] = []
    const probe: Processor = { id: 'probe', processInputStep: args => void seen.push(args.tools) }
    await run({}, 'anthropic', { others: { inputProcessors: [probe] } })
    expect([seen.length, new Set(seen).size]).toEqual([3, 1])
  })

  it('are in no conversation', async () => {
    const { result } = await run({}, 'anthropic')
    expect(JSON.stringify(result.messageList.get.all.db())).not.toContain('cacheControl')
  })

  it('are a builtin that can be named', async () => {
    expect((await loadBuiltin(['prompt-cache', { lifetime: '1h' }])).id).toBe('prompt-cache')
  })
})
