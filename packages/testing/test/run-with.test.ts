// Runs under test: where processors go, what is said, what is seen.
import type { Chunk, Processor } from '@lockstep/processors'
import {
  answeringModel,
  assistantSays,
  runWith,
  scriptedModel,
  screenOf,
  textOnScreen,
  toolPart,
  traceOf,
  userSays,
} from '@lockstep/testing'
import { MessageList } from '@lockstep/message-list'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pickyGuard, wordGuard } from './right-processors.ts'

describe('a run under test', () => {
  it('calls each hook of a processor once for what there is to hook', async () => {
    const called: string[] = []
    const hook = (name: string) => () => void called.push(name)
    const everywhere: Processor = {
      id: 'everywhere',
      processInput: hook('input'),
      processInputStep: hook('input step'),
      processLLMRequest: hook('request'),
      processAPIError: ({ retryCount }) => (called.push('error'), { retry: retryCount < 1 }),
      processLLMResponse: hook('response'),
      processOutputStep: hook('output step'),
      processStepEnd: hook('step end'),
      processOutputResult: hook('result'),
      processRunEnd: hook('run end'),
    }
    const { result } = await runWith(everywhere, {
      model: [{ error: new Error('once') }, 'Hello.'],
      maxProcessorRetries: 1,
    })
    expect(result.text).toBe('Hello.')
    expect(called).toEqual([
      'input',
      'input step',
      'request',
      'error',
      'request',
      'response',
      'output step',
      'step end',
      'result',
      'run end',
    ])
  })

  it.each<[string, Processor]>([
    ['observes', { id: 'o', processStepEnd: () => {} }],
    ['observes and mends', { id: 'om', processLLMResponse: () => {}, processAPIError: () => ({ retry: false }) }],
    ['only flushes', { id: 'f', flush: () => undefined }],
    ['only mends', { id: 'e', processAPIError: () => ({ retry: false }) }],
  ])('takes a processor that %s', async (_what, processor) => {
    expect((await runWith(processor)).result.trace.processors.map(({ id }) => id)).toEqual([processor.id])
  })

  it('takes several processors in order, and others after them', async () => {
    const mark = (id: string): Processor => ({
      id,
      processOutputStream: ({ part }) =>
        part.type === 'text-delta' ? { ...part, payload: { ...part.payload, text: part.payload.text + id } } : part,
    })
    const { screen } = await runWith([mark('a'), mark('b')], {
      model: [{ text: ['1', '2'] }],
      others: { outputProcessors: [mark('c')] },
    })
    expect(screen).toBe('1abc2abc')
  })

  it('shows what the model was sent: instructions, history, input, results of tools', async () => {
    const history = [
      userSays('When?'),
      assistantSays([toolPart('clock', { output: { hour: 12 } }), { type: 'text', text: 'At noon.' }]),
    ]
    const { prompts, calls } = await runWith([], {
      history,
      input: 'And where?',
      system: 'Be brief.',
      model: ['Here.'],
    })
    expect(prompts).toHaveLength(1)
    expect(prompts[0]!.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
    expect(calls[0]!.prompt).toBe(prompts[0])
    expect(JSON.stringify(prompts)).toContain('"hour":12')
  })

  it('takes a conversation, a model and the options of a run', async () => {
    const messageList = new MessageList().add('Mine.', 'input')
    const model = scriptedModel(['Yours.'])
    const { result } = await runWith([], { messageList, model, runId: 'my-run' })
    expect(result.messageList).toBe(messageList)
    expect(result.runId).toBe('my-run')
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('is the same each time', async () => {
    const once = async () => {
      const { result } = await runWith(wordGuard(), { model: ['No secret.'] })
      return result.messageList.getMessages().map(({ id, content }) => ({ id, content }))
    }
    expect(await once()).toEqual(await once())
  })
})

describe('the screen', () => {
  it('has nothing of what was withdrawn', async () => {
    const { screen, chunks } = await runWith(pickyGuard(), {
      model: [{ text: ['I am ', 'sorry.'] }, 'Here.'],
      maxProcessorRetries: 1,
    })
    expect(chunks.map(({ type }) => type)).toContain('step-reset')
    expect(screen).toBe('Here.')
  })

  it('has blocks and tools in the order in which they came, with what came of them', async () => {
    const { chunks } = await runWith([], {
      model: [{ reasoning: 'Hm.', text: 'Look:', toolCalls: [{ toolName: 'nobody', input: { a: 1 } }] }, 'So.'],
    })
    expect(screenOf(chunks)).toMatchObject([
      { type: 'reasoning', stepNumber: 0, text: 'Hm.' },
      { type: 'text', stepNumber: 0, text: 'Look:' },
      { type: 'tool', stepNumber: 0, toolName: 'nobody', input: { a: 1 }, outcome: { error: expect.any(String) } },
      { type: 'text', stepNumber: 1, text: 'So.' },
    ])
  })

  it('keeps the steps before one that was withdrawn', () => {
    const chunk = (type: string, payload: object) => ({ type, runId: 'r', from: 'AGENT', payload }) as Chunk
    const step = (stepNumber: number, text: string) => [
      chunk('step-start', { stepNumber }),
      chunk('text-delta', { id: `${stepNumber}`, text }),
    ]
    const reset = chunk('step-reset', { stepNumber: 1, reason: 'x' })
    expect(textOnScreen([...step(0, 'a'), ...step(1, 'b'), reset, chunk('text-delta', { id: '1.1', text: 'c' })])).toBe(
      'ac',
    )
  })

  it('has the whole text, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), async pieces => {
        const units = pieces.join('').split('')
        const { screen, result } = await runWith([], { model: [{ text: units }] })
        expect(screen).toBe(pieces.join('').replaceAll(/\p{Surrogate}/gu, '\ufffd'))
        expect(screen).toBe(result.text)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a trace as a tree', () => {
  it('has what happened, nested, and prints as the run prints it', async () => {
    const run = await runWith(pickyGuard(), { model: ['I am sorry.', 'Here.'], maxProcessorRetries: 1 })
    expect(traceOf(run.result)).toEqual({
      text: 'run: completed',
      children: [
        {
          text: 'step 0',
          children: [
            {
              text: 'scripted retried: stop, 15 tokens',
              children: [
                { text: 'picky-guard.processOutputStep: asked for a retry: "Do not be sorry."', children: [] },
              ],
            },
            { text: 'scripted accepted: stop, 15 tokens', children: [] },
          ],
        },
      ],
    })
    expect(String(run.trace)).toBe(String(run.result.trace))
    expect(JSON.parse(JSON.stringify(run.trace))).toEqual(run.trace)
  })

  it('keeps the lines of a reason together', async () => {
    const { trace } = await runWith([], { model: [{ error: new Error('one\n├─ two\nthree') }] })
    expect(trace.children).toHaveLength(1)
    expect(trace.children[0]!.children[0]!.text).toContain('one\n├─ two\nthree')
  })
})

describe('builders', () => {
  it('make messages that a list takes as they are', () => {
    const messages = [
      userSays('Hi', { id: 'mine', threadId: 't' }),
      assistantSays([
        toolPart('a', { input: 1, output: null }),
        toolPart('b', { errorText: 'no' }),
        toolPart('c', { toolCallId: 'open' }),
      ]),
    ]
    const stored = new MessageList().add(messages, 'memory').getMessages()
    expect(stored).toEqual(messages)
    expect(stored[1]!.content.parts.map(part => 'state' in part && part.state)).toEqual([
      'output-available',
      'output-error',
      'input-available',
    ])
    expect(new Set([...messages, userSays('x'), userSays('x')].map(({ id }) => id)).size).toBe(4)
  })

  it('make a model that answers any number of calls, each tool call with an id of its own', async () => {
    const model = answeringModel((_options, callNumber) =>
      callNumber < 3 ? { toolCalls: [{ toolName: 'nobody', input: {} }] } : 'Enough.',
    )
    const { result } = await runWith([], { model })
    expect(result.text).toBe('Enough.')
    const ids = result.steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolCallId }) => toolCallId))
    expect(new Set(ids).size).toBe(3)
  })
})
