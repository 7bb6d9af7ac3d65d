import { PrepareStepProcessor, type PrepareStep, type ProcessInputStepArgs } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { atStart, inputStep, modelNamed, settingsOf, stepResult, testRun, textsOf } from './run-host.ts'

const preparedBy = (prepareStep: PrepareStep) =>
  testRun({ inputProcessors: [new PrepareStepProcessor({ prepareStep })] })

describe('PrepareStepProcessor', () => {
  it('`prepareStep` function is called with correct args', async () => {
    let args: ProcessInputStepArgs | undefined
    const run = preparedBy(given => void (args = given))
    const model = modelNamed('mine')
    const steps = [stepResult({ text: 'before' })]
    const settings = settingsOf({ model, toolChoice: 'required', activeTools: ['a'], providerOptions: { p: { a: 1 } } })
    await run.runner.runProcessInputStep({
      position: { ...atStart, stepNumber: 1, steps, retryCount: 2 },
      settings,
      feedback: undefined,
    })
    expect(args).toMatchObject({
      stepNumber: 1,
      retryCount: 2,
      steps,
      toolChoice: 'required',
      activeTools: ['a'],
      providerOptions: { p: { a: 1 } },
      modelSettings: {},
      systemMessages: [],
    })
    expect(args!.model).toBe(model)
    expect(args!.messageList.isSameAs(run.list)).toBe(true)
    expect(textsOf(args!.messages)).toEqual(['one', 'two'])
    expect(args!.messageList.get.all.aiV5.model()).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'one' }] },
      { role: 'user', content: [{ type: 'text', text: 'two' }] },
    ])
  })

  it('Return value is passed through correctly', async () => {
    const model = modelNamed('other')
    const { settings } = await inputStep(
      preparedBy(() => ({ model, toolChoice: 'none', activeTools: [], modelSettings: { temperature: 0 } })),
    )
    expect(settings).toMatchObject({ toolChoice: 'none', activeTools: [], modelSettings: { temperature: 0 } })
    expect(settings.model).toBe(model)
    const later = await inputStep(
      preparedBy(async () => (await Promise.resolve(), { toolChoice: 'required' as const })),
    )
    expect(later.settings.toolChoice).toBe('required')
    const run = preparedBy(({ messageList }) => messageList.add('three', 'input'))
    await inputStep(run)
    expect(textsOf(run.list.getMessages())).toEqual(['one', 'two', 'three'])
  })

  it('Works with generic TOOLS types', async () => {
    const tools = { look: tool({ inputSchema: z.object({}), execute: () => 'seen' }) }
    const processor = new PrepareStepProcessor<typeof tools>({
      prepareStep: ({ activeTools }) => {
        expectTypeOf(activeTools).toEqualTypeOf<readonly 'look'[] | undefined>()
        return { activeTools: ['look'], toolChoice: { type: 'tool', toolName: 'look' } }
      },
    })
    const { settings } = await inputStep(testRun({ inputProcessors: [processor] }), { tools })
    expect(settings).toMatchObject({ activeTools: ['look'], toolChoice: { type: 'tool', toolName: 'look' } })
    new PrepareStepProcessor<typeof tools>({
      // @ts-expect-error there is no such tool
      prepareStep: () => ({ activeTools: ['lok'] }),
    })
  })

  it('Handles undefined return', async () => {
    const settings = settingsOf({ toolChoice: 'required' })
    const run = preparedBy(() => undefined)
    const before = run.list.snapshot()
    expect(await run.runner.runProcessInputStep({ position: atStart, settings, feedback: undefined })).toEqual({
      settings,
      overlay: undefined,
    })
    expect(run.list.snapshot()).toBe(before)
  })

  it('has an id and a name, so that errors and traces say who it was', () => {
    const { id, name } = new PrepareStepProcessor({ prepareStep: () => undefined })
    expect([id, name]).toEqual(['prepare-step', 'Prepare step'])
    expect(() => inputStep(preparedBy(() => ({ nonsense: 1 }) as never))).toThrow(
      expect.objectContaining({ code: 'unknown-key', processorId: 'prepare-step' }),
    )
  })
})
