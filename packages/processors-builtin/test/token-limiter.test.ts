import fc from 'fast-check'
import { countTokens, encode } from 'gpt-tokenizer'
import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { Steering } from '@lockstep/agent-loop'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import { tokenLimiter, type TokenLimiterOptions, type TokenTrim } from '@lockstep/processors-builtin/token-limiter'
import { runWith, userSays, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, turnsOf, words } from './long-conversation.ts'

processorContract(() => tokenLimiter({ limit: 400 }), {
  scripts: [[{ toolCalls: [{ toolName: 'lookup', input: { text: words(50) } }] }, 'Noon.']],
})

/** One token a character, so that sums are easy. */
const perCharacter = (text: string) => text.length
const tools = {
  lookup: { inputSchema: jsonSchema({}), execute: () => `result 99 ${words(20)}` },
} as unknown as ToolSet
const look: ScriptedTurn = { toolCalls: [{ toolName: 'lookup', input: {} }] }

async function run(options: Partial<TokenLimiterOptions>, more: RunWithOptions = {}) {
  const trims: TokenTrim[] = []
  const limiter = tokenLimiter({ limit: 1_000, onTrim: trim => trims.push(trim), ...options })
  const outcome = await runWith(limiter, { model: ['Yes.'], history: turnsOf(10), input: 'question 10', ...more })
  return { ...outcome, trims, said: outcome.prompts.map(saidIn) }
}

const turn = (index: number) => [`question ${index}`, `result ${index}`, `answer ${index}`]

describe('the token limiter', () => {
  it('leaves the oldest turns out, with their calls and results', async () => {
    const { said, trims, prompts } = await run({ limit: 320 })
    expect(said).toEqual([[...turn(7), ...turn(8), ...turn(9), 'question 10']])
    expect(orphansIn(prompts[0]!)).toEqual([])
    expect(trims).toHaveLength(1)
    expect(trims[0]!.tokensAfter).toBeLessThanOrEqual(320)
    expect(trims[0]!.tokensBefore).toBeGreaterThan(320)
    expect(trims[0]!.turnCount).toBe(7)
  })

  it('leaves a conversation alone that fits, and the list in any case', async () => {
    const fitting = await run({ limit: 100_000 })
    expect([fitting.trims, fitting.said[0]!.length]).toEqual([[], 31])
    const { result } = await run({ limit: 320 })
    expect(saidIn(result.messageList.get.all.prompt())).toHaveLength(31)
  })

  it('never leaves out what the run itself asks and does', async () => {
    const { said } = await run(
      { limit: 1, over: 'pass' },
      { model: [look, look, look, 'Yes.'], tools, input: ['question 10', 'question 11'].map(text => userSays(text)) },
    )
    expect(said.at(-1)).toEqual(['question 10', 'question 11', 'result 99', 'result 99', 'result 99'])
  })

  it('knows the run in a history that came as input', async () => {
    const messageList = new MessageList().add([...turnsOf(5), userSays('question 5')], 'input')
    const { said } = await run({ limit: 150 }, { messageList, model: [look, 'Yes.'], tools })
    expect(said[0]).toEqual([...turn(4), 'question 5'])
    expect(said[1]!.slice(-2)).toEqual(['question 5', 'result 99'])
  })

  it('goes on with an answer that has no question after it', async () => {
    const { said } = await run({ limit: 1, over: 'pass' }, { history: [], input: turnsOf(2) })
    expect(said[0]).toEqual(turn(1))
  })

  it('stops a run that is larger than the limit by itself', async () => {
    const { result, prompts } = await run({ limit: 20 }, { input: words(100) })
    expect([result.stopReason, prompts.length]).toEqual(['tripwire', 0])
    expect(result.tripwire).toMatchObject({ processorId: 'token-limiter', metadata: { limit: 20 } })
    expect(result.tripwire!.reason).toMatch(/^The conversation has 1\d\d tokens without its history, of 20/)
  })

  it('counts instructions and tools', async () => {
    const count = async (more: RunWithOptions) => {
      const { result } = await run({ limit: 1, countTokens: perCharacter }, { history: [], input: 'Hi', ...more })
      return (result.tripwire!.metadata as { readonly tokens: number }).tokens
    }
    const bare = await count({})
    expect(await count({ system: '12345' })).toBe(bare + 5 + 4)
    const named = (description: string) => ({ t: { description, inputSchema: jsonSchema({}) } }) as unknown as ToolSet
    expect((await count({ tools: named('123') })) - bare).toBe(3 + 't  {}'.length)
    const slow = { t: { inputSchema: jsonSchema(() => Promise.resolve({})) } } as unknown as ToolSet
    expect((await count({ tools: slow })) - bare).toBe('t  {}'.length)
    expect(await count({ tools: named('123'), activeTools: [] })).toBe(bare)
  })

  it('counts files by the piece, not by their letters', async () => {
    const url = `data:image/png;base64,${'A'.repeat(50_000)}`
    const picture = { role: 'user' as const, content: [{ type: 'file' as const, data: url, mediaType: 'image/png' }] }
    const { result } = await run({ limit: 1, fileTokens: 300 }, { history: [], input: picture })
    expect(result.tripwire!.metadata).toMatchObject({ tokens: 304 })
  })

  it('keeps the turns of pinned messages and context where they stand', async () => {
    const [first, ...rest] = turnsOf(6)
    const messageList = new MessageList().add([first!, ...rest.slice(0, 3)], 'memory')
    messageList.add(
      { id: 'p', role: 'user', parts: [{ type: 'text', text: 'question 77' }], metadata: { pinned: true } },
      'memory',
    )
    messageList.add(rest.slice(3), 'memory').add('question 78', 'context')
    messageList.add('question 6', 'input')
    const { said } = await run({ limit: 150 }, { messageList })
    expect(said[0]).toEqual(['question 77', ...turn(1), 'question 78', 'question 6'])
    const chosen = await run({ limit: 150, pin: ({ content }) => JSON.stringify(content).includes('answer 2') })
    expect(chosen.said[0]).toEqual([...turn(2), 'question 10'])
  })

  it('leaves out for the rest of the run what it left out once, so that prompts begin alike', async () => {
    const { prompts, said, trims } = await run({ limit: 420 }, { model: [look, look, look, 'Yes.'], tools })
    expect(trims.length).toBeGreaterThan(1)
    const begins = said.map(([first]) => Number(first!.split(' ')[1]))
    expect(begins).toEqual(begins.toSorted((one, other) => one - other))
    for (const prompt of prompts) expect(orphansIn(prompt)).toEqual([])
  })

  it('gives a tokenizer long texts in pieces, cut between words and characters, with nothing lost', async () => {
    const tokensOf = async (text: string, countTokens: (piece: string) => number) => {
      const { result } = await run({ limit: 1, countTokens }, { history: [], input: text })
      return (result.tripwire!.metadata as { readonly tokens: number }).tokens - 4
    }
    const pieces: string[] = []
    const exact = (text: string) => countTokens(text, { disallowedSpecial: new Set() })
    for (const text of ['a'.repeat(50_000), '😀'.repeat(9_000), words(20_000), ' '.repeat(9_000), '<|endoftext|>']) {
      pieces.length = 0
      await tokensOf(text, piece => pieces.push(piece) && 1)
      expect([pieces.join(''), pieces.every(piece => piece.length <= 2_001 && !/\p{Surrogate}/u.test(piece))]).toEqual([
        text,
        true,
      ])
    }
    expect(await tokensOf(words(20_000), exact)).toBe(20_000)
  })

  it.each([
    [
      'base64',
      Buffer.from(Array.from({ length: 9_000 }, (_, index) => (index * index * 7_919) % 251)).toString('base64'),
    ],
    ['hexadecimal digits', Array.from({ length: 200 }, (_, index) => ((index + 1) ** 9).toString(16)).join('')],
    [
      'paths',
      Array.from({ length: 200 }, (_, index) => `/home/users/projects/lockstep/packages/processors/file${index}`).join(
        '\n',
      ),
    ],
  ])('estimates %s about as a tokenizer counts them', async (_, text) => {
    const { result } = await run({ limit: 1 }, { history: [], input: text })
    const { tokens } = result.tripwire!.metadata as { readonly tokens: number }
    expect(Math.abs(tokens / encode(text).length - 1)).toBeLessThan(0.4)
  })

  it('takes the count of a real tokenizer', async () => {
    const { trims } = await run({ limit: 320, countTokens: text => encode(text).length })
    expect(trims[0]!.tokensAfter).toBeLessThanOrEqual(320)
  })

  it('counts each text of a conversation once, and of ten thousand messages only what may fit', async () => {
    const history = turnsOf(2_500)
    const counted: string[] = []
    const countTokens = (text: string) => {
      counted.push(text)
      return text.length
    }
    const model = [look, look, look, 'Yes.']
    const limiter = tokenLimiter({ limit: 2_000_000, countTokens })
    const all = await runWith(limiter, { model, history, input: 'question 2500', tools })
    expect(all.prompts.map(({ length }) => length)).toEqual([10_001, 10_003, 10_005, 10_007])
    // A text for each message, the question of the run, a call and a result for each of its steps, and the tool.
    expect(counted).toHaveLength(10_000 + 1 + 2 * 3 + 1)
    counted.length = 0
    const few = await runWith(tokenLimiter({ limit: 5_000, countTokens }), {
      model,
      history,
      input: 'question 2500',
      tools,
    })
    expect(few.prompts[0]!.length).toBeGreaterThan(20)
    expect(counted.length).toBeLessThan(70)
  })

  it('keeps within the limit, keeps pairs, and leaves out no newer turn before an older one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 60, max: 2_000 }),
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 0, max: 3 }),
        async (limit, turnCount, callCount) => {
          const model = [...Array.from({ length: callCount }, () => look), 'Yes.']
          const options = { history: turnsOf(turnCount), model, tools }
          const { prompts, said, result, trims } = await run({ limit, countTokens: perCharacter }, options)
          const isStopped = result.stopReason === 'tripwire'
          expect(prompts.length === callCount + 1).toBe(!isStopped)
          expect(trims.every(({ tokensAfter }) => tokensAfter <= limit)).toBe(true)
          for (const [index, prompt] of prompts.entries()) {
            expect(orphansIn(prompt)).toEqual([])
            const history = said[index]!.slice(0, said[index]!.indexOf('question 10'))
            const all = Array.from({ length: turnCount }, (_, at) => turn(at)).flat()
            expect(history).toEqual(all.slice(all.length - history.length))
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('needs a limit', async () => {
    await expect(loadBuiltin('token-limiter')).rejects.toThrow(BuiltinError)
    expect((await loadBuiltin(['token-limiter', { limit: 4_000 }])).id).toBe('token-limiter')
  })
})

describe('what is steered in', () => {
  it('belongs to the run, and so does what was said before it', async () => {
    const steering = new Steering()
    const ask: ToolSet = {
      lookup: {
        inputSchema: jsonSchema({}),
        execute: () => {
          void steering.steer('question 11')
          return 'result 99'
        },
      },
    } as never
    const { said } = await run({ limit: 1, over: 'pass' }, { model: [look, 'Yes.'], tools: ask, steering })
    expect(said.at(-1)).toEqual(['question 10', 'result 99', 'question 11'])
  })
})
