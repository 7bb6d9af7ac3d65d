// Any runs, with any processors, on one thread: what holds after each of them.
import type { AgentMessage, Processor } from '@lockstep/agent'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { ThreadStore } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { isToolPart, MessageList } from '@lockstep/message-list'
import type { UIMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation } from './conversation.ts'

type Step = 'text' | 'tool' | 'failing provider'
type Deed = 'refuse' | 'retry' | 'abort' | 'throw' | 'edit input' | 'edit memory' | 'drop memory' | 'edit response'
const hooks = [
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processOutputStep',
  'processStepEnd',
  'processOutputResult',
] as const

interface Plan {
  readonly steps: readonly Step[]
  readonly deeds: readonly { readonly deed: Deed; readonly hook: (typeof hooks)[number]; readonly atStep: number }[]
  readonly client: 'new' | 'known ids' | 'made-up ids' | 'asks again'
  readonly lastMessages: number
}

const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(fc.constantFrom<Step>('text', 'tool', 'tool', 'failing provider'), { minLength: 1, maxLength: 3 }),
  deeds: fc.array(
    fc.record({
      deed: fc.constantFrom<Deed>(
        'refuse',
        'retry',
        'abort',
        'throw',
        'edit input',
        'edit memory',
        'drop memory',
        'edit response',
      ),
      hook: fc.constantFrom(...hooks),
      atStep: fc.nat(2),
    }),
    { maxLength: 3 },
  ),
  client: fc.constantFrom('new', 'known ids', 'made-up ids', 'asks again'),
  lastMessages: fc.constantFrom(0, 1, 3, 40),
})

type Context = Parameters<NonNullable<Processor['processInputStep']>>[0]

function edit(list: MessageList, messages: readonly AgentMessage[], word: string): void {
  for (const { id } of messages)
    if (list.find(id))
      list.update(id, draft => {
        for (const part of draft.content.parts) if (part.type === 'text') part.text = word
      })
}

/** A processor that does one thing in one hook. */
function processorOf({ deed, hook, atStep }: Plan['deeds'][number], index: number, abort: () => void): Processor {
  let isDone = false
  const act = ({ messageList: list, stepNumber, abort: refuse }: Context): undefined => {
    if (stepNumber !== atStep || isDone) return
    isDone = true
    if (deed === 'refuse' && hook !== 'processStepEnd') refuse('no')
    if (deed === 'retry' && hook !== 'processStepEnd') refuse('again', { retry: true })
    if (deed === 'abort') abort()
    if (deed === 'throw') throw new Error('broken')
    if (deed === 'edit input') edit(list, list.get.input.db(), 'edited')
    if (deed === 'edit memory') edit(list, list.get.remembered.db(), 'shortened')
    if (deed === 'drop memory')
      list.removeByIds(
        list.get.remembered
          .db()
          .slice(0, 2)
          .map(({ id }) => id),
      )
    if (deed === 'edit response') edit(list, list.get.response.db(), 'edited')
  }
  return { id: `deed-${index}`, [hook]: act }
}

const isInputHook = (hook: string) => hook.startsWith('processInput') || hook === 'processLLMRequest'

let count = 0

function turnOf(step: Step): ScriptedTurn {
  const number = ++count
  if (step === 'failing provider') return { error: new Error('down') }
  const call = { toolName: 'weather', input: { city: 'Rome' }, toolCallId: `call-${number}` }
  return step === 'tool' ? { text: `looking ${number}`, toolCalls: [call] } : `answer ${number}`
}

/** What the client sends: one new question, alone or after its copy of the thread. */
function inputOf(plan: Plan, stored: readonly AgentMessage[]): UIMessage[] {
  const number = ++count
  const question: UIMessage = { id: `q${number}`, role: 'user', parts: [{ type: 'text', text: `question ${number}` }] }
  if (plan.client === 'new') return [question]
  const copies = stored.map(({ id, role, content }, index) => ({
    id: plan.client === 'made-up ids' ? `made-up-${number}-${index}` : id,
    role,
    parts: content.parts as UIMessage['parts'],
  }))
  const lastQuestion = copies.findLastIndex(({ role }) => role === 'user')
  if (plan.client === 'asks again' && lastQuestion >= 0) return copies.slice(0, lastQuestion + 1)
  return [...copies, question]
}

async function runOf(store: ThreadStore, plan: Plan) {
  const before = (await store.read('t')).messages
  const controller = new AbortController()
  const deeds = plan.deeds.map(deed => ({ ...deed, isInput: isInputHook(deed.hook) }))
  const processors = (isInput: boolean) =>
    deeds.flatMap((deed, index) =>
      deed.isInput === isInput ? processorOf(deed, index, () => controller.abort(new Error('enough'))) : [],
    )
  const own = conversation([...plan.steps.map(turnOf), 'the end', 'the end', 'the end', 'the end'], {
    store,
    memory: { lastMessages: plan.lastMessages },
    inputProcessors: processors(true),
    outputProcessors: processors(false),
    maxProcessorRetries: 2,
  })
  const call = { threadId: 't', abortSignal: controller.signal }
  const result = await own.agent.stream(inputOf(plan, before), call).result
  return { ...own, before, result, after: (await store.read('t')).messages }
}

/** The calls in a prompt, and the results in it. */
function callsIn(prompt: readonly { readonly content: unknown }[], type: string): readonly string[] {
  const parts = prompt.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly object[]) : []))
  return parts.flatMap(part =>
    'type' in part && part.type === type ? String((part as { toolCallId?: unknown }).toolCallId) : [],
  )
}

describe('after any run on a thread', () => {
  it('what was there is there unchanged, what is new is whole, and every prompt was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plans, { minLength: 1, maxLength: 4 }), async given => {
        const store = inMemoryStore()
        for (const plan of given) {
          const { before, after, model } = await runOf(store, plan)
          expect(after.slice(0, before.length)).toEqual(before)
          expect(new Set(after.map(({ id }) => id)).size).toBe(after.length)
          expect(new MessageList().add(after, 'memory').getMessages()).toEqual(after)
          const calls = after.flatMap(({ content }) => content.parts.filter(isToolPart))
          expect(calls.filter(({ state }) => !state.startsWith('output-'))).toEqual([])
          for (const { prompt } of model.doStreamCalls)
            expect(callsIn(prompt, 'tool-result')).toEqual(callsIn(prompt, 'tool-call'))
        }
      }),
      { numRuns: 150 },
    )
  })

  it('the store has what the list holds of it, when it came to its end', async () => {
    let endedCount = 0
    await fc.assert(
      fc.asyncProperty(fc.array(plans, { minLength: 1, maxLength: 3 }), async given => {
        const store = inMemoryStore()
        for (const plan of given) {
          const { before, after, result } = await runOf(store, plan)
          if (result.stopReason !== 'completed') continue
          endedCount++
          const { get } = result.messageList
          expect(after.slice(before.length)).toEqual([...get.input.db(), ...get.response.db()])
        }
      }),
      { numRuns: 150 },
    )
    expect(endedCount).toBeGreaterThan(20)
  })

  it('a refused run adds its marker last, and nothing that the model said in the refused step', async () => {
    let refusedCount = 0
    await fc.assert(
      fc.asyncProperty(plans, fc.constantFrom(...hooks), async (any, hook) => {
        const plan: Plan = { ...any, deeds: [{ deed: 'refuse', hook, atStep: 0 }, ...any.deeds] }
        const store = inMemoryStore()
        const { after, result } = await runOf(store, plan)
        const markers = after.filter(({ content }) => content.parts[0]?.type === 'data-tripwire')
        expect(markers).toEqual(result.stopReason === 'tripwire' ? [after.at(-1)] : [])
        if (result.tripwire === undefined) return
        refusedCount++
        const { text } = result.tripwire.rejected
        expect(text !== '' && JSON.stringify(after).includes(text)).toBe(false)
      }),
      { numRuns: 150 },
    )
    expect(refusedCount).toBeGreaterThan(20)
  })
})
