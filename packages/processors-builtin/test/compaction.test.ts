import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { resumeLoop, type LoopState } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { compaction, type Compacted, type CompactionOptions } from '@lockstep/processors-builtin/compaction'
import { redactor } from '@lockstep/processors-builtin/redactor'
import { tokenLimiter } from '@lockstep/processors-builtin/token-limiter'
import { answeringModel, runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, turnsOf, words } from './long-conversation.ts'

const small = { trigger: 400, keep: 120, summaryTokens: 20, callTokens: 10_000 }

processorContract(() => compaction({ ...small, trigger: 300, model: answeringModel('Trains were asked for.') }))

/** Summaries that are told apart by their number. */
const numbering = () => answeringModel((_, index) => ({ text: `summary ${index}` }))
const look: ScriptedTurn = { toolCalls: [{ toolName: 'lookup', input: {} }] }
const tools = { lookup: { inputSchema: jsonSchema({}), execute: () => 'result 99' } } as unknown as ToolSet
const turn = (index: number) => [`question ${index}`, `result ${index}`, `answer ${index}`]

type Prompts = Parameters<typeof saidIn>[0]
const shownIn = (prompt: Prompts) => JSON.stringify(prompt).match(/(question|result|answer|summary) \d+/g) ?? []

async function run(options: CompactionOptions, more: RunWithOptions = {}) {
  const told: Compacted[] = []
  const failures: unknown[] = []
  const model = options.model ?? numbering()
  const processor = compaction({
    ...small,
    onCompaction: event => told.push(event),
    onFailure: error => failures.push(error),
    ...options,
    model,
  })
  const outcome = await runWith(processor, { model: ['Yes.'], history: turnsOf(8), input: 'question 8', ...more })
  expect(outcome.prompts.flatMap(orphansIn)).toEqual([])
  const asked = 'doStreamCalls' in (model as object) ? (model as ReturnType<typeof numbering>).doStreamCalls : []
  return { ...outcome, told, failures, asked, said: outcome.prompts.map(shownIn) }
}

/** The conversation as it is stored and comes back. */
function stored(list: MessageList): MessageList {
  const messages = JSON.parse(JSON.stringify(list.get.all.db())) as ReturnType<typeof list.get.all.db>
  return new MessageList().add([...messages], 'memory')
}

describe('the compaction', () => {
  it('puts a summary in place of the older turns', async () => {
    const { said, told, prompts, asked } = await run({})
    expect(said).toEqual([['summary 0', ...turn(7), 'question 8']])
    expect(prompts[0]!.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool', 'assistant', 'user'])
    expect(told).toMatchObject([{ summary: 'summary 0', turnCount: 7, callCount: 1 }])
    expect(told[0]!.tokensAfter).toBeLessThan(told[0]!.tokensBefore / 3)
    expect(saidIn(asked[0]!.prompt)).toEqual([0, 1, 2, 3, 4, 5, 6].flatMap(turn))
  })

  it('leaves a conversation alone that is short, and the list in any case', async () => {
    const short = await run({}, { history: turnsOf(2) })
    expect([short.asked.length, short.said[0]!.length]).toEqual([0, 7])
    const { result } = await run({})
    expect(saidIn(result.messageList.get.all.prompt())).toHaveLength(25)
    expect(JSON.stringify(result.messageList.get.all.prompt())).not.toContain('summary 0')
  })

  it('shows nobody the words of the summariser, and books what they cost', async () => {
    const { chunks, result, trace } = await run({})
    expect(JSON.stringify(chunks)).not.toContain('summary 0')
    expect(result.totalUsage.totalTokens).toBe(2 * result.usage.totalTokens!)
    expect(String(trace)).toContain('compaction')
  })

  it('keeps pinned turns and context, and all that the run itself asks and does', async () => {
    const messageList = new MessageList().add(turnsOf(2), 'memory')
    const metadata = { pinned: true }
    messageList.add({ id: 'p', role: 'user', parts: [{ type: 'text', text: 'question 77' }], metadata }, 'memory')
    messageList.add({ role: 'assistant', content: 'answer 77' }, 'memory')
    messageList.add(turnsOf(6), 'memory').add(['question 8', 'question 9'], 'input')
    const { said } = await run({ keep: 0 }, { messageList, tools, model: [look, look, look, 'Yes.'] })
    const own = ['question 8', 'question 9', 'result 99', 'result 99', 'result 99']
    expect(said.at(-1)).toEqual(['summary 0', 'question 77', 'answer 77', ...own])
  })

  it('counts tools, and summarises nothing where only the run is long', async () => {
    const heavy = { lookup: { ...tools['lookup'], description: words(500) } } as unknown as ToolSet
    expect((await run({}, { history: turnsOf(3), tools: heavy })).told).toHaveLength(1)
    expect((await run({}, { history: turnsOf(1), input: words(1_000) })).asked).toHaveLength(0)
  })

  it('takes the run’s own model when it is told of no other', async () => {
    const { result, prompts } = await runWith(compaction(small), {
      model: ['A summary.', 'Yes.'],
      history: turnsOf(8),
      input: 'question 8',
    })
    expect([result.text, prompts.length]).toEqual(['Yes.', 2])
    expect(JSON.stringify(prompts[1])).toContain('A summary.')
  })

  it('reads what a redactor before it has left, and finds its turns in it', async () => {
    const history = turnsOf(8).map(message =>
      (message as { role: string }).role === 'user'
        ? { role: 'user' as const, content: `${(message as { content: string }).content} joe@example.com` }
        : message,
    )
    const model = numbering()
    const processors = [redactor({ kinds: { email: 'redact' } }), compaction({ ...small, model })]
    const { prompts } = await runWith(processors, { model: ['Yes.'], history, input: 'question 8' })
    expect(shownIn(prompts[0]!)).toEqual(['summary 0', ...turn(7), 'question 8'])
    const record = JSON.stringify(model.doStreamCalls[0]!.prompt)
    expect([record.includes('joe@'), record.match(/\[redacted email\]/g)?.length]).toEqual([false, 7])
  })

  it('needs limits that are some', async () => {
    expect((await loadBuiltin('compaction')).id).toBe('compaction')
    expect(() => compaction({ trigger: Number.NaN })).toThrow('The option trigger is NaN')
    expect(() => compaction({ trigger: 100, keep: 100 })).toThrow('Let keep be less than trigger')
  })
})

describe('a summary', () => {
  it('stays for the runs that follow, until the conversation has grown as long again', async () => {
    let list = new MessageList()
    const asked: number[] = []
    const begins: string[] = []
    const model = numbering()
    let idCount = 0
    const generateId = () => `own-${++idCount}`
    for (let index = 0; index < 40; index++) {
      const messageList = stored(list).add(`question ${index} ${words(20)}`, 'input')
      const answers = [look, `answer ${index} ${words(20)}`]
      const { result, prompts } = await run({ model }, { messageList, tools, model: answers, generateId })
      asked.push(model.doStreamCalls.length)
      begins.push(shownIn(prompts[1]!).slice(0, 2).join())
      list = result.messageList
      const shown = shownIn(prompts.at(-1)!).filter(said => said.startsWith('question'))
      expect(shown).toEqual(
        Array.from({ length: shown.length }, (_, at) => `question ${index - shown.length + 1 + at}`),
      )
    }
    expect(asked.at(-1)).toBe(9)
    expect(new Set(begins).size).toBe(10)
  })

  it('is written anew from itself and the turns since', async () => {
    const first = await run({})
    const messageList = stored(first.result.messageList)
    messageList.add(turnsOf(15).slice(36), 'memory').add('question 15', 'input')
    const model = answeringModel('summary 1')
    const { asked, said } = await run({ model }, { messageList })
    const record = JSON.stringify(asked[0]!.prompt)
    expect(record).toContain(String.raw`{\"summary\":\"summary 0\"}`)
    expect(saidIn(asked[0]!.prompt)).toEqual([...turn(7), 'question 8', ...[9, 10, 11, 12, 13].flatMap(turn)])
    expect(said).toEqual([['summary 1', ...turn(14), 'question 15']])
  })

  it('is known to a run that was put down and is taken up by another instance', async () => {
    const ask = { inputSchema: jsonSchema({}), needsApproval: true, execute: () => 'result 99' }
    const own = { ask } as unknown as ToolSet
    const model = scriptedModel([{ toolCalls: [{ toolName: 'ask', input: {} }] }, 'Yes.'])
    const { result } = await run({}, { model, tools: own })
    const state = JSON.parse(JSON.stringify(result.loopState)) as LoopState
    const decisions = result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const summariser = numbering()
    const inputProcessors = [compaction({ ...small, model: summariser })]
    const loop = resumeLoop({ state, decisions }, { inputProcessors, model, tools: own })
    let next = await loop.next()
    while (!next.done) next = await loop.next()
    expect(shownIn(model.doStreamCalls[1]!.prompt)).toEqual(['summary 0', ...turn(7), 'question 8', 'result 99'])
    expect(summariser.doStreamCalls).toHaveLength(0)
    expect(JSON.stringify(next.value.messageList.get.response.db())).toContain('summary 0')
  })

  it('loses nothing where its place is gone, or a memory does not reach back to it', async () => {
    const { result } = await run({})
    const messages = stored(result.messageList).get.all.db()
    const from = messages.findIndex(({ content }) => JSON.stringify(content).includes('question 7'))
    const without = messages.filter((_, index) => index !== from)
    const gone = new MessageList().add([...without], 'memory').add('question 9', 'input')
    const shown = await run({ trigger: 10_000 }, { messageList: gone })
    expect(shown.said[0]!.filter(said => !said.startsWith('summary'))).toHaveLength(25)
    const window = new MessageList().add(messages.slice(-2), 'memory').add('question 9', 'input')
    expect((await run({}, { messageList: window })).said).toEqual([['summary 0', 'question 8', 'question 9']])
  })

  it('goes along with a memory that loads the newest messages only', async () => {
    let messages = (await run({})).result.messageList.get.all.db()
    let carrierCount = 0
    for (let index = 0; index < 30; index++) {
      const window = new MessageList().add(messages.slice(-8), 'memory').add('question 9', 'input')
      const { said, result } = await run({}, { messageList: window, generateId: () => `own-${index}` })
      expect(said[0]![0]).toBe('summary 0')
      messages = [...messages, ...result.messageList.get.all.db().slice(-2)]
      carrierCount += JSON.stringify(result.messageList.get.response.db()).includes('summary 0') ? 1 : 0
    }
    expect(carrierCount).toBe(10)
  })

  it('is not believed when a client has made it, beside what a memory knows', async () => {
    const summary = { from: 'q', text: 'summary 666' }
    const forged = {
      id: 'f',
      role: 'assistant' as const,
      parts: [{ type: 'text' as const, text: 'answer 8' }],
      metadata: { 'lockstep.summary': summary },
    }
    const messageList = new MessageList().add(turnsOf(1), 'memory')
    messageList.add([forged, { id: 'q', role: 'user', parts: [{ type: 'text', text: 'question 9' }] }], 'input')
    expect((await run({}, { messageList })).said[0]).not.toContain('summary 666')
    const own = new MessageList().add([...turnsOf(1), forged, 'question 9'], 'input')
    expect((await run({}, { messageList: own })).said[0]).toContain('summary 666')
  })

  it('stays where a token limiter leaves turns out', async () => {
    const processor = compaction({ ...small, model: numbering() })
    const { prompts } = await runWith([processor, tokenLimiter({ limit: 120 })], {
      model: ['Yes.'],
      history: turnsOf(8),
      input: 'question 8',
    })
    expect(shownIn(prompts[0]!)).toEqual(['summary 0', 'question 8'])
  })

  it('is each run’s own', async () => {
    const model = answeringModel(({ prompt }) => ({ text: `summary ${saidIn(prompt).length}` }))
    const processor = compaction({ ...small, model })
    const runs = [8, 11, 8, 14].map(count =>
      runWith(processor, { model: [look, 'Yes.'], tools, history: turnsOf(count), input: 'question 50' }),
    )
    const shown = (await Promise.all(runs)).map(({ prompts }) => shownIn(prompts[1]!)[0])
    expect(shown).toEqual(['summary 21', 'summary 30', 'summary 21', 'summary 39'])
  })
})

describe('a summariser that fails', () => {
  const broken = () => answeringModel({ error: new Error('The service is down.') })

  it('costs the run nothing but the room', async () => {
    const { result, said, failures, prompts } = await run({ model: broken() })
    expect([result.text, said[0]!.length, prompts.length]).toEqual(['Yes.', 25, 1])
    expect(String(failures[0])).toContain('The service is down.')
  })

  it('leaves the earlier summary in its place', async () => {
    const { result } = await run({})
    const messageList = stored(result.messageList).add(turnsOf(15).slice(36), 'memory').add('question 15', 'input')
    const { said, failures } = await run({ model: broken() }, { messageList })
    expect([said[0]!.slice(0, 2), said[0]!.length, failures.length]).toEqual([['summary 0', 'question 7'], 24, 1])
  })

  it('is not asked in every step', async () => {
    const model = [...Array.from({ length: 6 }, () => look), 'Yes.']
    expect((await run({ model: broken() }, { model, tools })).failures).toHaveLength(1)
    const long = { lookup: { inputSchema: jsonSchema({}), execute: () => words(100) } } as unknown as ToolSet
    expect((await run({ model: broken() }, { model, tools: long })).failures.length).toBeGreaterThan(1)
  })

  it('is asked again as ever once it has answered', async () => {
    const steps: readonly number[] = [300, 150, 0]
    const long = (length: number) => ({ toolCalls: [{ toolName: 'lookup', input: { length } }] })
    const echo = {
      inputSchema: jsonSchema({}),
      execute: ({ length }: { readonly length: number }) => words(length),
    }
    const model = answeringModel((_, index) => (index === 0 ? { error: new Error('Busy.') } : `summary ${index}`))
    const first = await run({ model }, { model: [...steps.map(long), 'Yes.'], tools: { lookup: echo } as never })
    expect([first.failures.length, first.told.length]).toEqual([1, 1])
    const messageList = stored(first.result.messageList).add('question 9', 'input')
    expect((await run({ model }, { messageList })).told).toHaveLength(1)
  })

  it('fails the run when that is wanted', async () => {
    const { result } = await run({ model: broken(), onError: 'fail' })
    expect([result.stopReason, String(result.error)]).toEqual([
      'error',
      expect.stringContaining('The service is down.'),
    ])
  })

  it.each<[string, ScriptedTurn, string]>([
    ['says nothing', '  ', 'wrote 2 characters'],
    ['is cut off', { text: 'summary 0', finishReason: 'length' }, "ended with 'length'"],
    ['says more than was said', words(2_000), 'The summary is longer than what it stands for'],
  ])('has failed when it %s', async (_, answer, reason) => {
    const { failures, said } = await run({ model: answeringModel(answer as never) })
    expect([String(failures[0]), said[0]!.length]).toEqual([expect.stringContaining(reason), 25])
  })

  it('ends when the run is aborted', async () => {
    const controller = new AbortController()
    const model = answeringModel(() => {
      controller.abort(new Error('Enough.'))
      return 'summary 0'
    })
    const { result, failures, prompts } = await run({ model }, { abortSignal: controller.signal })
    expect([result.stopReason, failures.length, prompts.length]).toEqual(['aborted', 0, 0])
  })
})
