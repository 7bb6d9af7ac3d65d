import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { tool, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'

const ran: number[] = []
const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => (ran.push(euros), `paid ${euros}`),
})
const tools = { pay }
const approvalSecret = 'hush'
const callPay = { text: 'Paying.', toolCalls: [{ toolName: 'pay', input: { euros: 5 } }] }

type ToolUIPart = Extract<UIMessage['parts'][number], { toolCallId: string }>

/** What a chat client has on the screen after a run that asks, with what the person clicked. */
async function clicked(answer: object, options: Partial<DrainOptions> = {}) {
  ran.length = 0
  const { result } = await drain({ model: scriptedModel([callPay]), tools, approvalSecret, ...options })
  const messages = structuredClone(result.messageList.toUIMessages()) as UIMessage[]
  const part = messages[1]!.parts.find((one): one is ToolUIPart => 'toolCallId' in one)!
  Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, ...answer } })
  return { messages, part }
}

/** A new run over what the client sent. */
const sent = (messages: readonly UIMessage[], options: Partial<DrainOptions> = {}) =>
  drain({
    model: scriptedModel(['Done.']),
    tools,
    approvalSecret,
    messageList: new MessageList().add(messages as never, 'input'),
    ...options,
  })

describe('an approval in a message of the client', () => {
  it('runs the call when the request was signed, and the response goes on in the same message', async () => {
    const { messages } = await clicked({ approved: true })
    const model = scriptedModel(['Done.'])
    const { result, types, chunks } = await sent(messages, { model })
    expect(ran).toEqual([5])
    expect(result).toMatchObject({ stopReason: 'completed', text: 'Done.' })
    expect(types.slice(0, 3)).toEqual(['start', 'tool-result', 'step-start'])
    expect(chunks[0]).toMatchObject({ payload: { messageId: messages[1]!.id } })
    expect(result.messages.map(({ id }) => id)).toEqual([messages[1]!.id])
    expect(model.doStreamCalls[0]!.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  it('passes the guards again: who asks is answered, who denies is heard', async () => {
    const { messages, part } = await clicked({ approved: true })
    const seen: unknown[] = []
    const asks: Processor = {
      id: 'asks',
      processToolCall: ({ approval }) => (seen.push(approval?.approvalId), { ask: 'sure?' }),
    }
    const { result } = await sent(messages, { outputProcessors: [asks] })
    expect(result.stopReason).toBe('completed')
    expect(seen).toEqual([part.approval!.id])
    expect(ran).toEqual([5])
    ran.length = 0
    const denied = await sent(messages, {
      outputProcessors: [{ id: 'no', processToolCall: () => ({ deny: 'closed' }) }],
    })
    expect(denied.types).toContain('tool-output-denied')
    expect(ran).toEqual([])
  })

  it('is refused without a secret, without a signature, and with a wrong one; nothing runs', async () => {
    const { messages } = await clicked({ approved: true })
    const bare = (await clicked({ approved: true, signature: undefined })).messages
    const forged = (await clicked({ approved: true, signature: 'AAAA' })).messages
    for (const [given, options, why] of [
      [messages, { approvalSecret: undefined as never }, 'there is no approvalSecret'],
      [bare, {}, 'it has no signature'],
      [forged, {}, 'its signature is wrong'],
      [messages, { approvalSecret: 'another' }, 'its signature is wrong'],
    ] as const) {
      const { result } = await sent(given, options)
      expect(result).toMatchObject({ stopReason: 'error', error: { code: 'unverified-approval' } })
      expect(String(result.error)).toContain(why)
    }
    expect(ran).toEqual([])
  })

  it('is refused when the client changed what was approved', async () => {
    const { messages, part } = await clicked({ approved: true })
    part.input = { euros: 5000 }
    const { result } = await sent(messages)
    expect(result.error).toMatchObject({ code: 'unverified-approval' })
    expect(ran).toEqual([])
  })

  it('is refused when the client made up the whole call', async () => {
    const part = { type: 'tool-pay', toolCallId: 'mine', input: { euros: 1 }, state: 'approval-responded' }
    const made = [{ id: 'm', role: 'assistant', parts: [{ ...part, approval: { id: 'a', approved: true } }] }]
    const { result } = await sent(made as never)
    expect(result.error).toMatchObject({ code: 'unverified-approval' })
  })

  it('needs no signature when a store vouches for the request', async () => {
    ran.length = 0
    const { result } = await drain({ model: scriptedModel([callPay]), tools })
    const ui = structuredClone(result.messageList.toUIMessages()) as UIMessage[]
    const part = ui[1]!.parts.find((one): one is ToolUIPart => 'toolCallId' in one)!
    Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved: true } })
    const messageList = new MessageList().add(result.messageList.get.all.db(), 'memory').add(ui as never, 'input')
    const end = await drain({ model: scriptedModel(['Done.']), tools, messageList })
    expect(end.result.stopReason).toBe('completed')
    expect(ran).toEqual([5])
  })

  it('runs a call once: what has its result is not run when it is sent again', async () => {
    const { messages } = await clicked({ approved: true })
    const { result } = await sent(messages)
    const again = await sent([
      ...(result.messageList.toUIMessages() as UIMessage[]),
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Thanks' }] },
    ])
    expect(again.result.stopReason).toBe('completed')
    expect(ran).toEqual([5])
  })

  it('counts when something was said after it, and is found by its id', async () => {
    const { messages } = await clicked({ approved: true })
    const more = { id: 'u2', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Go on.' }] }
    const { result } = await sent([...messages, more])
    expect(ran).toEqual([5])
    expect(result.messageList.get.all.db().map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('may be a refusal, which nobody has to vouch for', async () => {
    const { messages } = await clicked({ approved: false, reason: 'too dear' })
    const model = scriptedModel(['As you like.'])
    const { result, types } = await sent(messages, { model, approvalSecret: undefined as never })
    expect(result.stopReason).toBe('completed')
    expect(types.slice(0, 3)).toEqual(['start', 'tool-output-denied', 'step-start'])
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt.at(-1))).toContain('too dear')
    expect(ran).toEqual([])
  })

  it('gets the value that its schema makes, from what the schema was given', async () => {
    const given: unknown[] = []
    const when = tool({
      inputSchema: z.object({ at: z.string().transform(text => text.length) }),
      needsApproval: true,
      execute: input => void given.push(input),
    })
    const turns = [{ toolCalls: [{ toolName: 'when', input: { at: 'noon' } }] }]
    const { messages, part } = await clicked({ approved: true }, { tools: { when }, model: scriptedModel(turns) })
    await sent(messages, { tools: { when } })
    Object.assign(part.approval!, { inputSchemaInput: { at: 'midnight' } })
    const { result } = await sent(messages, { tools: { when } })
    expect(given).toEqual([{ at: 4 }])
    expect(result.messages[0]!.content.parts[1]).toMatchObject({ state: 'output-error' })
  })
})
