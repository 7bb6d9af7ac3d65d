import { MessageList } from '@lockstep/message-list'
import {
  frozenSettings,
  ProcessorError,
  type Processor,
  type ProcessInputStepArgs,
  type StepSettings,
} from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { atStart, hooked, inputStep, modelNamed, saying, settingsOf, stepResult, testRun, textsOf } from './run-host.ts'

type Hook = NonNullable<Processor['processInputStep']>

const shaped = (...hooks: Hook[]) =>
  testRun({
    inputProcessors: hooks.map((processInputStep, index) => hooked(`p${index + 1}`, { processInputStep })),
    instructions: ['Be brief.'],
  })

const look = tool({ inputSchema: z.object({}), execute: () => 'seen' })

describe('ProcessorRunner.runProcessInputStep', () => {
  it('Single processor modifies model', async () => {
    const model = modelNamed('other')
    expect((await inputStep(shaped(() => ({ model })))).settings.model).toBe(model)
  })

  it('Single processor modifies toolChoice', async () => {
    const { settings } = await inputStep(shaped(() => ({ toolChoice: 'none' })))
    expect(settings.toolChoice).toBe('none')
  })

  it('Single processor modifies activeTools', async () => {
    const { settings } = await inputStep(
      shaped(() => ({ activeTools: ['look'] })),
      { tools: { look, touch: look } },
    )
    expect(settings.activeTools).toEqual(['look'])
    expect(Object.keys(settings.tools)).toEqual(['look', 'touch'])
  })

  it('Single processor modifies messages', async () => {
    const run = shaped(({ messages }) => ({ messages: [saying(messages[0]!, 'ONE'), messages[1]!] }))
    await inputStep(run)
    expect(textsOf(run.list.getMessages())).toEqual(['ONE', 'two'])
  })

  it('Single processor modifies systemMessages', async () => {
    const run = shaped(() => ({ systemMessages: [{ role: 'system', content: 'Be long.' }] }))
    await inputStep(run)
    expect(run.list.getAllSystemMessages()).toEqual([{ role: 'system', content: 'Be long.' }])
  })

  it('Multiple processors chain correctly (output of one affects next)', async () => {
    const seen: unknown[] = []
    const run = shaped(
      ({ messages }) => ({
        model: 'second',
        toolChoice: 'required',
        activeTools: ['look'],
        tools: { look },
        providerOptions: { test: { effort: 'low' } },
        modelSettings: { temperature: 1 },
        messages: [...messages, 'three'],
        systemMessages: [{ role: 'system', content: 'Be kind.' }],
      }),
      args => {
        const { model, toolChoice, activeTools, tools, providerOptions, modelSettings, messages, systemMessages } = args
        seen.push(model.modelId, toolChoice, activeTools, Object.keys(tools), providerOptions, modelSettings)
        seen.push(textsOf(messages), systemMessages)
        return { toolChoice: 'auto' }
      },
    )
    const { settings } = await inputStep(run)
    expect(seen).toEqual([
      'second',
      'required',
      ['look'],
      ['look'],
      { test: { effort: 'low' } },
      { temperature: 1 },
      ['one', 'two', 'three'],
      [{ role: 'system', content: 'Be kind.' }],
    ])
    expect([settings.model.modelId, settings.toolChoice]).toEqual(['second', 'auto'])
  })

  it('Processor can abort the run', () => {
    const run = shaped(({ abort }) => abort('not today', { metadata: { day: 'Sunday' } }))
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({
        name: 'TripWire',
        reason: 'not today',
        retry: false,
        metadata: { day: 'Sunday' },
        processorId: 'p1',
        hook: 'processInputStep',
      }),
    )
  })

  it('Error in processor stops the chain', () => {
    const cause = new Error('no network')
    let reached = false
    const run = shaped(
      () => {
        throw cause
      },
      () => void (reached = true),
    )
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({ code: 'hook-failed', processorId: 'p1', hook: 'processInputStep', cause }),
    )
    expect(reached).toBe(false)
  })

  it('MessageList mutations are tracked correctly', async () => {
    const run = shaped(({ messageList }) => {
      messageList.add('three', 'input').removeByIds(['m1'])
      return messageList
    })
    const before = run.list.changes.length
    await inputStep(run, {}, { ...atStart, stepNumber: 4 })
    const author = { id: 'p1', hook: 'processInputStep', step: 4 }
    expect(run.list.changes.slice(before).map(change => change.author)).toEqual([author, author])
    expect(textsOf(run.list.getMessages())).toEqual(['two', 'three'])
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'p1', stepNumber: 4, effect: { type: 'changed', what: ['messages'] } },
    ])
  })

  it('Validation: rejects external MessageList', () => {
    const external = new MessageList().add('elsewhere', 'input')
    for (const returned of [external, { messageList: external }])
      expect(() => inputStep(shaped(() => returned))).toThrow(
        expect.objectContaining({
          code: 'external-message-list',
          message: expect.stringMatching(
            /^The processor 'p1' returned another .* Edit the messageList of its arguments instead\.$/,
          ),
        }),
      )
  })

  it('Validation: rejects messages + messageList together', () => {
    const run = shaped(({ messages, messageList }) => ({ messages, messageList }))
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({
        code: 'messages-and-message-list',
        message: expect.stringContaining("'p1' returned both messages and messageList"),
      }),
    )
  })

  it('Validation: rejects v1 models', () => {
    const old = { specificationVersion: 'v1', provider: 'old', modelId: 'model' } as never
    expect(() => inputStep(shaped(() => ({ model: old })))).toThrow(
      expect.objectContaining({
        code: 'unsupported-model',
        processorId: 'p1',
        message: expect.stringMatching(/'p1' returned a model from processInputStep .* give v2, v3 or v4/),
      }),
    )
  })
})

describe('Edge Cases', () => {
  it('Empty inputProcessors array is handled', async () => {
    const run = testRun({ inputProcessors: [] })
    const settings = settingsOf()
    const before = run.list.snapshot()
    const prepared = await run.runner.runProcessInputStep({ position: atStart, settings, feedback: undefined })
    expect(prepared).toEqual({ settings, overlay: undefined })
    expect(prepared.settings).toBe(settings)
    expect(run.list.snapshot()).toBe(before)
  })

  it('Processor returns nothing (undefined)', async () => {
    for (const nothing of [undefined, null, {}]) {
      const run = shaped(() => nothing as undefined)
      const settings = settingsOf({ toolChoice: 'required' })
      const before = run.list.snapshot()
      const prepared = await inputStep(run, settings)
      expect(prepared.settings).toEqual(settings)
      expect(run.list.snapshot()).toBe(before)
      expect(run.runner.ledger.events).toEqual([])
    }
  })

  it('Processor only returns partial result (just toolChoice, not model)', async () => {
    const model = modelNamed('mine')
    const { settings } = await inputStep(
      shaped(() => ({ toolChoice: 'none', model: undefined })),
      { model, modelSettings: { topP: 1 } },
    )
    expect(settings).toMatchObject({ toolChoice: 'none', modelSettings: { topP: 1 } })
    expect(settings.model).toBe(model)
  })
})

describe('the arguments of processInputStep', () => {
  it('are the step, the settings, the conversation and the tools of every hook', async () => {
    let args: ProcessInputStepArgs | undefined
    const steps = [stepResult({ text: 'before' })]
    const settings = settingsOf({ activeTools: ['look'], tools: { look } })
    const run = testRun({
      inputProcessors: [hooked('p', { processInputStep: given => void (args = given) })],
      instructions: ['Be brief.'],
      tracingContext: { traceId: 't-1' },
    })
    const position = { stepNumber: 1, attemptNumber: 2, steps, retryCount: 2 }
    await run.runner.runProcessInputStep({ position, settings, feedback: undefined })
    expect(Object.keys(args!).toSorted()).toEqual(
      [
        'abort',
        'abortSignal',
        'activeTools',
        'callModel',
        'messageList',
        'messages',
        'model',
        'modelSettings',
        'providerOptions',
        'requestContext',
        'retryCount',
        'state',
        'stepNumber',
        'steps',
        'structuredOutput',
        'systemMessages',
        'toolChoice',
        'tools',
        'totalUsage',
        'tracingContext',
        'writer',
      ].toSorted(),
    )
    expect(args).toMatchObject({ stepNumber: 1, retryCount: 2, steps, tracingContext: { traceId: 't-1' }, state: {} })
    expect(args!.systemMessages).toEqual([{ role: 'system', content: 'Be brief.' }])
    expect(textsOf(args!.messages)).toEqual(['one', 'two'])
    expect(args!.messageList.isSameAs(run.list)).toBe(true)
    expect(args!.totalUsage).toMatchObject({ inputTokens: undefined, totalTokens: undefined })
    expect(args!.abortSignal).toBe(run.controller.signal)
    expect(args!.requestContext).toBe(run.requestContext)
  })

  it('never have system messages among the messages', async () => {
    let roles: readonly string[] = []
    const run = shaped(({ messages }) => void (roles = messages.map(message => message.role)))
    run.list.addSystem('And polite.')
    await inputStep(run)
    expect(roles).toEqual(['user', 'user'])
  })

  it('are read afresh for each processor, also when the list was edited in between', async () => {
    const seen: (readonly string[])[] = []
    const run = shaped(
      ({ messages, messageList }) => {
        messageList.add('three', 'input')
        seen.push(textsOf(messages))
      },
      ({ messages }) => void seen.push(textsOf(messages)),
    )
    await inputStep(run)
    expect(seen).toEqual([
      ['one', 'two'],
      ['one', 'two', 'three'],
    ])
  })
})

describe('what processInputStep returns', () => {
  it.each<[string, Hook]>([
    ['the list that it edited', ({ messageList }) => messageList.add('three', 'input')],
    ['an object with the list', ({ messageList }) => ({ messageList: messageList.add('three', 'input') })],
    ['an array', ({ messages }) => [...messages, 'three']],
    ['an object with messages', ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'three' }] })],
    ['a promise of any of these', async ({ messages }) => (await Promise.resolve(), [...messages, 'three'])],
  ])('may be %s', async (_, hook) => {
    const run = shaped(hook)
    await inputStep(run)
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two', 'three'])
  })

  it.each<[keyof StepSettings, unknown]>([
    ['model', modelNamed('x')],
    ['toolChoice', { type: 'tool', toolName: 'look' }],
    ['activeTools', []],
    ['tools', { look }],
    ['providerOptions', { test: { cache: true } }],
    ['modelSettings', { temperature: 0, headers: { a: 'b' }, maxRetries: 0 }],
    ['structuredOutput', { schema: z.object({ n: z.number() }), name: 'count' }],
  ])('may set %s, which replaces what was there and is noted', async (key, value) => {
    const run = shaped(() => ({ [key]: value }))
    const given = { modelSettings: { topP: 1 }, providerOptions: { other: {} }, tools: { touch: look } }
    const { settings } = await inputStep(run, given)
    expect(settings[key]).toEqual(value)
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'changed', what: [key] } }])
  })

  it('may name a model by a string or by the address of a server; the next processor sees the model', async () => {
    const seen: string[] = []
    const see: Hook = ({ model }) => void seen.push(`${model.specificationVersion} ${model.modelId}`)
    const server = { id: 'local', url: 'http://localhost:1234/v1' }
    await inputStep(
      shaped(
        () => ({ model: 'openai/gpt-5' }),
        see,
        () => ({ model: server }),
        see,
      ),
    )
    expect(seen).toEqual(['v4 openai/gpt-5', 'v4 local'])
  })

  it('adds the system messages among messages to those of the step', async () => {
    const run = shaped(({ messages }) => ({ messages: [...messages, { role: 'system', content: 'And polite.' }] }))
    await inputStep(run)
    expect(run.list.getAllSystemMessages().map(message => message.content)).toEqual(['Be brief.', 'And polite.'])
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two'])
  })

  it('replaces the system messages and adds to them in one return', async () => {
    const run = shaped(({ messages }) => ({
      systemMessages: [{ role: 'system', content: 'New.' }],
      messages: [{ role: 'system', content: 'And polite.' }, ...messages],
    }))
    await inputStep(run)
    expect(run.list.getAllSystemMessages().map(message => message.content)).toEqual(['New.', 'And polite.'])
  })

  it('keeps the feedback of a refused attempt, whatever replaces the other system messages', async () => {
    const run = shaped(() => ({ systemMessages: [] }))
    const feedback = { role: 'system', content: 'Say please.' } as const
    run.list.addSystem(feedback)
    await run.runner.runProcessInputStep({ position: atStart, settings: settingsOf(), feedback })
    expect(run.list.getAllSystemMessages()).toEqual([feedback])
  })

  it('is refused when it has a key that means nothing', () => {
    const run = shaped(() => ({ activeTool: ['look'] }) as never)
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({
        code: 'unknown-key',
        message:
          "The processor 'p1' returned an unknown key 'activeTool' from processInputStep. The keys are model, toolChoice, " +
          'activeTools, tools, providerOptions, modelSettings, structuredOutput, messages, messageList, systemMessages, scope.',
      }),
    )
  })

  it.each<[string, object]>([
    ['messages that are no array', { messages: 'hello' }],
    ['system messages that are no array', { systemMessages: 'Be brief.' }],
  ])('is refused when it has %s', (_, returned) => {
    expect(() => inputStep(shaped(() => returned as never))).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'p1', hook: 'processInputStep' }),
    )
  })

  it('is refused when its messageList is no list', () => {
    expect(() => inputStep(shaped(() => ({ messageList: {} }) as never))).toThrow(
      expect.objectContaining({ code: 'external-message-list', processorId: 'p1' }),
    )
  })

  it.each([[5], ['text'], [true]])('is refused when it is %j', returned => {
    expect(() => inputStep(shaped(() => returned as never))).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'p1', hook: 'processInputStep' }),
    )
  })

  it('is refused when it is an empty array that would delete everything, naming the cure', () => {
    for (const returned of [[], { messages: [] }])
      expect(() => inputStep(shaped(() => returned))).toThrow(
        expect.objectContaining({ code: 'empty-messages', message: expect.stringContaining('messageList.clear()') }),
      )
  })

  it('may be an empty array where nothing was given', async () => {
    const run = testRun({ inputProcessors: [hooked('p', { processInputStep: () => [] })], input: [] })
    await inputStep(run)
    expect(run.list.getMessages()).toEqual([])
  })

  it('clears the conversation by the list, as the cure says', async () => {
    const run = shaped(({ messageList }) => messageList.clear())
    await inputStep(run)
    expect(run.list.getMessages()).toEqual([])
    expect(run.list.getAllSystemMessages()).toHaveLength(1)
  })

  it('fails before it changes anything when one of several edits is wrong', () => {
    const run = shaped(({ messages }) => [...messages, { role: 'user', content: 'three' }, { role: 'nobody' } as never])
    const before = run.list.snapshot()
    expect(() => inputStep(run)).toThrow(Error)
    expect(run.list.snapshot()).toBe(before)
  })
})

describe('the settings that a processor was given', () => {
  it('cannot be written to: a step is changed by what is returned', async () => {
    const tools = { look }
    const refused: string[] = []
    const run = shaped(args => {
      const writes: Record<string, () => unknown> = {
        tools: () => ((args.tools as Record<string, unknown>)['evil'] = look),
        activeTools: () => (args.activeTools as string[]).push('evil'),
        modelSettings: () => ((args.modelSettings as { temperature?: number }).temperature = 9),
        providerOptions: () => ((args.providerOptions!['test'] as { deep: unknown }).deep = 9),
        systemMessages: () => (args.systemMessages as unknown[]).push('evil'),
      }
      for (const [name, write] of Object.entries(writes))
        try {
          write()
        } catch {
          refused.push(name)
        }
    })
    const settings = settingsOf({ tools, activeTools: ['look'], providerOptions: { test: { deep: 1 } } })
    await inputStep(run, frozenSettings(settings))
    expect(refused).toEqual(['tools', 'activeTools', 'modelSettings', 'providerOptions', 'systemMessages'])
    expect(Object.keys(tools)).toEqual(['look'])
  })

  it('are copied when a processor returns them, so that its own objects stay as free as they were', async () => {
    const modelSettings = { temperature: 1 }
    const { settings } = await inputStep(shaped(() => ({ modelSettings })))
    modelSettings.temperature = 2
    expect(settings.modelSettings).toEqual({ temperature: 1 })
  })
})

describe('a write in place', () => {
  const writes: Hook = ({ messages }) => {
    const parts = messages[0]!.content.parts as unknown as { text: string }[]
    parts[0]!.text = 'sneaky'
  }

  it('is refused with the name of the processor and the cure', () => {
    const run = shaped(writes)
    expect(() => inputStep(run)).toThrow(
      expect.objectContaining({
        code: 'frozen-write',
        processorId: 'p1',
        hook: 'processInputStep',
        message: expect.stringMatching(/^The processor 'p1' in processInputStep wrote .*update\(/s),
      }),
    )
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two'])
  })

  it('has its cure: the same edit through the list', async () => {
    const run = shaped(({ messages, messageList }) => {
      messageList.update(messages[0]!.id, draft => {
        for (const part of draft.content.parts) if (part.type === 'text') part.text = 'cured'
      })
    })
    await inputStep(run)
    expect(textsOf(run.list.getMessages())).toEqual(['cured', 'two'])
  })

  it('is refused later too, in what a processor kept', async () => {
    let kept: readonly unknown[] = []
    const run = shaped(({ messages }) => void (kept = messages))
    await inputStep(run)
    expect(() => (kept as unknown[]).push('later')).toThrow(TypeError)
    expect(() => ((kept[0] as { role: string }).role = 'assistant')).toThrow(TypeError)
  })
})

it('is a ProcessorError also for another copy of the package', () => {
  const marked = Object.assign(new Error('x'), { [Symbol.for('lockstep.error.processors')]: true })
  expect(ProcessorError.isInstance(marked)).toBe(true)
  expect(ProcessorError.isInstance(new Error('x'))).toBe(false)
})
