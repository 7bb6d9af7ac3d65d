// The hooks around the model call: processLLMRequest, processLLMResponse, processAPIError.
import type { Processor, ProcessAPIErrorArgs, ProcessLLMResponseArgs } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, modelNamed, testRun, textsOf } from './run-host.ts'

type Request = NonNullable<Processor['processLLMRequest']>
type APIError = NonNullable<Processor['processAPIError']>

const userSays = (words: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text: words }] })

const requesting = (...hooks: Request[]) => {
  const run = testRun({
    inputProcessors: hooks.map((processLLMRequest, index) => hooked(`p${index + 1}`, { processLLMRequest })),
  })
  const prompt = run.list.get.all.prompt()
  const model = modelNamed('m')
  return {
    run,
    prompt,
    model,
    go: () => run.runner.runProcessLLMRequest({ position: atStart, prompt, settings: { model } }),
  }
}

describe('processLLMRequest', () => {
  it('leaves the prompt alone when it returns nothing', async () => {
    const { go, prompt, run } = requesting(() => {})
    expect(await go()).toEqual({ prompt, response: undefined })
    expect(run.runner.ledger.events).toEqual([])
  })

  it('may rewrite the prompt for this call; the next sees it, the list does not', async () => {
    const seen: unknown[] = []
    const { go, run, model } = requesting(
      ({ prompt }) => ({ prompt: [...prompt, userSays('three')] }),
      ({ prompt, model: given }) => void seen.push(prompt.length, given),
    )
    const before = run.list.snapshot()
    expect((await go()).prompt).toHaveLength(3)
    expect(seen).toEqual([3, model])
    expect(run.list.snapshot()).toBe(before)
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'p1', effect: { type: 'changed', what: ['prompt'] } },
    ])
  })

  it('is given the settings that the model will be called with', async () => {
    const seen: unknown[] = []
    const { run, prompt, model } = requesting(({ modelSettings, tools, activeTools }) => {
      seen.push({ modelSettings, tools, activeTools })
    })
    const settings = { modelSettings: { temperature: 1 }, activeTools: ['a'] }
    await run.runner.runProcessLLMRequest({ position: atStart, prompt, settings: { model, ...settings } })
    expect(seen).toEqual([{ ...settings, tools: {} }])
  })

  it('may answer instead of the model: the first answer wins, and the others are still asked', async () => {
    const asked: string[] = []
    const answering =
      (id: string): Request =>
      () => (asked.push(id), { response: { chunks: [{ type: 'text-start', id }] } })
    const { go } = requesting(
      answering('a'),
      async () => (await Promise.resolve(), asked.push('b'), undefined),
      answering('c'),
    )
    expect((await go()).response).toEqual({ chunks: [{ type: 'text-start', id: 'a' }] })
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  it.each([[5], [true], [[]], ['text']])('cannot return %j', returned => {
    expect(() => requesting(() => returned as never).go()).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'p1', hook: 'processLLMRequest' }),
    )
  })

  it('cannot return keys that mean nothing', () => {
    expect(() => requesting(() => ({ messages: [] }) as never).go()).toThrow(
      expect.objectContaining({ code: 'unknown-key', hook: 'processLLMRequest' }),
    )
  })

  it('cannot write to the prompt that it was given', () => {
    expect(() => requesting(({ prompt }) => void prompt.push(userSays('evil'))).go()).toThrow(
      expect.objectContaining({ hook: 'processLLMRequest', processorId: 'p1' }),
    )
  })
})

describe('processLLMResponse', () => {
  it("is given the provider's own parts by every processor of both arrays that has it, once each", async () => {
    const seen: [string, ProcessLLMResponseArgs][] = []
    const see = (id: string) => hooked(id, { processLLMResponse: given => void seen.push([id, given]) })
    const both = see('both')
    const run = testRun({ inputProcessors: [see('in'), both], outputProcessors: [both, see('out')] })
    const chunks = [{ type: 'text-delta', id: '1', delta: 'x' }] as const
    const model = modelNamed('m')
    await run.runner.runProcessLLMResponse({ position: atStart, response: { model, chunks, fromCache: true } })
    expect(seen.map(([id]) => id)).toEqual(['in', 'both', 'out'])
    expect(seen[0]![1]).toMatchObject({ chunks, fromCache: true })
    expect(seen[0]![1].model).toBe(model)
  })

  it('may refuse what it read', () => {
    const run = testRun({ outputProcessors: [hooked('p', { processLLMResponse: ({ abort }) => abort('too long') })] })
    const response = { model: modelNamed('m'), chunks: [], fromCache: false }
    expect(() => run.runner.runProcessLLMResponse({ position: atStart, response })).toThrow(
      expect.objectContaining({ name: 'TripWire', hook: 'processLLMResponse' }),
    )
  })
})

describe('processAPIError', () => {
  const failing = (...hooks: APIError[]) => {
    const run = testRun({
      errorProcessors: hooks.map((processAPIError, index) => hooked(`p${index + 1}`, { processAPIError })),
    })
    const error = new Error('overloaded')
    return {
      run,
      error,
      go: () => run.runner.runProcessAPIError({ position: { ...atStart, retryCount: 1 }, error, shownChunkCount: 3 }),
    }
  }

  it('decides nothing when nobody wants a retry', async () => {
    expect(
      await failing(
        () => {},
        () => ({ retry: false }),
      ).go(),
    ).toBeUndefined()
  })

  it('the first retry decides, and nobody after it is asked', async () => {
    const asked: number[] = []
    const asking =
      (id: number, retry: boolean): APIError =>
      () => (asked.push(id), { retry })
    const { go, run } = failing(asking(1, false), asking(2, true), asking(3, true))
    expect(await go()).toEqual({ model: undefined })
    expect(asked).toEqual([1, 2])
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'p2', effect: { type: 'decided', decision: 'retry' } },
    ])
  })

  it('is given the raw error, what was shown, the retries so far and the conversation to repair', async () => {
    let args: ProcessAPIErrorArgs | undefined
    const { go, error, run } = failing(
      given => ((args = given), given.messageList.removeByIds(['m1']), { retry: true }),
    )
    await go()
    expect(args!.error).toBe(error)
    expect(args).toMatchObject({ shownChunkCount: 3, retryCount: 1, stepNumber: 0, steps: [], state: {} })
    expect(textsOf(run.list.getMessages())).toEqual(['two'])
    expect(run.list.changes.at(-1)!.author).toEqual({ id: 'p1', hook: 'processAPIError', step: 0 })
  })

  it('may name another model for the rest of the step', async () => {
    const model = modelNamed('fallback')
    expect((await failing(() => ({ retry: true, model })).go())?.model).toBe(model)
    expect((await failing(() => ({ retry: true, model: 'openai/gpt-5' })).go())?.model?.modelId).toBe('openai/gpt-5')
    const old = { specificationVersion: 'v1', provider: 'old', modelId: 'm' } as never
    await expect(failing(() => ({ retry: true, model: old })).go()).rejects.toMatchObject({
      code: 'unsupported-model',
      processorId: 'p1',
      hook: 'processAPIError',
    })
  })

  it('asks error processors first, then any other that has it', async () => {
    const asked: string[] = []
    const named = (id: string) => hooked(id, { processAPIError: () => void asked.push(id) })
    const run = testRun({
      inputProcessors: [{ ...named('in'), processInput: () => {} }],
      outputProcessors: [{ ...named('out'), processOutputStep: () => {} }],
      errorProcessors: [named('err')],
    })
    await run.runner.runProcessAPIError({ position: atStart, error: new Error('x'), shownChunkCount: 0 })
    expect(asked).toEqual(['err', 'in', 'out'])
  })

  it.each([[true], ['retry'], [[]]])('cannot return %j', async returned => {
    await expect(failing(() => returned as never).go()).rejects.toMatchObject({ code: 'invalid-return' })
  })
})
