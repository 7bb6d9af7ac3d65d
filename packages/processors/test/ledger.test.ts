import { Ledger, ProcessorRunner, type HookEffect } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, testRun, text } from './run-host.ts'

describe('the ledger', () => {
  it('has a line for each thing a processor did, with its place, and none for what did nothing', async () => {
    const run = testRun({
      inputProcessors: [
        hooked('adder', { processInput: ({ messageList }) => messageList.add('three', 'input') }),
        hooked('reader', { processInput: () => {} }),
      ],
    })
    await run.runner.runProcessInput({ ...atStart, stepNumber: 2, attemptNumber: 1 })
    expect(run.runner.ledger.events).toEqual([
      {
        stepNumber: 2,
        attemptNumber: 1,
        processorId: 'adder',
        hook: 'processInput',
        effect: { type: 'changed', what: ['messages'] },
      },
    ])
  })

  it('counts calls, time, effects and retries for each hook of each processor', async () => {
    const run = testRun({
      inputProcessors: [
        hooked('p', { processInput: () => {}, processInputStep: ({ abort }) => abort('no', { retry: true }) }),
      ],
    })
    await run.runner.runProcessInput(atStart)
    await run.runner.runProcessInput(atStart)
    const start = { position: atStart, settings: {} as never, feedback: undefined }
    expect(() => run.runner.runProcessInputStep(start)).toThrow('no')
    expect(run.runner.ledger.totals).toEqual([
      {
        processorId: 'p',
        hook: 'processInput',
        callCount: 2,
        timeMs: expect.any(Number),
        effectCount: 0,
        retryCount: 0,
      },
      {
        processorId: 'p',
        hook: 'processInputStep',
        callCount: 1,
        timeMs: expect.any(Number),
        effectCount: 1,
        retryCount: 1,
      },
    ])
  })

  it('adds up what it is told', () => {
    const ledger = new Ledger()
    Object.assign(ledger.totalOf('p', 'processInput'), { callCount: 3, timedCount: 3, timedMs: 7 })
    expect(ledger.totals).toMatchObject([{ callCount: 3, timeMs: 7 }])
  })
})

describe('a run that wants to hear of effects', () => {
  it('is told of each when it is noted: from when to when, by which call, about which tool call', async () => {
    const told: HookEffect[] = []
    const { host } = testRun()
    const guard = hooked('guard', {
      processInput: () => {},
      processToolResult: async () => (await Promise.resolve(), { output: 'hidden' }),
      processOutputStream: ({ abort }) => abort('no'),
    })
    const arrays = { inputProcessors: [guard], outputProcessors: [guard] }
    const runner = new ProcessorRunner(arrays, { ...host, onEffect: effect => void told.push(effect) })
    await runner.runProcessInput(atStart)
    const toolCall = { toolCallId: 'call-1', toolName: 't', input: {} }
    await runner.runProcessToolResult({ position: atStart, toolCall, outcome: { output: 'seen' } })
    const chain = runner.streamChain(atStart)
    for (const words of ['a', 'b']) expect(() => chain.pass(text(words))).toThrow('no')
    expect(told.map(({ event, toolCallId }) => [event.hook, event.effect.type, toolCallId])).toEqual([
      ['processToolResult', 'changed', 'call-1'],
      ['processOutputStream', 'tripwire', undefined],
      ['processOutputStream', 'tripwire', undefined],
    ])
    expect(told.map(({ event }) => event)).toEqual(runner.ledger.events)
    for (const { startedAt, endedAt } of told) expect(endedAt).toBeGreaterThanOrEqual(startedAt)
    expect(told[1]!.startedAt).toBeGreaterThanOrEqual(told[0]!.endedAt)
    expect(new Set(told.map(({ call }) => call)).size).toBe(2)
  })
})
