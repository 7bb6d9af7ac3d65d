import { describe, expect, it } from 'vitest'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import {
  modelFallback,
  type ModelFallback,
  type ModelFallbackOptions,
} from '@lockstep/processors-builtin/model-fallback'
import { modelRetry } from '@lockstep/processors-builtin/model-retry'
import type { ProcessorArrays } from '@lockstep/processors'
import { answeringModel, runWith } from '@lockstep/testing'
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { MessageList } from '@lockstep/message-list'
import { processorContract } from '@lockstep/testing/vitest'
import { jsonSchema } from 'ai'
import { apiError, brokenOff } from './api-error.ts'

processorContract(() => modelFallback({ models: [answeringModel('Another train leaves at one.')] }))

const down = apiError(503, 'Down.')
const look: ScriptedTurn = { toolCalls: [{ toolName: 'look', input: {} }] }

async function run(arrays: ProcessorArrays, turns: readonly ScriptedTurn[]): Promise<LoopResult> {
  const loop = runLoop({
    model: scriptedModel(turns, { modelId: 'first' }),
    messageList: new MessageList().add('Go', 'input'),
    modelSettings: { maxRetries: 0 },
    tools: { look: { inputSchema: jsonSchema({}), execute: () => 'nothing' } as never },
    ...arrays,
  })
  for (;;) {
    const next = await loop.next()
    if (next.done) return next.value
  }
}

const modelsOf = ({ steps }: LoopResult) => steps.map(({ model }) => model.modelId)

describe('the fallback', () => {
  it('tries the models in their order, and tells', async () => {
    const told: ModelFallback[] = []
    const second = scriptedModel([down], { modelId: 'second' })
    const third = scriptedModel(['From the third.'], { modelId: 'third' })
    const fallback = modelFallback({ models: [second, third], onFallback: event => told.push(event) })
    const result = await run({ errorProcessors: [fallback] }, [brokenOff({ type: 'overloaded_error' })])
    expect([result.text, modelsOf(result)]).toEqual(['From the third.', ['third']])
    expect(told.map(({ index, model, failure }) => [index, model, failure.kind])).toEqual([
      [0, second, 'overloaded'],
      [1, third, 'overloaded'],
    ])
  })

  it('gives the error of the last model when none answers', async () => {
    const last = apiError(500, 'I am the last.')
    const fallback = modelFallback({ models: [scriptedModel([last])] })
    const result = await run({ errorProcessors: [fallback] }, [down])
    expect(result).toMatchObject({ stopReason: 'error', error: last.error })
  })

  it('begins each step with the first model again', async () => {
    const second = scriptedModel([look, look], { modelId: 'second' })
    const fallback = modelFallback({ models: [second] })
    const result = await run({ errorProcessors: [fallback] }, [down, look, down, 'Done.'])
    expect(modelsOf(result)).toEqual(['second', 'first', 'second', 'first'])
  })

  it('stays with the model that it fell back to, as an input processor too', async () => {
    const models = [
      scriptedModel([look, down], { modelId: 'second' }),
      scriptedModel([look, 'Done.'], { modelId: 'third' }),
    ]
    const fallback = modelFallback({ models })
    const result = await run({ inputProcessors: [fallback], errorProcessors: [fallback] }, [look, down])
    expect(modelsOf(result)).toEqual(['first', 'second', 'third', 'third'])
  })

  it('comes after the retries', async () => {
    const fallback = modelFallback({ models: [scriptedModel(['Second.'])] })
    const retry = modelRetry({ maxRetries: 2, wait: () => Promise.resolve() })
    const result = await run({ errorProcessors: [retry, fallback] }, [down, down, down])
    expect(result.text).toBe('Second.')
  })

  it.each([
    ['a wrong request', apiError(400, 'Invalid temperature.'), undefined, 'error'],
    ['a prompt that is too long', apiError(400, 'prompt is too long'), undefined, 'error'],
    ['a prompt that is too long, when told so', apiError(400, 'prompt is too long'), ['overflow'], 'completed'],
    ['a server that is down, when told otherwise', down, ['overflow'], 'error'],
    ['an empty account', apiError(400, 'Your credit balance is too low.'), undefined, 'completed'],
    ['a wrong key', apiError(401, 'No.'), undefined, 'completed'],
    ['something nobody knows', { error: new Error('Hm.') }, undefined, 'completed'],
  ] as const)('knows what another model may not have: %s', async (_, turn, on, stopReason) => {
    const options: ModelFallbackOptions = { models: [scriptedModel(['Second.'])], ...(on && { on }) }
    expect((await run({ errorProcessors: [modelFallback(options)] }, [turn])).stopReason).toBe(stopReason)
  })

  it('needs a model', async () => {
    await expect(loadBuiltin('model-fallback')).rejects.toThrow(BuiltinError)
    expect((await loadBuiltin(['model-fallback', { models: ['openai/gpt-5'] }])).id).toBe('model-fallback')
  })

  it('keeps the model for the step when its answer is refused', async () => {
    const picky = {
      id: 'picky',
      processOutputStep: ({ text, abort }: { text: string; abort: (why: string, how: { retry: boolean }) => never }) =>
        text === 'Bad.' ? abort('Better.', { retry: true }) : undefined,
    }
    const fallback = modelFallback({ models: [scriptedModel(['Bad.', 'Good.'])] })
    const { result } = await runWith([fallback, picky as never], {
      model: [down],
      modelSettings: { maxRetries: 0 },
      maxProcessorRetries: 3,
    })
    expect(result.text).toBe('Good.')
  })
})
