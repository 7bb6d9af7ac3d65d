import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { resumeLoop } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { redactor, type RedactorOptions } from '@lockstep/processors-builtin/redactor'
import { runWith } from '@lockstep/testing'

const mail = 'joe.smith@corp.example'

class User {
  readonly email = mail
}

class Account {
  readonly #email = mail
  toJSON() {
    return { email: this.#email }
  }
}

const call = { toolCalls: [{ toolName: 'look', input: {} }] }
const look = (execute: () => unknown) => ({ look: tool({ inputSchema: z.object({}), execute }) })

/** A value with all that a reader in this process finds in it. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (item instanceof Error) return [item.name, item.message, item.stack, item.cause, Object.entries(item)]
    return item instanceof Map || item instanceof Set ? [...(item as Set<unknown>)] : item
  })
}

/** Notes what the conversation is as soon as each step has ended. */
function observer(seen: string[]): Processor {
  return { id: 'observer', processStepEnd: ({ messageList }) => void seen.push(written(messageList.get.all.db())) }
}

async function lookedAt(execute: () => unknown, options: RedactorOptions = {}) {
  const seen: string[] = []
  const { result, chunks, prompts } = await runWith([redactor(options), observer(seen)], {
    model: [call, 'Done.'],
    tools: look(execute),
  })
  return { output: chunks.find(({ type }) => type === 'tool-result'), all: written([seen, chunks, prompts, result]) }
}

describe('what a tool gives', () => {
  it('is redacted whatever it is made of', async () => {
    for (const output of [
      new User(),
      new Account(),
      [{ users: [new User()] }],
      new Map([['a', { email: mail }]]),
      new Set([mail]),
      new URL(`https://x.example/?u=${mail}`),
      Object.assign(Object.create(null) as object, { email: mail }),
      new Error(`no ${mail}`, { cause: mail }),
    ])
      expect((await lookedAt(() => output)).all).not.toContain(mail)
  })

  it('is redacted when it is for the model alone', async () => {
    const seen: string[] = []
    const toModelOutput = () => ({ type: 'content' as const, value: [{ type: 'text' as const, text: mail }] })
    const { result, prompts } = await runWith([redactor(), observer(seen)], {
      model: [call, 'Done.'],
      tools: { look: tool({ inputSchema: z.object({}), execute: () => 1, toModelOutput }) },
    })
    expect(written([seen, prompts, result])).not.toContain(mail)
  })

  it('stays the same object when there is nothing in it, bytes and dates included', async () => {
    for (const output of [
      new Date(0),
      new Uint8Array(4),
      new Map([['a', 1]]),
      new Set(['a']),
      new URL('https://x.example'),
    ])
      expect((await lookedAt(() => output)).output).toMatchObject({ payload: { output } })
  })

  it('may refer back to itself', async () => {
    const output: { email: string; self?: unknown } = { email: mail }
    output.self = output
    expect((await lookedAt(() => output)).all).not.toContain(mail)
  })
})

describe('what a tool throws', () => {
  const errors: readonly (() => unknown)[] = [
    () => new Error(`no ${mail}`),
    () => new Error('no', { cause: new Error(mail) }),
    () => Object.assign(new Error('no'), { response: { body: mail } }),
    () => new User(),
    () => mail,
  ]
  const throwing = (make: () => unknown) => () => {
    throw make()
  }

  it('is redacted for readers, the model and the conversation, before anyone can store it', async () => {
    for (const make of errors) expect((await lookedAt(throwing(make))).all).not.toContain(mail)
  })

  it('is refused, when that is asked for, and shown to nobody', async () => {
    for (const make of errors) {
      const { all } = await lookedAt(throwing(make), { kinds: { email: 'block' } })
      expect(all).not.toContain(mail)
    }
  })

  it('is not in a conversation that is left because of an abort', async () => {
    const controller = new AbortController()
    const { result } = await runWith(redactor(), {
      abortSignal: controller.signal,
      model: [
        call,
        () => {
          controller.abort()
          return 'Never said.'
        },
      ],
      tools: look(throwing(errors[0]!)),
    })
    expect(result.stopReason).toBe('aborted')
    expect(written(result.messageList)).not.toContain(mail)
  })

  it('is not in a conversation that waits for a person', async () => {
    const { result } = await runWith(redactor(), {
      model: [{ toolCalls: [...call.toolCalls, { toolName: 'ask', input: {} }] }],
      tools: {
        ...look(throwing(errors[0]!)),
        ask: tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 1 }),
      },
    })
    expect(result.stopReason).toBe('suspended')
    expect(written(result.messageList)).not.toContain(mail)
    expect(JSON.stringify(result.loopState)).not.toContain(mail)
  })
})

describe('the reason of a guard', () => {
  it('is redacted, for the person who is asked too', async () => {
    for (const decision of [{ deny: `not for ${mail}` }, { ask: `for ${mail}?` }]) {
      const { result, chunks, prompts } = await runWith(
        [{ id: 'guard', processToolCall: () => decision }, redactor()],
        {
          model: [call, 'Done.'],
          tools: look(() => 1),
        },
      )
      expect(written([chunks, prompts, result.messageList])).not.toContain(mail)
    }
  })
})

describe('an input that waits for a person', () => {
  it('is redacted as the model wrote it too, and runs as it was approved', async () => {
    const inputs: unknown[] = []
    const send = tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: input => void inputs.push(input),
    })
    const guard = redactor()
    const { result } = await runWith(guard, {
      model: [{ toolCalls: [{ toolName: 'send', input: { to: 'all', copy: mail } }] }],
      tools: { send },
    })
    expect(written(result.messageList)).not.toContain(mail)
    const decisions = result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const processors = { inputProcessors: [guard], outputProcessors: [guard] }
    const loop = resumeLoop(
      { state: result.loopState!, decisions },
      { model: scriptedModel(['Sent.']), tools: { send }, ...processors },
    )
    for await (const chunk of loop) expect(written(chunk)).not.toContain(mail)
    expect(inputs).toEqual([{ to: 'all' }])
  })
})
