// A hook that throws: the run fails with its name, or goes on without it.
import { runInNewContext } from 'node:vm'
import type { Processor, ProcessorArrays } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, modelNamed, settingsOf, stepResult, testRun, text, textsOf, type TestRun } from './run-host.ts'

interface HookRun {
  readonly hook: keyof Processor
  readonly array: keyof ProcessorArrays
  readonly go: (run: TestRun) => unknown
}

const toolCall = { toolCallId: 'c', toolName: 't', input: 1 }
const output = { finishReason: 'stop', toolCalls: [], text: '', usage: {} } as never
const result = { text: '', usage: {}, finishReason: 'stop', steps: [] } as never
const response = { model: modelNamed('m'), chunks: [], fromCache: false }
const hooks: readonly HookRun[] = [
  { hook: 'processInput', array: 'inputProcessors', go: run => run.runner.runProcessInput(atStart) },
  {
    hook: 'processInputStep',
    array: 'inputProcessors',
    go: run => run.runner.runProcessInputStep({ position: atStart, settings: settingsOf(), feedback: undefined }),
  },
  {
    hook: 'processLLMRequest',
    array: 'inputProcessors',
    go: run => run.runner.runProcessLLMRequest({ position: atStart, prompt: [], settings: { model: modelNamed('m') } }),
  },
  {
    hook: 'processAPIError',
    array: 'errorProcessors',
    go: run => run.runner.runProcessAPIError({ position: atStart, error: new Error('x'), shownChunkCount: 0 }),
  },
  {
    hook: 'processOutputStream',
    array: 'outputProcessors',
    go: run => run.runner.streamChain(atStart).pass(text('x')),
  },
  { hook: 'flush', array: 'outputProcessors', go: run => run.runner.streamChain(atStart).flush('finish') },
  {
    hook: 'processLLMResponse',
    array: 'outputProcessors',
    go: run => run.runner.runProcessLLMResponse({ position: atStart, response }),
  },
  {
    hook: 'processOutputStep',
    array: 'outputProcessors',
    go: run => run.runner.runProcessOutputStep(() => ({ position: atStart, own: output })),
  },
  {
    hook: 'processToolCall',
    array: 'outputProcessors',
    go: run => run.runner.runProcessToolCall({ position: atStart, toolCall }),
  },
  {
    hook: 'processToolResult',
    array: 'outputProcessors',
    go: run => run.runner.runProcessToolResult({ position: atStart, toolCall, outcome: { output: 1 } }),
  },
  {
    hook: 'processStepEnd',
    array: 'outputProcessors',
    go: run => run.runner.runProcessStepEnd({ position: atStart, step: stepResult() }),
  },
  {
    hook: 'processOutputResult',
    array: 'outputProcessors',
    go: run => run.runner.runProcessOutputResult(() => ({ position: atStart, own: { result } })),
  },
  {
    hook: 'processRunEnd',
    array: 'outputProcessors',
    go: run => run.runner.runProcessRunEnd({ position: atStart, end: { stopReason: 'completed', result } }),
  },
]

const runWith = ({ hook, array }: HookRun, method: (...args: never[]) => unknown, more: Partial<Processor> = {}) =>
  testRun({ [array]: [{ id: 'broken', ...more, [hook]: method } as Processor] })

const caught = (work: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (error: unknown) => error,
    )

describe.each(hooks)('an error in $hook', one => {
  const cause = new TypeError('no dictionary')

  it.each([
    [
      'thrown',
      (): never => {
        throw cause
      },
    ],
    ['rejected', () => Promise.reject(cause)],
  ])('fails the run with the name of the processor, the hook and the cause when %s', async (_, method) => {
    const error = await caught(() => one.go(runWith(one, method)))
    expect(error).toMatchObject({
      name: 'ProcessorError',
      code: 'hook-failed',
      processorId: 'broken',
      hook: one.hook,
      message: `The processor 'broken' failed in ${one.hook}: no dictionary`,
    })
    expect((error as Error).cause).toBe(cause)
  })

  it.each([
    [
      'thrown',
      (): never => {
        throw cause
      },
    ],
    ['rejected', () => Promise.reject(cause)],
  ])('is passed over with onError skip and kept in the account when %s', async (_, method) => {
    const run = runWith(one, method, { onError: 'skip' })
    expect(await caught(() => one.go(run))).toBeUndefined()
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'broken', hook: one.hook, effect: { type: 'skipped', error: cause } },
    ])
  })

  it('has the name of the processor also when what was thrown has no text', async () => {
    const bare: unknown = Object.create(null)
    const error = await caught(() => one.go(runWith(one, () => Promise.reject(bare as Error))))
    expect(error).toMatchObject({ code: 'hook-failed', processorId: 'broken', hook: one.hook, cause: bare })
  })

  it('is a ProcessorError as it was when the processor threw one', async () => {
    const error = await caught(() =>
      one.go(
        runWith(one, ({ writer }: never) => (writer as { custom(chunk: object): unknown }).custom({ type: 'text' })),
      ),
    )
    expect(error).toMatchObject({ name: 'ProcessorError', code: 'invalid-data-chunk' })
  })
})

describe('a hook that is passed over', () => {
  it('leaves no half of its edits behind: what came to it goes on', async () => {
    const half: Processor = {
      id: 'half',
      onError: 'skip',
      processInput({ messageList }) {
        messageList.add('half', 'input').addSystem('half')
        throw new Error('lost the rest')
      },
    }
    let seen: readonly string[] = []
    const run = testRun({
      inputProcessors: [half, { id: 'next', processInput: ({ messages }) => void (seen = textsOf(messages)) }],
    })
    const before = run.list.snapshot()
    await run.runner.runProcessInput(atStart)
    expect(seen).toEqual(['one', 'two'])
    expect(run.list.snapshot()).toBe(before)
  })

  it('is not passed over for a return that breaks the contract: that is a mistake in the code, not bad luck', async () => {
    const wrong: Processor = { id: 'wrong', onError: 'skip', processInput: () => 5 as never }
    const run = testRun({ inputProcessors: [wrong] })
    await expect(async () => run.runner.runProcessInput(atStart)).rejects.toMatchObject({ code: 'invalid-return' })
  })
})

describe('an error that is no Error', () => {
  it('is told and kept as the cause', async () => {
    const run = testRun({ inputProcessors: [{ id: 'odd', processInput: () => Promise.reject('just a string') }] })
    await expect(async () => run.runner.runProcessInput(atStart)).rejects.toMatchObject({
      message: "The processor 'odd' failed in processInput: just a string",
      cause: 'just a string',
    })
  })
})

describe('a result that is no promise', () => {
  it.each(hooks.filter(({ hook }) => hook !== 'processAPIError' && hook !== 'flush'))(
    'is never awaited: $hook',
    one => {
      expect(one.go(runWith(one, () => undefined))).not.toBeInstanceOf(Promise)
    },
  )

  it.each(hooks.filter(({ hook }) => hook !== 'processAPIError'))(
    'costs nothing where nobody has the hook: $hook',
    ({ go }) => {
      expect(go(testRun())).not.toBeInstanceOf(Promise)
    },
  )

  it('is not awaited between two that are none, whatever comes later in the chain', async () => {
    const order: string[] = []
    const run = testRun({
      inputProcessors: [
        { id: 'a', processInput: () => void order.push('a') },
        { id: 'b', processInput: () => void order.push('b') },
        { id: 'c', processInput: () => (order.push('c'), Promise.resolve()) },
        { id: 'd', processInput: () => void order.push('d') },
      ],
    })
    const pending = run.runner.runProcessInput(atStart)
    order.push('returned')
    await pending
    expect(order).toEqual(['a', 'b', 'c', 'returned', 'd'])
  })
})

describe('a promise of another realm', () => {
  it('is awaited like any other', async () => {
    const foreign = runInNewContext('Promise.resolve(["three"])') as Promise<string[]>
    expect(foreign).not.toBeInstanceOf(Promise)
    const run = testRun({ inputProcessors: [{ id: 'p', processInput: () => foreign }] })
    await run.runner.runProcessInput(atStart)
    expect(textsOf(run.list.getMessages())).toEqual(['three'])
  })
})

it.each(hooks.filter(({ hook }) => !['processStepEnd', 'processRunEnd', 'processLLMResponse'].includes(hook)))(
  'what $hook returns is refused with its name, also when it is no JSON',
  async one => {
    const error = await caught(() => one.go(runWith(one, () => 7n as never)))
    expect(error).toMatchObject({
      name: 'ProcessorError',
      code: 'invalid-return',
      processorId: 'broken',
      hook: one.hook,
    })
  },
)
