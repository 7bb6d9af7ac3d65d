import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { resumeLoop, runLoop, type LoopResult, type RunLoopOptions } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList, type MessageInput } from '@lockstep/message-list'
import type { ProcessLLMRequestArgs, Processor } from '@lockstep/processors'
import { compaction } from '@lockstep/processors-builtin/compaction'
import { overflowRecovery } from '@lockstep/processors-builtin/overflow-recovery'
import { slidingWindow } from '@lockstep/processors-builtin/sliding-window'
import { tokenLimiter } from '@lockstep/processors-builtin/token-limiter'
import { toolResultClearing } from '@lockstep/processors-builtin/tool-result-clearing'
import { answeringModel } from '@lockstep/testing'
import { apiError } from './api-error.ts'
import { orphansIn, words } from './long-conversation.ts'

type Prompt = ProcessLLMRequestArgs['prompt']
type PromptMessage = Prompt[number]
type Part = { readonly type: string; readonly text?: string; readonly toolCallId?: string; readonly output?: unknown }

/** Marks of texts, each of its own in a conversation. */
class Marks {
  #count = 0
  next(length: number): string {
    return `m${this.#count++}. ${words(length)}`
  }
}

/** What is said and done after a question: calls side by side, thoughts, and how much of everything there is. */
interface PastTurn {
  readonly calls: readonly number[]
  readonly length: number
  readonly reasons: boolean
  readonly hasFile: boolean
  readonly isPinned: boolean
  readonly isContext: boolean
  readonly isDenied: boolean
  readonly isOfProvider: boolean
  readonly isAnswered: boolean
}

const pastTurn: fc.Arbitrary<PastTurn> = fc.record({
  calls: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  length: fc.integer({ min: 0, max: 40 }),
  reasons: fc.boolean(),
  hasFile: fc.boolean(),
  isPinned: fc.oneof({ weight: 1, arbitrary: fc.constant(true) }, { weight: 5, arbitrary: fc.constant(false) }),
  isContext: fc.oneof({ weight: 1, arbitrary: fc.constant(true) }, { weight: 8, arbitrary: fc.constant(false) }),
  isDenied: fc.boolean(),
  isOfProvider: fc.boolean(),
  isAnswered: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
})

/** Adds a turn, and gives the beginning of its question. */
function addTurn(list: MessageList, turn: PastTurn, { marks, index }: { marks: Marks; index: number }): string {
  const text = marks.next(turn.length)
  const question = {
    id: `past-${index}`,
    role: 'user' as const,
    ...(turn.isPinned ? { metadata: { pinned: true } } : {}),
    parts: [
      { type: 'text' as const, text },
      ...(turn.hasFile ? [{ type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,AAAA' }] : []),
    ],
  }
  list.add(question, turn.isContext ? 'context' : 'memory')
  if (!turn.isAnswered) return markOf(text)
  const steps = turn.calls.flatMap((callCount, step) => [
    { type: 'step-start' },
    ...(turn.reasons ? [{ type: 'reasoning', text: words(turn.length), state: 'done' }] : []),
    ...Array.from({ length: callCount }, (_, at) => ({
      type: 'tool-lookup',
      toolCallId: `past-${index}-${step}-${at}`,
      input: { at },
      ...(turn.isOfProvider && at === 0 ? { providerExecuted: true } : {}),
      ...(turn.isDenied && at === 1
        ? { state: 'output-denied', approval: { id: `ask-${index}-${step}`, approved: false, reason: 'No.' } }
        : { state: 'output-available', output: words(turn.length * 3) }),
    })),
  ])
  const parts = [...steps, { type: 'step-start' }, { type: 'text', text: marks.next(turn.length) }]
  list.add({ id: `answer-${index}`, role: 'assistant', parts } as MessageInput, 'memory')
  return markOf(text)
}

const markOf = (text: string | undefined) => /^m\d+/.exec(text ?? '')?.[0] ?? ''

/** One step of the run: calls side by side, of which some need a person, who agrees or not; or a refusal of the provider. */
type OwnStep = { readonly calls: readonly ('lookup' | 'ask')[]; readonly reasons: boolean } | 'overflow'

const ownStep: fc.Arbitrary<OwnStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      calls: fc.array(fc.constantFrom('lookup' as const, 'lookup' as const, 'ask' as const), {
        minLength: 1,
        maxLength: 4,
      }),
      reasons: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant('overflow' as const) },
)

function scriptOf(steps: readonly OwnStep[], marks: Marks): readonly ScriptedTurn[] {
  const turns = steps.map((step): ScriptedTurn => {
    if (step === 'overflow') return apiError(400, 'prompt is too long: 213462 tokens > 200000 maximum')
    const toolCalls = step.calls.map(toolName => ({ toolName, input: {} }))
    return { toolCalls, text: marks.next(3), ...(step.reasons ? { reasoning: words(10) } : {}) }
  })
  return [...turns, marks.next(5)]
}

const toolsOf = (length: number) =>
  ({
    lookup: { inputSchema: jsonSchema({}), execute: () => words(length) },
    ask: { inputSchema: jsonSchema({}), needsApproval: true, execute: () => words(length) },
  }) as unknown as ToolSet

/** Makes each processor with limits from small to large. */
const makers = {
  clearing: (size: number) => toolResultClearing({ trigger: size, keep: size % 4, atLeast: 0 }),
  compaction: (size: number, records: string[]) => {
    const model = answeringModel(({ prompt }) => {
      records.push(JSON.stringify(prompt))
      return size % 5 === 0 ? { error: new Error('The service is down.') } : 'The summary.'
    })
    return compaction({ trigger: size + 1, keep: size / 3, summaryTokens: 10, callTokens: 2_000, model })
  },
  limiter: (size: number) => tokenLimiter({ limit: size + 1, over: 'pass' }),
  window: (size: number) => slidingWindow({ turns: size % 7 }),
  recovery: () => overflowRecovery(),
} as const

/** Processors of other people that come before: one edits texts, one leaves messages out. */
const before = {
  none: (prompt: Prompt) => prompt,
  editor: (prompt: Prompt): Prompt =>
    prompt.map(message => (message.role === 'user' ? { ...message, content: message.content.map(edited) } : message)),
  cutter: (prompt: Prompt): Prompt => {
    const questions = prompt.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
    return questions.length < 3 ? prompt : [...prompt.slice(0, questions[0]), ...prompt.slice(questions[1])]
  },
} as const

function edited<T extends { readonly type: string }>(part: T): T {
  return part.type === 'text' ? { ...part, text: `${(part as unknown as { text: string }).text}!` } : part
}

interface Seen {
  /** The mark of the run's question. */
  readonly question: string
  readonly pinned: readonly string[]
  readonly raw: Prompt
  readonly sent: Prompt
  /** The compaction, if there is one, put a summary into the prompt. */
  readonly isCompacted: boolean
  /** What the summariser was given until then. */
  readonly records: string
}

interface Case {
  readonly history: readonly PastTurn[]
  readonly own: readonly OwnStep[]
  readonly names: readonly (keyof typeof makers)[]
  readonly sizes: readonly number[]
  readonly resultLength: number
  readonly first: keyof typeof before
}

const conversation: fc.Arbitrary<Case> = fc.record({
  history: fc.array(pastTurn, { maxLength: 10 }),
  own: fc.array(ownStep, { maxLength: 5 }),
  names: fc.shuffledSubarray(Object.keys(makers) as (keyof typeof makers)[], { minLength: 1 }),
  sizes: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 5, maxLength: 5 }),
  resultLength: fc.integer({ min: 0, max: 300 }),
  first: fc.constantFrom(...(Object.keys(before) as (keyof typeof before)[])),
})

/** Two runs, one after the other, each taken up again by new instances whenever a person has answered. */
async function promptsOf({ history, own, names, sizes, resultLength, first }: Case): Promise<readonly Seen[]> {
  const marks = new Marks()
  const tools = toolsOf(resultLength)
  const seen: Seen[] = []
  const records: string[] = []
  let idCount = 0
  const generateId = () => `id-${++idCount}`
  let messageList = new MessageList({ generateId }).addSystem('Be kind.')
  const pins = history.map((turn, index) => ({ ...turn, mark: addTurn(messageList, turn, { marks, index }) }))
  for (let round = 0; round < 2; round++) {
    const text = marks.next(5)
    messageList.add({ id: `own-${round}`, role: 'user', parts: [{ type: 'text', text }] }, 'input')
    // What was put there as context is a remembered message for the next run.
    const pinned = pins.filter(({ isPinned, isContext }) => isPinned || (isContext && round === 0))
    const model = scriptedModel(scriptOf(own, marks).map((turn, index) => withIds(turn, `${round}-${index}`)))
    const raws: Prompt[] = []
    const compacted: Pick<Seen, 'isCompacted' | 'records'>[] = []
    const arrays = () => {
      const edit: Processor = {
        id: 'before',
        processLLMRequest({ prompt }) {
          raws.push(before[first](prompt))
          return { prompt: raws.at(-1)! }
        },
      }
      const look: Processor = {
        id: 'look',
        processLLMRequest: ({ prompt }) =>
          void compacted.push({ isCompacted: prompt.some(isSummary), records: records.join() }),
      }
      const all = names.map((name, index) => makers[name](sizes[index]!, records)) as readonly Processor[]
      const looking = all.flatMap(processor => (processor.id === 'compaction' ? [processor, look] : processor))
      return {
        inputProcessors: [edit, ...(looking.includes(look) ? looking : [look, ...looking])],
        errorProcessors: all.filter(({ id }) => id === 'overflow-recovery'),
      }
    }
    const options: Omit<RunLoopOptions, 'messageList'> = { model, tools, generateId, modelSettings: { maxRetries: 0 } }
    let result = await drained(runLoop({ ...options, ...arrays(), messageList }))
    while (result.stopReason === 'suspended') {
      const decisions = result.pendingApprovals.map(({ approvalId }, index) => ({
        approvalId,
        approved: index % 2 === 0,
      }))
      const state = JSON.parse(JSON.stringify(result.loopState)) as NonNullable<typeof result.loopState>
      result = await drained(resumeLoop({ state, decisions: decisions as never }, { ...options, ...arrays() }))
    }
    expect(['completed', 'error']).toContain(result.stopReason)
    const ask = { question: markOf(text), pinned: pinned.map(({ mark }) => mark) }
    seen.push(
      ...model.doStreamCalls.map(({ prompt }, index) => ({
        ...ask,
        raw: raws[index]!,
        sent: prompt,
        ...compacted[index]!,
      })),
    )
    messageList = new MessageList({ generateId })
      .addSystem('Be kind.')
      .add([...result.messageList.get.all.db()], 'memory')
  }
  return seen
}

async function drained(loop: ReturnType<typeof runLoop>): Promise<LoopResult> {
  for (;;) {
    const next = await loop.next()
    if (next.done) return next.value
  }
}

function withIds(turn: ScriptedTurn, key: string): ScriptedTurn {
  if (typeof turn !== 'object' || !('toolCalls' in turn)) return turn
  const { toolCalls = [] } = turn
  return { ...turn, toolCalls: toolCalls.map((call, index) => ({ ...call, toolCallId: `own-${key}-${index}` })) }
}

const partsOf = ({ content }: PromptMessage): readonly Part[] => (typeof content === 'string' ? [] : content)

/** What tells a message from every other: its mark, its calls and results. */
function keyOf(message: PromptMessage): string {
  if (message.role === 'system') return `system ${message.content}`
  const said = partsOf(message).map(({ type, text, toolCallId }) => `${type} ${toolCallId ?? markOf(text)}`)
  return `${message.role}: ${said.join(', ')}`
}

const isSummary = (message: PromptMessage) => JSON.stringify(message).includes('<summary>')

/** The turns of earlier as the keys of their messages, and what belongs to the run. */
function divided(prompt: Prompt, question: string) {
  const said = prompt.filter(({ role }) => role !== 'system')
  let begin = said.findLastIndex(message => partsOf(message).some(({ text }) => markOf(text) === question))
  while (said[begin - 1]?.role === 'user' && !isSummary(said[begin - 1]!)) begin--
  const turns: string[][] = []
  for (const [index, message] of said.slice(0, begin).entries()) {
    if (message.role === 'user' && said[index - 1]?.role !== 'user') turns.push([])
    turns.at(-1)!.push(keyOf(message))
  }
  return { turns, current: said.slice(begin) }
}

/** The results that the model has not answered to. */
const unread = (prompt: Prompt) =>
  prompt.slice(prompt.findLastIndex(({ role }) => role === 'assistant') + 1).filter(({ role }) => role === 'tool')

const withoutOutputs = (prompt: Prompt) =>
  JSON.stringify(prompt, (key, value: unknown) => (key === 'output' ? undefined : value))

const runCount = Number(process.env['LOCKSTEP_LAW_RUNS'] ?? 250)

function check({ question, pinned, raw, sent, isCompacted, records }: Seen, { names }: Case): void {
  const said = sent.filter(({ role }) => role !== 'system')
  expect(orphansIn(sent)).toEqual([])
  expect(sent.filter(({ role }) => role === 'system')).toEqual(raw.filter(({ role }) => role === 'system'))
  expect(said[0]!.role).toBe('user')

  const summaries = said.filter(isSummary)
  expect(said.slice(0, summaries.length)).toEqual(summaries)
  expect(summaries.length).toBe(isCompacted ? 1 : 0)

  const before = divided(raw, question)
  const after = divided(said.slice(summaries.length), question)
  const kept = before.turns.filter(turn => after.turns.some(([first]) => first === turn[0]))
  expect(after.turns).toEqual(kept)
  expect(withoutOutputs(after.current)).toBe(withoutOutputs(before.current))
  const keys = [...after.turns.flat(), ...after.current.map(keyOf)].join()
  const there = new Set(raw.flatMap(partsOf).map(({ text }) => markOf(text)))
  for (const mark of pinned.filter(pin => there.has(pin))) expect(`${keys},`).toContain(`text ${mark},`)

  const isCut = names.includes('recovery')
  expect(isCut ? [] : unread(after.current)).toEqual(isCut ? [] : unread(before.current))
  const loses = names.some(name => name === 'limiter' || name === 'window' || name === 'recovery')
  const gone = loses ? [] : before.turns.filter(turn => !kept.includes(turn)).flat()
  for (const mark of gone.flatMap(key => /m\d+/.exec(key) ?? [])) expect(records).toContain(`${mark}.`)
}

it('keeps prompts valid, the run complete and turns whole, whichever of them there are, in any order', async () => {
  let [promptCount, shortenedCount, summaryCount] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(conversation, async given => {
      for (const seen of await promptsOf(given)) {
        check(seen, given)
        promptCount++
        shortenedCount += JSON.stringify(seen.sent) === JSON.stringify(seen.raw) ? 0 : 1
        summaryCount += seen.sent.some(isSummary) ? 1 : 0
      }
    }),
    { numRuns: runCount },
  )
  expect(shortenedCount).toBeGreaterThan(promptCount / 4)
  expect(summaryCount).toBeGreaterThan(promptCount / 20)
})
