import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import type { MessageInput } from '@lockstep/message-list'
import type { ProcessLLMRequestArgs } from '@lockstep/processors'
import { loadBuiltin } from '@lockstep/processors-builtin'
import {
  reasoningPruner,
  type PrunedReasoning,
  type ReasoningPrunerOptions,
} from '@lockstep/processors-builtin/reasoning-pruner'
import { tokenLimiter } from '@lockstep/processors-builtin/token-limiter'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, words } from './long-conversation.ts'
import { runCount } from './redactor-run.ts'

processorContract(() => reasoningPruner({ atLeast: 0, keepSteps: 1 }), {
  scripts: [
    [
      { reasoning: words(20), toolCalls: [{ toolName: 'lookup', input: {} }] },
      { reasoning: words(20), toolCalls: [{ toolName: 'lookup', input: {} }] },
      { reasoning: words(20), text: 'Done.' },
    ],
  ],
})

type Prompt = ProcessLLMRequestArgs['prompt']
type Marks = Readonly<Record<string, object>>

const asks = (text: string): MessageInput => ({ role: 'user', content: text })
const says = (...content: readonly object[]): MessageInput => ({ role: 'assistant', content: content as never })
const marked = (part: object, providerOptions?: Marks) => (providerOptions ? { ...part, providerOptions } : part)
const thinks = (text: string, marks?: Marks) => marked({ type: 'reasoning', text }, marks)
const text = (said: string, marks?: Marks) => marked({ type: 'text', text: said }, marks)
const calls = (toolCallId: string, marks?: Marks) =>
  marked({ type: 'tool-call', toolName: 'lookup', toolCallId, input: {} }, marks)
const gives = (toolCallId: string): MessageInput => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolName: 'lookup', toolCallId, output: { type: 'text', value: 'found' } }],
})
const anthropic = (signature: string): Marks => ({ anthropic: { signature } })
const openai = (itemId: string): Marks => ({ openai: { itemId } })

/** Turns without calls, each with a thought of 30 words: `thought 0`, … */
const turnsOf = (count: number): readonly MessageInput[] =>
  Array.from({ length: count }, (_, index) => [
    asks(`question ${index}`),
    says(thinks(`thought ${index} ${words(30)}`), text(`answer ${index}`)),
  ]).flat()

const tools = { lookup: { inputSchema: jsonSchema({}), execute: () => 'found' } } as unknown as ToolSet

const thoughtsIn = (prompt: Prompt) => JSON.stringify(prompt).match(/thought \w+/g) ?? []
const partsIn = (prompt: Prompt): readonly Record<string, unknown>[] =>
  prompt.flatMap(({ role, content }) => (role === 'assistant' ? (content as never[]) : []))

async function run(options: ReasoningPrunerOptions = {}, more: RunWithOptions = {}) {
  const told: PrunedReasoning[] = []
  const pruner = reasoningPruner({ atLeast: 0, onPrune: pruned => told.push(pruned), ...options })
  const outcome = await runWith(pruner, { model: ['Yes.'], history: turnsOf(3), tools, ...more })
  expect(outcome.prompts.flatMap(orphansIn)).toEqual([])
  const prompt = outcome.prompts.at(-1)!
  return { ...outcome, told, prompt, thoughts: thoughtsIn(prompt), parts: partsIn(prompt) }
}

describe('the reasoning pruner', () => {
  it('leaves the reasoning of earlier turns out, and nothing else', async () => {
    const { thoughts, prompt } = await run()
    expect(thoughts).toEqual([])
    expect(saidIn(prompt)).toEqual(['question 0', 'answer 0', 'question 1', 'answer 1', 'question 2', 'answer 2'])
  })

  it('keeps it in the conversation', async () => {
    const { result } = await run()
    expect(JSON.stringify(result.messageList.get.all.db()).match(/thought \d/g)).toHaveLength(3)
  })

  it('says once how many tokens the prompts of a run are spared', async () => {
    const call = { toolCalls: [{ toolName: 'lookup', input: {} }] }
    const { told } = await run({}, { model: [call, call, 'Yes.'] })
    expect(told).toEqual([{ partCount: 3, tokens: expect.any(Number) }])
    expect(told[0]!.tokens).toBeGreaterThanOrEqual(90)
    expect((await run({ countTokens: said => said.length })).told[0]!.tokens).toBeGreaterThan(400)
  })

  it('keeps that of the last turns, and of pinned ones', async () => {
    expect((await run({ keepTurns: 2 })).thoughts).toEqual(['thought 1', 'thought 2'])
    expect((await run({ keepTurns: Infinity })).thoughts).toHaveLength(3)
    const pin: ReasoningPrunerOptions['pin'] = ({ content }) => JSON.stringify(content).includes('answer 0')
    expect((await run({ pin })).thoughts).toEqual(['thought 0'])
  })

  it('leaves files of reasoning out as well', async () => {
    const file = { type: 'reasoning-file', mediaType: 'image/png', data: 'data:image/png;base64,AAAA' }
    const { prompt } = await run({}, { history: [asks('question 0'), says(file, text('answer 0'))] })
    expect(JSON.stringify(prompt)).not.toContain('reasoning-file')
  })

  it('keeps the run itself whole, signed or not', async () => {
    const first = { reasoning: 'thought own', toolCalls: [{ toolName: 'lookup', input: {} }] }
    expect((await run({}, { model: [first, first, 'Yes.'] })).thoughts).toEqual(['thought own', 'thought own'])
  })

  it('leaves that of earlier steps out when it is told to, but no signature', async () => {
    const step = (thought: string, signature?: string) => ({
      parts: [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: `thought ${thought}` },
        { type: 'reasoning-end', id: 'r', ...(signature ? { providerMetadata: { anthropic: { signature } } } : {}) },
        { type: 'tool-call', toolCallId: thought, toolName: 'lookup', input: '{}' },
        { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: usage },
      ] as never,
    })
    const model = [step('a'), step('b', 'sig'), step('c'), step('d'), 'Yes.']
    const { prompts } = await run({ keepSteps: 1 }, { model })
    expect(prompts.map(thoughtsIn)).toEqual([
      [],
      ['thought a'],
      ['thought b'],
      ['thought b', 'thought c'],
      ['thought b', 'thought d'],
    ])
  })

  it('leaves a prompt alone whose history its provider keeps', async () => {
    for (const known of [{ conversation: 'c' }, { previousResponseId: 'r' }])
      expect((await run({}, { providerOptions: { openai: known } })).thoughts).toHaveLength(3)
  })

  it('leaves room that a token limiter after it can use', async () => {
    const others = { inputProcessors: [tokenLimiter({ limit: 120 })] }
    expect(saidIn((await run({}, { others })).prompt)).toContain('question 0')
    expect(saidIn((await run({ keepTurns: 3 }, { others })).prompt)).not.toContain('question 0')
  })

  it('gives the same messages again in each step, for what is known of them', async () => {
    const seen: unknown[][] = []
    const probe = { id: 'probe', processLLMRequest: ({ prompt }: { prompt: Prompt }) => void seen.push([...prompt]) }
    const model = [{ toolCalls: [{ toolName: 'lookup', input: {} }] }, 'Yes.']
    await run({}, { model, others: { inputProcessors: [probe] } })
    expect(seen[0]!.every((message, index) => message === seen[1]![index])).toBe(true)
  })

  it('refuses numbers that are none', () => {
    expect(() => reasoningPruner({ keepTurns: -1 })).toThrow('Reasoning cannot stay in -1 turns.')
    expect(() => reasoningPruner({ keepSteps: 0 })).toThrow('Reasoning cannot stay in 0 steps.')
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['reasoning-pruner', { keepTurns: 1 }])).id).toBe('reasoning-pruner')
  })

  it('reads ten thousand messages once a step', async () => {
    expect((await run({}, { history: turnsOf(5_000) })).thoughts).toEqual([])
  })
})

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

describe('what providers want back', () => {
  const looped = (marks?: Marks) => [
    asks('question 0'),
    says(thinks('thought 0', marks), calls('a')),
    gives('a'),
    says(thinks('thought 1', marks), text('answer 0')),
  ]

  it('leaves signed thoughts of earlier turns out, calls or not', async () => {
    expect((await run({}, { history: looped(anthropic('sig')) })).thoughts).toEqual([])
    expect((await run({}, { history: looped({ anthropic: { redactedData: 'x' } }) })).thoughts).toEqual([])
  })

  it('keeps plain thoughts of turns with calls, which some refuse to go on without', async () => {
    expect((await run({}, { history: looped() })).thoughts).toEqual(['thought 0', 'thought 1'])
    expect((await run({ withCalls: 'all' }, { history: looped() })).thoughts).toEqual([])
    expect((await run({ withCalls: 'none' }, { history: looped(anthropic('sig')) })).thoughts).toHaveLength(2)
  })

  it('keeps those of a loop of tools that was broken off, until something follows it', async () => {
    const broken = looped(anthropic('sig')).slice(0, 3)
    expect((await run({}, { history: broken })).thoughts).toEqual(['thought 0'])
    expect((await run({}, { history: [...broken, ...turnsOf(1)] })).thoughts).toEqual([])
  })

  it('leaves signatures of calls and texts where they are', async () => {
    const google = { google: { thoughtSignature: 'abc' } }
    const history = [
      asks('question 0'),
      says(thinks('thought 0', google), calls('a', google)),
      gives('a'),
      says(text('answer 0', google)),
    ]
    const { parts } = await run({}, { history })
    expect(parts.map(({ type, providerOptions }) => [type, providerOptions])).toEqual([
      ['tool-call', google],
      ['text', google],
    ])
  })

  it('refers to no item whose reasoning is not there', async () => {
    const history = [
      asks('question 0'),
      says(thinks('thought 0', openai('rs_1')), text('Wait.', openai('msg_1')), calls('a', openai('fc_1'))),
      gives('a'),
      says(thinks('thought 1', openai('rs_2')), text('answer 0', { openai: { itemId: 'msg_2', phase: 'final' } })),
    ]
    const { parts } = await run({}, { history })
    expect(parts.map(({ type, providerOptions }) => [type, providerOptions])).toEqual([
      ['text', { openai: {} }],
      ['tool-call', { openai: {} }],
      ['text', { openai: { phase: 'final' } }],
    ])
  })

  it('keeps reasoning that led to an item which is only sent as a reference', async () => {
    const search = { ...calls('ws_1', openai('ws_1')), providerExecuted: true }
    const found = {
      type: 'tool-result',
      toolName: 'lookup',
      toolCallId: 'ws_1',
      output: { type: 'text', value: 'found' },
    }
    const history = [
      asks('question 0'),
      says(thinks('thought 0', openai('rs_1')), search, found, text('answer 0', openai('msg_1'))),
      ...turnsOf(1),
    ]
    const { thoughts, parts } = await run({}, { history })
    expect(thoughts).toEqual(['thought 0'])
    expect(parts.at(3)).toMatchObject({ type: 'text', providerOptions: openai('msg_1') })
    const shell = [
      asks('question 0'),
      says(thinks('thought 0', openai('rs_1')), calls('a', openai('lsh_1'))),
      gives('a'),
      ...turnsOf(1),
    ]
    expect((await run({}, { history: shell })).thoughts).toEqual(['thought 0'])
  })

  it('leaves no message that is empty, or has nothing but an id', async () => {
    const history = [
      asks('question 0'),
      says(thinks('thought 0', openai('rs_1')), text('', openai('msg_1'))),
      ...turnsOf(1),
    ]
    const { prompt } = await run({}, { history })
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'user'])
  })
})

describe('what caches hold', () => {
  it('waits until it is worth it', async () => {
    expect((await run({ atLeast: 80 })).thoughts).toEqual([])
    expect((await run({ atLeast: 100 })).thoughts).toHaveLength(3)
    const { thoughts, told } = await run({ atLeast: 100 }, { history: turnsOf(5) })
    expect(thoughts).toEqual(['thought 4'])
    expect(told).toHaveLength(1)
  })

  it('changes what prompts of later runs begin with no more than once for so many tokens', async () => {
    const prompts: Prompt[] = []
    for (let count = 0; count < 24; count++)
      prompts.push((await run({ atLeast: 150 }, { history: turnsOf(count), input: `question ${count}` })).prompt)
    const changes = prompts.slice(1).filter((prompt, index) => {
      const before = prompts[index]!
      return JSON.stringify(prompt.slice(0, before.length)) !== JSON.stringify(before)
    })
    expect(changes.length).toBeGreaterThan(2)
    expect(changes.length).toBeLessThanOrEqual(24 / 4)
  })

  const mark = fc.constantFrom<Marks | undefined>(undefined, anthropic('s'), { google: { thoughtSignature: 'g' } })
  const step = fc.record({ mark, thinks: fc.boolean(), isItem: fc.boolean(), callCount: fc.nat(2) })
  const script = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 6 })

  it('keeps prompts valid, and beginnings through a run, whatever was thought', async () => {
    await fc.assert(
      fc.asyncProperty(script, fc.nat(3), fc.nat(60), async (turns, keepTurns, atLeast) => {
        const history = turns.flatMap((steps, turn) => [
          asks(`question ${turn}`),
          ...steps.flatMap((given, at) => {
            const id = `${turn}-${at}`
            const own = (kind: string, index = 0) => (given.isItem ? openai(`${kind}_${id}-${index}`) : given.mark)
            return [
              says(
                ...(given.thinks ? [thinks(`thought ${turn} ${words(10)}`, own('rs'))] : []),
                text(`so ${id}`, given.isItem ? own('msg') : undefined),
                ...Array.from({ length: given.callCount }, (_, index) => calls(`${id}-${index}`, own('fc', index))),
              ),
              ...Array.from({ length: given.callCount }, (_, index) => gives(`${id}-${index}`)),
            ]
          }),
        ])
        const call = { reasoning: 'thought own', toolCalls: [{ toolName: 'lookup', input: {} }] }
        const model = [call, call, 'Yes.']
        const { prompts } = await run({ keepTurns, atLeast, withCalls: 'all' }, { history, model })
        for (const [index, prompt] of prompts.entries()) {
          const before = prompts[index - 1] ?? []
          expect(prompt.slice(0, before.length)).toEqual(before)
          for (const { content } of prompt) expect(content.length).toBeGreaterThan(0)
          const ids = (given: Prompt) => JSON.stringify(given).match(/"(msg|fc)_/g)?.length ?? 0
          const bare = prompt.filter(
            ({ role, content }) => role === 'assistant' && !JSON.stringify(content).includes('"rs_'),
          )
          const unthought = turns.flat().filter(given => given.isItem && !given.thinks)
          expect(ids(bare)).toBeLessThanOrEqual(unthought.reduce((sum, { callCount }) => sum + 1 + callCount, 0))
        }
        const told = (await run({ keepTurns, atLeast: 0, withCalls: 'all' }, { history })).thoughts
        const isOpen = turns.at(-1)?.at(-1)?.callCount
        const keptCount = Math.max(keepTurns, isOpen ? 1 : 0)
        const kept = turns.filter((_, index) => index >= turns.length - keptCount).flat()
        expect(told.length).toBe(kept.filter(given => given.thinks).length)
      }),
      { numRuns: runCount(60) },
    )
  })
})
