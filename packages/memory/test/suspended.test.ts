import type { UIMessage } from 'ai'
import { tool } from 'ai'
import type { LoopState } from '@lockstep/agent-loop'
import type { AgentMessage, MessageList, Processor } from '@lockstep/agent'
import type { ThreadStore } from '@lockstep/memory'
import { memory } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { conversation, storedLines, type ConversationOptions } from './conversation.ts'

const thread = { threadId: 't' }

/** An agent that may pay when a person approves, and how often it did. */
function cashier(turns: Parameters<typeof conversation>[0], options: ConversationOptions = {}) {
  const paid: number[] = []
  const pay = tool({
    inputSchema: z.object({ euros: z.number() }),
    needsApproval: true,
    execute: ({ euros }) => {
      paid.push(euros)
      return `paid ${euros}`
    },
  })
  return { ...conversation(turns, { ...options, tools: { pay } }), paid }
}

const asks = { text: 'Let me pay.', toolCalls: [{ toolName: 'pay', input: { euros: 5 } }] }
const pay = 'Pay!'

/** What a client shows of a thread, with its answer to every request. */
async function answered(store: ThreadStore, approved = true): Promise<UIMessage[]> {
  const { messages } = await store.read('t')
  return messages.map(({ id, role, content }) => ({
    id,
    role,
    parts: content.parts.map(part =>
      'state' in part && part.state === 'approval-requested'
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
        : part,
    ) as UIMessage['parts'],
  }))
}

describe('a run that waits for a person', () => {
  it('is kept with its thread, and taken by one who resumes it', async () => {
    const store = sqliteStore({ path: ':memory:' })
    const documents = new Map<string, unknown>()
    const write = store.writeDocument.bind(store)
    store.writeDocument = given => {
      documents.set(given.key, given.value)
      return write(given)
    }
    const asked = await cashier([asks], { store }).agent.generate(pay, thread)
    expect(asked.stopReason).toBe('suspended')
    expect(await storedLines(store)).toEqual(['user: Pay!', 'assistant: Let me pay. call-1:approval-requested'])
    const shared = memory({ store })
    const [one, two] = await Promise.all([shared.takeRun(asked.runId), shared.takeRun(asked.runId)])
    expect([one, two].filter(Boolean)).toHaveLength(1)
    const { agent, paid } = cashier(['Done.'], { store })
    const decisions = asked.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const { stopReason } = await agent.resume((one ?? two)!.state as LoopState, decisions, thread).result
    expect([stopReason, paid]).toEqual(['completed', [5]])
    expect(await storedLines(store)).toEqual([
      'user: Pay!',
      'assistant: Let me pay. call-1:output-available=paid 5 Done.',
    ])
    expect(await store.listRuns('t')).toEqual([])
    expect([...documents.values()]).toEqual([undefined])
    await store.close()
  })

  it('is answered in a message of the client, and goes on in the same message', async () => {
    const { agent, store, paid } = cashier([asks, 'Done.', 'Welcome.'])
    await agent.generate(pay, thread)
    await agent.generate(await answered(store), thread)
    expect(paid).toEqual([5])
    const lines = ['user: Pay!', 'assistant: Let me pay. call-1:output-available=paid 5 Done.']
    expect(await storedLines(store)).toEqual(lines)
    expect(await store.listRuns('t')).toEqual([])
    await agent.generate('Thanks.', thread)
    expect(await storedLines(store)).toEqual([...lines, 'user: Thanks.', 'assistant: Welcome.'])
  })

  it('is refused in a message of the client', async () => {
    const { agent, store, paid, prompts } = cashier([asks, 'As you like.'])
    await agent.generate(pay, thread)
    await agent.generate(await answered(store, false), thread)
    expect(paid).toEqual([])
    expect((await storedLines(store))[1]).toBe('assistant: Let me pay. call-1:output-denied As you like.')
    expect(prompts()).toHaveLength(2)
  })

  it('pays once when the answer comes twice at once, and later again', async () => {
    const { agent, store, paid } = cashier([asks, 'Done.', 'Done.', 'Done.'])
    await agent.generate(pay, thread)
    const messages = await answered(store)
    const ends = await Promise.allSettled([agent.generate(messages, thread), agent.generate(messages, thread)])
    expect(ends.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual(['fulfilled', 'rejected'])
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { cause: { code: 'already-answered' } },
    })
    await agent.generate(messages, thread).catch(() => {})
    expect(paid).toEqual([5])
    expect((await storedLines(store))[1]).toBe('assistant: Let me pay. call-1:output-available=paid 5 Done.')
  })

  it('pays once when it is resumed and answered in a message', async () => {
    const { agent, store, paid } = cashier([asks, 'Done.', 'Done.'])
    const { runId } = await agent.generate(pay, thread)
    await agent.generate(await answered(store), thread)
    expect(await memory({ store }).takeRun(runId)).toBeUndefined()
    expect(paid).toEqual([5])
  })

  it('is not left to be taken when a state that was kept elsewhere was resumed', async () => {
    const { agent, store, paid } = cashier([asks, { ...asks, text: 'Once more.' }, 'Done.'])
    const asked = await agent.generate(pay, thread)
    const decide = ({ pendingApprovals }: typeof asked) =>
      pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    await expect(
      agent.resume(asked.loopState!, [{ approvalId: 'other', approved: true }], thread).text,
    ).rejects.toThrow('never asked')
    expect(await store.listRuns('t')).toHaveLength(1)
    const again = await agent.resume(asked.loopState!, decide(asked), thread).result
    expect([again.stopReason, await store.listRuns('t')]).toMatchObject(['suspended', [{ runId: asked.runId }]])
    await agent.resume(again.loopState!, decide(again), thread).text
    expect(await memory({ store }).takeRun(asked.runId)).toBeUndefined()
    expect(paid).toEqual([5, 5])
  })

  it('keeps earlier steps that a window or a processor left out', async () => {
    const look = { toolCalls: [{ toolName: 'pay', input: { euros: 1 } }] }
    const first = cashier([look, asks])
    await first.agent.generate(pay, thread)
    await first.agent.generate(await answered(first.store), thread)
    const before = 'assistant: call-1:output-available=paid 1 Let me pay.'
    expect((await storedLines(first.store))[1]).toBe(`${before} call-2:approval-requested`)
    const forgetful: Processor = {
      id: 'forget',
      processInputStep: ({ messageList }) => {
        for (const { id } of messageList.get.response.db())
          messageList.update(
            id,
            draft => void (draft.content.parts = draft.content.parts.filter(({ type }) => type !== 'text')),
          )
      },
    }
    const { agent, store, paid } = cashier(['Done.'], {
      store: first.store,
      memory: { maxTokens: 40 },
      inputProcessors: [forgetful],
    })
    await agent.generate(await answered(store), thread)
    expect(paid).toEqual([5])
    expect((await storedLines(store))[1]).toBe(`${before} call-2:output-available=paid 5 Done.`)
  })

  describe('while a processor may still change its response as a whole', () => {
    const review: Processor = {
      id: 'review',
      processOutputResult: ({ messages, messageList }) => edited(messageList, messages),
    }
    const edited = (list: MessageList, messages: readonly AgentMessage[]) => {
      for (const { id } of messages)
        list.update(id, draft => {
          for (const part of draft.content.parts) if (part.type === 'text') part.text = `[${part.text}]`
        })
    }
    const waits = ['user: Pay!', 'assistant: call-1:approval-requested']

    it('has of it the call that waits, and all of it when it was resumed', async () => {
      const options = { store: inMemoryStore(), outputProcessors: [review] }
      const asked = await cashier([asks], options).agent.generate(pay, thread)
      expect(await storedLines(options.store)).toEqual(waits)
      const taken = await memory(options).takeRun(asked.runId)
      const { agent } = cashier(['Done.'], options)
      const decisions = asked.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
      await agent.resume(taken!.state as LoopState, decisions, thread).result
      expect(await storedLines(options.store)).toEqual([
        'user: Pay!',
        'assistant: [Let me pay.] call-1:output-available=paid 5 [Done.]',
      ])
    })

    it('has of it the call that waits, and goes on with the answer of the client', async () => {
      const { agent, store, paid } = cashier([asks, 'Done.'], { outputProcessors: [review] })
      await agent.generate(pay, thread)
      expect(await storedLines(store)).toEqual(waits)
      await agent.generate(await answered(store), thread)
      expect(paid).toEqual([5])
      expect((await storedLines(store))[1]).toBe('assistant: [Let me pay.] call-1:output-available=paid 5 [Done.]')
    })

    const step = (toolName: string, input: object) => ({ toolCalls: [{ toolName, input }] })
    const look = tool({ inputSchema: z.object({}), execute: () => 'seen' })
    const payTool = tool({
      inputSchema: z.object({ euros: z.number() }),
      needsApproval: true,
      execute: ({ euros }) => `paid ${euros}`,
    })
    const tools = { look, pay: payTool }

    it('knows the steps before each question again when the client answers it', async () => {
      const turns = [step('look', {}), step('pay', { euros: 1 }), step('look', {}), step('pay', { euros: 2 }), 'Done.']
      const { agent, store, prompts } = conversation(turns, { tools, outputProcessors: [review] })
      await agent.generate(pay, thread)
      expect(await storedLines(store)).toEqual(['user: Pay!', 'assistant: call-2:approval-requested'])
      await agent.generate(await answered(store), thread)
      expect((await storedLines(store))[1]).toBe('assistant: call-2:output-available=paid 1 call-4:approval-requested')
      await agent.generate(await answered(store), thread)
      expect(prompts().at(-1)).toContain('result(seen) | assistant: call(call-2) | tool: result(paid 1)')
      expect((await storedLines(store))[1]).toBe(
        'assistant: call-1:output-available=seen call-2:output-available=paid 1 call-3:output-available=seen call-4:output-available=paid 2 [Done.]',
      )
      expect(await store.listRuns('t')).toEqual([])
    })

    it('stores nothing that was not reviewed when it fails after the answer', async () => {
      const failing = { error: new Error('no') }
      const { agent, store } = conversation([asks, failing], { tools, outputProcessors: [review] })
      await agent.generate(pay, thread)
      await expect(agent.generate(await answered(store), thread)).rejects.toThrow('no')
      expect((await storedLines(store))[1]).toBe('assistant: call-1:output-available=paid 5')
    })

    it('stores nothing that was not reviewed when it is refused after the answer', async () => {
      const guard: Processor = {
        id: 'guard',
        processOutputStep: ({ text, abort }) => void (text === 'Bad.' && abort()),
      }
      const { agent, store } = conversation([asks, 'Bad.'], { tools, outputProcessors: [guard, review] })
      await agent.generate(pay, thread)
      expect((await agent.generate(await answered(store), thread)).stopReason).toBe('tripwire')
      expect((await storedLines(store)).join(' ')).not.toContain('Let me pay.')
    })

    it('keeps what is stored of a response of which a processor had taken something away', async () => {
      const forget: Processor = {
        id: 'forget',
        processInputStep: ({ messageList, stepNumber }) => {
          if (stepNumber === 0) return
          const isDone = (part: object) => 'state' in part && part.state === 'output-available'
          for (const { id } of messageList.get.response.db())
            messageList.update(
              id,
              draft => void (draft.content.parts = draft.content.parts.filter(part => !isDone(part))),
            )
        },
      }
      const turns = [
        step('pay', { euros: 1 }),
        step('look', {}),
        { ...step('pay', { euros: 2 }), text: 'So.' },
        'Done.',
      ]
      const options = { tools, inputProcessors: [forget], outputProcessors: [review] }
      const { agent, store } = conversation(turns, options)
      await agent.generate(pay, thread)
      await agent.generate(await answered(store), thread)
      const before = 'assistant: call-1:output-available=paid 1 call-3:'
      expect((await storedLines(store))[1]).toBe(`${before}approval-requested`)
      await agent.generate(await answered(store), { ...thread, inputProcessors: [] })
      expect((await storedLines(store))[1]).toBe(`${before}output-available=paid 2 [Done.]`)
    })
  })

  it('that is refused when it goes on does not bring back what was hidden', async () => {
    const hide: Processor = {
      id: 'hide',
      processInputStep: ({ messageList }) => {
        for (const { id } of messageList.get.input.db())
          messageList.update(id, draft => void ((draft.content.parts[0] as { text: string }).text = 'hidden'))
      },
    }
    const guard: Processor = { id: 'guard', processToolResult: ({ abort }) => abort('no') }
    const store = inMemoryStore()
    const options = { store, inputProcessors: [hide], outputProcessors: [guard] }
    const asked = await cashier([asks], options).agent.generate('secret', thread)
    const taken = await memory({ store }).takeRun(asked.runId)
    const decisions = asked.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const resumed = cashier(['never'], options).agent.resume(taken!.state as LoopState, decisions, thread)
    expect(await resumed.stopReason).toBe('tripwire')
    expect(await storedLines(store)).toEqual(['user: hidden', 'assistant: [data-tripwire]'])
  })

  it('that fails when it goes on keeps what was stored, and ends its calls', async () => {
    const { agent, store } = cashier([asks, { ...asks, toolCalls: [{ ...asks.toolCalls[0]!, toolCallId: 'again' }] }])
    await agent.generate(pay, thread)
    const failing: Processor = {
      id: 'failing',
      processOutputStep: () => {
        throw new Error('no')
      },
    }
    await expect(agent.generate(await answered(store), { ...thread, outputProcessors: [failing] })).rejects.toThrow(
      'no',
    )
    expect(await storedLines(store)).toEqual(['user: Pay!', 'assistant: Let me pay. call-1:output-available=paid 5'])
  })
})
