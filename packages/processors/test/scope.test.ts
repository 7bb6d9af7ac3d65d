// What stays in a step's prompt and what enters the conversation.
import { applyOverlay } from '@lockstep/message-list'
import { PrepareStepProcessor, type Processor } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { hooked, inputStep, saying, testRun, textsOf, type TestRun } from './run-host.ts'

type Hook = NonNullable<Processor['processInputStep']>

/** Shapes a step by hooks in order; gives what the prompt would say and what the list says after. */
async function shape(...hooks: Hook[]) {
  const run = testRun({
    inputProcessors: hooks.map((processInputStep, index) => hooked(`p${index + 1}`, { processInputStep })),
  })
  const { overlay } = await inputStep(run)
  const messages = run.list.getMessages()
  return { run, list: textsOf(messages), prompt: textsOf(overlay ? applyOverlay(messages, overlay) : messages) }
}

const kept = (run: TestRun) =>
  run.runner.ledger.events.flatMap(({ processorId, effect }) =>
    effect.type === 'kept-step-only' ? [[processorId, ...effect.messageIds]] : [],
  )

const addForStep: Hook = ({ messages }) => ({ messages: [...messages, 'ephemeral'], scope: 'step' })

describe('the scope of a returned array', () => {
  it('is the run by default: the conversation is edited', async () => {
    const { list, prompt } = await shape(({ messages }) => ({ messages: [...messages, 'three'] }))
    expect([list, prompt]).toEqual([
      ['one', 'two', 'three'],
      ['one', 'two', 'three'],
    ])
  })

  it.each<[string, Hook, readonly string[]]>([
    ['adds', ({ messages }) => ({ messages: ['zero', ...messages], scope: 'step' }), ['zero', 'one', 'two']],
    [
      'replaces',
      ({ messages }) => ({ messages: [saying(messages[0]!, 'ONE'), messages[1]!], scope: 'step' }),
      ['ONE', 'two'],
    ],
    ['hides', ({ messages }) => ({ messages: messages.slice(1), scope: 'step' }), ['two']],
    ['reorders', ({ messages }) => ({ messages: messages.toReversed(), scope: 'step' }), ['two', 'one']],
  ])('can be the step: what it %s is in the prompt and leaves the list alone', async (_, hook, expected) => {
    const run = testRun({ inputProcessors: [hooked('p', { processInputStep: hook })] })
    const before = run.list.snapshot()
    const { overlay } = await inputStep(run)
    expect(textsOf(applyOverlay(run.list.getMessages(), overlay!))).toEqual(expected)
    expect(run.list.snapshot()).toBe(before)
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'changed', what: ['prompt'] } }])
  })

  it('is the step for a processor of prepareStep, unless it says the run', async () => {
    const forStep = await shape(args =>
      new PrepareStepProcessor({ prepareStep: ({ messages }) => ({ messages: [...messages, 'x'] }) }).processInputStep(
        args,
      ),
    )
    expect([forStep.list, forStep.prompt]).toEqual([
      ['one', 'two'],
      ['one', 'two', 'x'],
    ])
    const forRun = await shape(args =>
      new PrepareStepProcessor({
        prepareStep: ({ messages }) => ({ messages: [...messages, 'x'], scope: 'run' }),
      }).processInputStep(args),
    )
    expect(forRun.list).toEqual(['one', 'two', 'x'])
  })

  it('does not change what settings mean: they hold for the step', async () => {
    const run = testRun({
      inputProcessors: [hooked('p', { processInputStep: () => ({ scope: 'step', toolChoice: 'none' }) })],
    })
    expect((await inputStep(run)).settings.toolChoice).toBe('none')
  })
})

describe('a step-only message', () => {
  it('is seen by the processors after', async () => {
    let seen: readonly string[] = []
    await shape(addForStep, ({ messages }) => void (seen = textsOf(messages)))
    expect(seen).toEqual(['one', 'two', 'ephemeral'])
  })

  it('stays step-only for the rest of the chain, a run-scoped edit included, reported', async () => {
    const { run, list, prompt } = await shape(addForStep, ({ messages }) =>
      messages.map(message => saying(message, textsOf([message])[0]!.toUpperCase())),
    )
    expect(list).toEqual(['ONE', 'TWO'])
    expect(prompt).toEqual(['ONE', 'TWO', 'EPHEMERAL'])
    expect(kept(run)).toEqual([['p2', 'm3']])
  })

  it('stays so when it was replaced: the run keeps what was said, whoever edits it next', async () => {
    const { run, list, prompt } = await shape(
      ({ messages }) => ({ messages: [saying(messages[0]!, 'short'), messages[1]!], scope: 'step' }),
      ({ messages }) => [saying(messages[0]!, 'shorter'), messages[1]!],
    )
    expect([list, prompt]).toEqual([
      ['one', 'two'],
      ['shorter', 'two'],
    ])
    expect(kept(run)).toEqual([['p2', 'm1']])
  })

  it('is only hidden again by a run-scoped return that leaves it out', async () => {
    const { run, list, prompt } = await shape(addForStep, ({ messages }) => messages.slice(0, 2))
    expect([list, prompt]).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ])
    expect(kept(run)).toEqual([['p2', 'm3']])
  })

  it('stays so when it was hidden: the next array, which never had it, does not delete it', async () => {
    const { list, prompt } = await shape(
      ({ messages }) => ({ messages: messages.slice(1), scope: 'step' }),
      ({ messages }) => [...messages, 'three'],
    )
    expect([list, prompt]).toEqual([
      ['one', 'two', 'three'],
      ['two', 'three'],
    ])
  })

  it('lets others through: an edit of the run beside it is made in the run', async () => {
    const { run, list, prompt } = await shape(addForStep, ({ messages }) => [
      saying(messages[0]!, 'ONE'),
      ...messages.slice(1),
      'three',
    ])
    expect([list, prompt]).toEqual([
      ['ONE', 'two', 'three'],
      ['ONE', 'two', 'ephemeral', 'three'],
    ])
    expect(kept(run)).toEqual([])
  })

  it('stands in the prompt where the last returned array has it', async () => {
    const { list, prompt } = await shape(
      ({ messages }) => ({ messages: ['ephemeral', ...messages], scope: 'step' }),
      ({ messages }) => [messages[0]!, 'kept', ...messages.slice(1)],
      ({ messages }) => [...messages, 'kept too'],
    )
    expect(list).toEqual(['kept', 'one', 'two', 'kept too'])
    expect(prompt).toEqual(['ephemeral', 'kept', 'one', 'two', 'kept too'])
  })

  it('moves with a run-scoped return in another order, which reorders the conversation as far as it is there', async () => {
    const { list, prompt } = await shape(addForStep, ({ messages }) => messages.toReversed())
    expect(list).toEqual(['two', 'one'])
    expect(prompt).toEqual(['ephemeral', 'two', 'one'])
  })

  it('is gone when the step is made again', async () => {
    let calls = 0
    const run = testRun({
      inputProcessors: [hooked('p', { processInputStep: args => (calls++ === 0 ? addForStep(args) : undefined) })],
    })
    expect((await inputStep(run)).overlay).toBeDefined()
    expect((await inputStep(run)).overlay).toBeUndefined()
  })
})

describe('a scope that is neither', () => {
  it('is refused, so that a misspelt one does not edit the conversation', () => {
    const run = testRun({ inputProcessors: [hooked('p', { processInputStep: () => ({ scope: 'stp' }) as never })] })
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({
        code: 'invalid-return',
        message: `The processor 'p' returned the scope "stp" from processInputStep. It is 'run' or 'step'.`,
      }),
    )
  })
})
