// processInput, processOutputStep and processOutputResult: hooks that are given messages and may return others.
import { MessageList, type AgentMessage, type MessageInput } from '@lockstep/message-list'
import type { MaybePromise, ProcessorMessageResult, Processor, ProcessOutputStepArgs } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, saying, stepResult, testRun, textsOf, type TestRun } from './run-host.ts'

interface Given {
  readonly messages: readonly AgentMessage[]
  readonly messageList: MessageList
  readonly state: Record<string, unknown>
}
type Hook = (given: Given) => MaybePromise<ProcessorMessageResult>

const answer = { finishReason: 'stop', toolCalls: [], text: 'two', usage: {} } as const
const result = { text: 'two', usage: {}, finishReason: 'stop', steps: [] } as const

interface Case {
  readonly hook: 'processInput' | 'processOutputStep' | 'processOutputResult'
  readonly start: (...hooks: Hook[]) => { readonly run: TestRun; readonly go: () => MaybePromise<void> }
}

/** A run where the hook is given 'one' and 'two', with a memory that only processOutputStep is given too. */
const caseOf = (hook: Case['hook']): Case => ({
  hook,
  start(...hooks) {
    const processors = hooks.map((method, index) => hooked(`p${index + 1}`, { [hook]: method } as Partial<Processor>))
    const isInput = hook === 'processInput'
    const run = testRun({
      [isInput ? 'inputProcessors' : 'outputProcessors']: processors,
      input: [],
      instructions: ['Be brief.'],
    })
    run.list.add(
      ['one', 'two'].map(words => ({ role: 'assistant' as const, parts: [{ type: 'text' as const, text: words }] })),
      isInput ? 'input' : 'response',
    )
    const go = {
      processInput: () => run.runner.runProcessInput(atStart),
      processOutputStep: () => run.runner.runProcessOutputStep(() => ({ position: atStart, own: answer as never })),
      processOutputResult: () =>
        run.runner.runProcessOutputResult(() => ({ position: atStart, own: { result: result as never } })),
    }[hook]
    return { run, go }
  },
})

const cases = (['processInput', 'processOutputStep', 'processOutputResult'] as const).map(caseOf)

describe.each(cases)('what $hook returns', ({ hook, start }) => {
  it.each<[string, Hook]>([
    ['the list that it edited', ({ messageList }) => messageList.add({ role: 'user', content: 'three' }, 'context')],
    ['an array', ({ messages }) => [...messages, 'three']],
    ['an object with messages', ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'three' }] })],
    ['a promise', async ({ messages }) => (await Promise.resolve(), [...messages, 'three'])],
  ])('may be %s', async (_, method) => {
    const { run, go } = start(method)
    await go()
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two', 'three'])
    expect(run.list.getAllSystemMessages()).toEqual([{ role: 'system', content: 'Be brief.' }])
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'p1', hook, effect: { type: 'changed', what: ['messages'] } },
    ])
  })

  it('may be nothing: nothing changes and nothing is noted', async () => {
    for (const nothing of [undefined, null] as const) {
      const { run, go } = start(() => nothing as undefined)
      const before = run.list.snapshot()
      await go()
      expect(run.list.snapshot()).toBe(before)
      expect(run.runner.ledger.events).toEqual([])
    }
  })

  it('may replace the system messages alone', async () => {
    const { run, go } = start(() => ({ systemMessages: [{ role: 'system', content: 'Be long.' }] }))
    await go()
    expect(run.list.getAllSystemMessages()).toEqual([{ role: 'system', content: 'Be long.' }])
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two'])
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'changed', what: ['systemMessages'] } }])
  })

  it('may be both, messages and system messages', async () => {
    const { run, go } = start(({ messages }) => ({
      messages: [...messages, 'three'],
      systemMessages: [{ role: 'system', content: 'Be long.' }],
    }))
    await go()
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two', 'three'])
    expect(run.list.getAllSystemMessages()).toEqual([{ role: 'system', content: 'Be long.' }])
    expect(run.runner.ledger.events).toMatchObject([{ effect: { what: ['messages', 'systemMessages'] } }])
  })

  it('is compared with what was given: missing is removed, another object replaces, the same is untouched', async () => {
    const { run, go } = start(({ messages }) => [saying(messages[1]!, 'TWO')])
    const [one, two] = run.list.getMessages()
    await go()
    expect(textsOf(run.list.getMessages())).toEqual(['TWO'])
    expect([run.list.find(one!.id), run.list.find(two!.id)?.id]).toEqual([undefined, 'm2'])
    const untouched = start(({ messages }) => [messages[0]!, saying(messages[1]!, 'TWO')])
    const first = untouched.run.list.getMessages()[0]
    await untouched.go()
    expect(untouched.run.list.getMessages()[0]).toBe(first)
  })

  it('may hold messages without an id, which are new, in the place where they stand', async () => {
    const { run, go } = start(
      ({ messages }) =>
        ['zero', messages[0]!, { role: 'user', content: 'one and a half' }, messages[1]!] as MessageInput[],
    )
    await go()
    expect(textsOf(run.list.getMessages())).toEqual(['zero', 'one', 'one and a half', 'two'])
    const source = hook === 'processInput' ? 'input' : 'response'
    expect(run.list.getMessages().map(({ id }) => run.list.sourceOf(id))).toEqual(
      Array.from({ length: 4 }, () => source),
    )
  })

  it('adds system messages in the array to the instructions, never to the conversation', async () => {
    const { run, go } = start(({ messages }) => [{ role: 'system', content: 'And polite.' }, ...messages])
    await go()
    expect(run.list.getAllSystemMessages().map(({ content }) => content)).toEqual(['Be brief.', 'And polite.'])
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two'])
  })

  it('is committed before the next processor is called', async () => {
    const seen: (readonly string[])[] = []
    const { go } = start(
      ({ messages }) => [messages[0]!, saying(messages[1]!, 'TWO')],
      ({ messages }) => void seen.push(textsOf(messages)),
    )
    await go()
    expect(seen).toEqual([['one', 'TWO']])
  })

  it('cannot be another list', async () => {
    const { go } = start(() => new MessageList())
    await expect(async () => go()).rejects.toMatchObject({
      code: 'external-message-list',
      message: expect.stringContaining(`from ${hook} than the one it was given`),
    })
  })

  it('cannot have keys that mean nothing', async () => {
    const { go } = start(({ messages }) => ({ messages, system: [] }) as never)
    await expect(async () => go()).rejects.toMatchObject({
      code: 'unknown-key',
      message: `The processor 'p1' returned an unknown key 'system' from ${hook}. The keys are messages, systemMessages.`,
    })
  })

  it.each([[7], ['text'], [false]])('cannot be %j', async returned => {
    const { go } = start(() => returned as never)
    await expect(async () => go()).rejects.toMatchObject({ code: 'invalid-return', processorId: 'p1', hook })
  })

  it('is told the cure of a write in place', async () => {
    const { go } = start(({ messages }) => {
      ;(messages[0]!.content as { parts: unknown }).parts = []
    })
    await expect(async () => go()).rejects.toMatchObject({
      code: 'frozen-write',
      message: expect.stringMatching(new RegExp(`'p1' in ${hook} wrote .*update\\(`, 's')),
    })
  })
})

describe('an empty array', () => {
  it('is refused in processInput, where it would delete what was asked', async () => {
    const { go } = caseOf('processInput').start(() => [])
    await expect(async () => go()).rejects.toMatchObject({
      code: 'empty-messages',
      message:
        "The processor 'p1' returned an empty array from processInput, which would delete all 2 messages. " +
        'Return nothing for no change; to delete them, call messageList.clear().',
    })
  })

  it.each(['processOutputStep', 'processOutputResult'] as const)('is no change in %s', async hook => {
    for (const returned of [[], { messages: [] }]) {
      const { run, go } = caseOf(hook).start(() => returned)
      const before = run.list.snapshot()
      await go()
      expect(run.list.snapshot()).toBe(before)
    }
  })
})

describe('what the hooks are given', () => {
  it('is the new input in processInput; the history is under remembered', async () => {
    const seen: (readonly string[])[] = []
    const run = testRun({
      inputProcessors: [
        hooked('a', {
          processInput: ({ messages, messageList }) => (
            seen.push(textsOf(messages), textsOf(messageList.get.remembered.db())),
            messageList
          ),
        }),
        hooked('b', { processInput: ({ messages }) => void seen.push(textsOf(messages)) }),
      ],
      input: ['new'],
    })
    run.list.add({ role: 'user', content: 'old' }, 'memory').add({ role: 'user', content: 'aside' }, 'context')
    await run.runner.runProcessInput(atStart)
    expect(seen).toEqual([['new'], ['old'], ['new']])
  })

  it('is everything in processOutputStep, with what the model answered and the current step among the steps', async () => {
    let args: ProcessOutputStepArgs | undefined
    const run = testRun({
      outputProcessors: [hooked('p', { processOutputStep: given => void (args = given) })],
      instructions: ['Be brief.'],
    })
    run.list.add({ role: 'assistant', content: 'answer' }, 'response')
    const steps = [stepResult(), stepResult({ stepNumber: 1 })]
    const toolCalls = [{ toolCallId: 'c', toolName: 't', input: {} }]
    await run.runner.runProcessOutputStep(() => ({
      position: { stepNumber: 1, attemptNumber: 0, steps, retryCount: 3 },
      own: { finishReason: 'tool-calls', toolCalls, text: 'answer', usage: { totalTokens: 7 } as never },
    }))
    expect(args).toMatchObject({
      stepNumber: 1,
      retryCount: 3,
      finishReason: 'tool-calls',
      toolCalls,
      text: 'answer',
      usage: { totalTokens: 7 },
    })
    expect(args!.steps).toBe(steps)
    expect(textsOf(args!.messages)).toEqual(['one', 'two', 'answer'])
    expect(args!.systemMessages).toEqual([{ role: 'system', content: 'Be brief.' }])
  })

  it('is the response alone in processOutputResult, with the result read afresh for each', async () => {
    const seen: unknown[] = []
    let reads = 0
    const see: NonNullable<Processor['processOutputResult']> = ({ messages, result: output }) =>
      void seen.push(textsOf(messages), output.text)
    const run = testRun({
      outputProcessors: [hooked('a', { processOutputResult: see }), hooked('b', { processOutputResult: see })],
    })
    run.list.add({ role: 'assistant', content: 'answer' }, 'response')
    await run.runner.runProcessOutputResult(() => ({
      position: atStart,
      own: { result: { ...result, text: `read ${++reads}` } as never },
    }))
    expect(seen).toEqual([['answer'], 'read 1', ['answer'], 'read 2'])
  })
})
