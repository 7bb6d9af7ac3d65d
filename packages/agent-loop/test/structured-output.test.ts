import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { jsonSchema, NoObjectGeneratedError, tool } from 'ai'
import type { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, screenOf } from './drained.ts'

const schema = z.object({ city: z.string(), degrees: z.number() })
const weather = { schema, name: 'weather' }
const rome = { city: 'Rome', degrees: 31 }
const good = JSON.stringify(rome)
const bad = '{"city":"Rome","degrees":"hot"}'
const look = tool({ inputSchema: z.object({}), execute: () => 'sunny' })
const callLook = { toolCalls: [{ toolName: 'look', input: {} }] }

const systemIn = (model: MockLanguageModelV4, call: number) =>
  model.doStreamCalls[call]!.prompt.flatMap(message => (message.role === 'system' ? [message.content] : []))
const formatIn = (model: MockLanguageModelV4, call: number) => model.doStreamCalls[call]!.responseFormat

describe('an object that is asked for', () => {
  it('is what the answer says, checked by the schema, and shown once before the end', async () => {
    const model = scriptedModel([{ text: ['{"city":"Ro', 'me","degrees":31}'] }])
    const { result, chunks, types } = await drain({ model, structuredOutput: weather })
    expect(result.object).toEqual(rome)
    expect(result.steps[0]!.object).toEqual(rome)
    expect(result.text).toBe('{"city":"Rome","degrees":31}')
    expect(types.slice(-2)).toEqual(['object', 'finish'])
    expect(chunks.at(-2)).toMatchObject({ payload: { object: rome } })
    expect(formatIn(model, 0)).toMatchObject({
      type: 'json',
      name: 'weather',
      schema: { properties: { city: { type: 'string' } }, additionalProperties: false },
    })
  })

  it.each([
    ['zod', schema],
    ['JSON schema', jsonSchema<typeof rome>({ type: 'object', properties: { city: { type: 'string' } } })],
  ])('may be described by %s', async (_, described) => {
    const { result } = await drain({ model: scriptedModel([good]), structuredOutput: { schema: described } })
    expect(result.object).toEqual(rome)
  })

  it('is what the schema makes of it: defaults and transforms apply', async () => {
    const filled = z.object({ city: z.string().transform(city => city.toUpperCase()), unit: z.string().default('C') })
    const { result } = await drain({ model: scriptedModel(['{"city":"Rome"}']), structuredOutput: { schema: filled } })
    expect(result.object).toEqual({ city: 'ROME', unit: 'C' })
  })

  it('comes after tools, and is read from the last step', async () => {
    const model = scriptedModel([callLook, good])
    const { result } = await drain({ model, tools: { look }, structuredOutput: weather })
    expect(result.object).toEqual(rome)
    expect(result.steps.map(step => step.object)).toEqual([undefined, rome])
    expect(formatIn(model, 0)).toEqual(formatIn(model, 1))
  })

  it('has the last step to itself: no tool is called there', async () => {
    const model = scriptedModel([callLook, callLook, good])
    const { result } = await drain({ model, tools: { look }, structuredOutput: weather, maxSteps: 3 })
    expect(model.doStreamCalls.map(call => call.toolChoice?.type)).toEqual(['auto', 'auto', 'none'])
    expect(result).toMatchObject({ stopReason: 'completed', object: rome })
  })
})

describe('an answer that is not the object', () => {
  it('is tried again once, with what is wrong as feedback for that try alone', async () => {
    const model = scriptedModel([bad, good])
    const { result, types, chunks } = await drain({ model, structuredOutput: weather })
    expect(result).toMatchObject({ object: rome, text: good, stopReason: 'completed' })
    expect(systemIn(model, 0)).toEqual([])
    expect(systemIn(model, 1)).toEqual([
      'Your previous answer was not accepted: No object generated: response did not match schema. degrees: Invalid input: expected number, received string',
    ])
    expect(types.filter(type => type === 'step-reset')).toHaveLength(1)
    expect(screenOf(chunks)).toBe(good)
    expect(JSON.stringify(result.messageList.toJSON())).not.toContain('hot')
    expect(String(result.trace)).toContain(
      'scripted invalid-object: No object generated: response did not match schema.',
    )
    expect(result.totalUsage.totalTokens).toBe(30)
    expect(result.usage.totalTokens).toBe(15)
  })

  it('is tried again also when it is no JSON, or was cut off', async () => {
    const model = scriptedModel([{ text: '{"city":"Rom', finishReason: 'length' }, good])
    const { result } = await drain({ model, structuredOutput: weather })
    expect(result.object).toEqual(rome)
    expect(systemIn(model, 1)[0]).toContain('could not parse the response')
    expect(systemIn(model, 1)[0]).toContain('cut off by the limit of tokens: be shorter')
  })

  it('fails a strict run after the second try, and the error is the one that AI SDK users know', async () => {
    const { result, types } = await drain({ model: scriptedModel([bad, bad]), structuredOutput: weather })
    expect(result).toMatchObject({ stopReason: 'error', object: undefined, text: bad })
    expect(NoObjectGeneratedError.isInstance(result.error)).toBe(true)
    expect(result.error).toMatchObject({ text: bad, cause: { name: 'AI_TypeValidationError' } })
    expect(types).not.toContain('object')
  })

  it('is no object and a warning when the run only warns', async () => {
    const { result } = await drain({
      model: scriptedModel([bad, 'Rome is hot.']),
      structuredOutput: { ...weather, errorStrategy: 'warn' },
    })
    expect(result).toMatchObject({ stopReason: 'completed', object: undefined, text: 'Rome is hot.' })
    expect(result.warnings).toEqual([expect.stringContaining('The answer is not the object that was asked for')])
  })

  it('is the fallback when the run has one', async () => {
    const fallbackValue = { city: 'nowhere', degrees: 0 }
    const { result, chunks } = await drain({
      model: scriptedModel([bad, bad]),
      structuredOutput: { ...weather, errorStrategy: 'fallback', fallbackValue },
    })
    expect(result).toMatchObject({ stopReason: 'completed', object: fallbackValue })
    expect(chunks.at(-2)).toMatchObject({ type: 'object', payload: { object: fallbackValue } })
  })

  it('spends no retry of the processors', async () => {
    const seen: number[] = []
    const picky: Processor = {
      id: 'picky',
      processOutputStep: ({ retryCount, abort }) => {
        seen.push(retryCount)
        if (seen.length === 2) abort('too dull', { retry: true })
      },
    }
    const { result } = await drain({
      model: scriptedModel([bad, good, good]),
      structuredOutput: weather,
      outputProcessors: [picky],
      maxProcessorRetries: 1,
    })
    expect(seen).toEqual([0, 0, 1])
    expect(result.object).toEqual(rome)
  })

  it('is not repaired where the run ends in the middle of its tools', async () => {
    const model = scriptedModel([callLook])
    const { result } = await drain({
      model,
      tools: { look },
      structuredOutput: { ...weather, errorStrategy: 'warn' },
      stopWhen: () => true,
    })
    expect(result).toMatchObject({ stopReason: 'stop-condition', object: undefined })
    expect(model.doStreamCalls).toHaveLength(1)
  })
})

describe('a processor', () => {
  it('sees what the step asks for, and may ask for another object or none in one step', async () => {
    const seen: unknown[] = []
    const model = scriptedModel([callLook, callLook, good])
    const other = { schema: z.object({ plan: z.string() }), name: 'plan' }
    const changer: Processor = {
      id: 'changer',
      processInputStep({ stepNumber, structuredOutput }) {
        seen.push(structuredOutput?.name)
        if (stepNumber === 0) return { structuredOutput: other }
        return stepNumber === 1 ? { structuredOutput: null } : undefined
      },
    }
    const { result } = await drain({ model, tools: { look }, structuredOutput: weather, inputProcessors: [changer] })
    expect(seen).toEqual(['weather', 'weather', 'weather'])
    expect([0, 1, 2].map(call => formatIn(model, call))).toMatchObject([
      { name: 'plan' },
      undefined as never,
      { name: 'weather' },
    ])
    expect(result.object).toEqual(rome)
  })

  it('changes what the step gives, never the type of what the run gives', async () => {
    const other = { schema: z.object({ plan: z.string() }) }
    const { result } = await drain({
      model: scriptedModel(['{"plan":"go"}']),
      structuredOutput: { ...weather, errorStrategy: 'warn' },
      inputProcessors: [{ id: 'changer', processInputStep: () => ({ structuredOutput: other }) }],
    })
    expect(result.steps[0]!.object).toEqual({ plan: 'go' })
    expect(result.object).toBeUndefined()
  })

  it('may ask for an object where the call asked for none', async () => {
    const { result, types } = await drain({
      model: scriptedModel([good]),
      inputProcessors: [{ id: 'asker', processInputStep: () => ({ structuredOutput: weather }) }],
    })
    expect(result.steps[0]!.object).toEqual(rome)
    expect(result.object).toBeUndefined()
    expect(types).not.toContain('object')
  })

  it('is refused an object without a schema', async () => {
    const { result } = await drain({
      model: scriptedModel([good]),
      inputProcessors: [{ id: 'asker', processInputStep: () => ({ structuredOutput: { name: 'x' } as never }) }],
    })
    expect(result.error).toMatchObject({ code: 'invalid-return', processorId: 'asker' })
  })

  it('sees the object at the end, and an edit of the text is read again', async () => {
    const seen: unknown[] = []
    const { result, types } = await drain({
      model: scriptedModel([good]),
      structuredOutput: weather,
      outputProcessors: [
        {
          id: 'editor',
          processOutputResult({ result: { object }, messages, messageList }) {
            seen.push(object)
            messageList.update(messages[0]!.id, draft => {
              for (const part of draft.content.parts) if (part.type === 'text') part.text = '{"city":"R.","degrees":31}'
            })
          },
        },
        { id: 'reader', processOutputResult: ({ result: { object } }) => void seen.push(object) },
      ],
    })
    expect(seen[0]).toEqual(rome)
    expect(result.object).toEqual({ city: 'R.', degrees: 31 })
    expect(result.steps[0]!.object).toEqual({ city: 'R.', degrees: 31 })
    expect(types.filter(type => type === 'object')).toHaveLength(1)
  })

  it('that breaks the object in processOutputResult gets no second try', async () => {
    const model = scriptedModel([good])
    const { result } = await drain({
      model,
      structuredOutput: weather,
      outputProcessors: [
        {
          id: 'breaker',
          processOutputResult: ({ messages, messageList }) =>
            void messageList.update(
              messages[0]!.id,
              draft => void (draft.content.parts = [{ type: 'text', text: '{' }]),
            ),
        },
      ],
    })
    expect(result).toMatchObject({ stopReason: 'error', object: undefined })
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('that refuses the answer withdraws its object', async () => {
    const { result, types } = await drain({
      model: scriptedModel([good]),
      structuredOutput: weather,
      outputProcessors: [{ id: 'no', processOutputResult: ({ abort }) => abort('no') }],
    })
    expect(result).toMatchObject({ stopReason: 'tripwire', object: undefined })
    expect(types).not.toContain('object')
  })

  it('gets an object from a call of its own', async () => {
    const judge = scriptedModel(['{"safe":false}', '{"unsafe":1}'])
    const verdicts: unknown[] = []
    const { result } = await drain({
      model: scriptedModel(['Boom.']),
      outputProcessors: [
        {
          id: 'judge',
          async processOutputStep({ text, callModel }) {
            const structuredOutput = { schema: z.object({ safe: z.boolean() }) }
            verdicts.push((await callModel({ model: judge, prompt: text, structuredOutput })).object?.safe)
            await callModel({ model: judge, prompt: text, structuredOutput }).catch((error: unknown) =>
              verdicts.push(NoObjectGeneratedError.isInstance(error)),
            )
          },
        },
      ],
    })
    expect(verdicts).toEqual([false, true])
    expect(result.totalUsage.totalTokens).toBe(45)
  })
})
