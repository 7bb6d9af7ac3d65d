// processToolCall and processToolResult: before a tool starts, and after it.
import type { Processor, ProcessToolCallArgs, ProcessToolResultArgs } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, testRun, textsOf } from './run-host.ts'

type Guard = NonNullable<Processor['processToolCall']>
type Review = NonNullable<Processor['processToolResult']>

const toolCall = { toolCallId: 'c-1', toolName: 'pay', input: { euros: 5 } }

const guardedBy = (...guards: Guard[]) => {
  const run = testRun({
    outputProcessors: guards.map((processToolCall, index) => hooked(`g${index + 1}`, { processToolCall })),
  })
  return { run, verdict: () => run.runner.runProcessToolCall({ position: atStart, toolCall }) }
}

describe('the verdict of processToolCall', () => {
  it('is to run the call as it is when nobody says anything', async () => {
    const { verdict, run } = guardedBy(
      () => {},
      () => undefined,
    )
    expect(await verdict()).toEqual({ type: 'run', input: toolCall.input })
    expect(run.runner.ledger.events).toEqual([])
  })

  it('may change the input, which the guards after see', async () => {
    const seen: unknown[] = []
    const { verdict, run } = guardedBy(
      () => ({ input: { euros: 4 } }),
      ({ input }) => (seen.push(input), { input: { euros: 3 } }),
    )
    expect(await verdict()).toEqual({ type: 'run', input: { euros: 3 } })
    expect(seen).toEqual([{ euros: 4 }])
    expect(run.runner.ledger.events).toMatchObject([
      { processorId: 'g1', effect: { type: 'changed', what: ['input'] } },
      { processorId: 'g2', effect: { type: 'changed', what: ['input'] } },
    ])
  })

  it.each<[string, ReturnType<Guard>, object]>([
    ['deny', { deny: 'too much' }, { type: 'denied', input: toolCall.input, reason: 'too much' }],
    ['output', { output: 'paid already' }, { type: 'answered', input: toolCall.input, output: 'paid already' }],
    ['output that is undefined', { output: undefined }, { type: 'answered', input: toolCall.input, output: undefined }],
  ])('ends the chain by %s', async (_, returned, expected) => {
    let reached = false
    const { verdict, run } = guardedBy(
      () => returned,
      () => void (reached = true),
    )
    expect(await verdict()).toEqual(expected)
    expect(reached).toBe(false)
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'decided' } }])
  })

  it('keeps the input of the guard before when one refuses', async () => {
    const { verdict } = guardedBy(
      () => ({ input: { euros: 4 } }),
      async () => (await Promise.resolve(), { deny: 'no' }),
    )
    expect(await verdict()).toEqual({ type: 'denied', input: { euros: 4 }, reason: 'no' })
  })

  it('may be a promise anywhere in the chain, and is none when nobody returned one', async () => {
    const { verdict } = guardedBy(
      () => ({ input: 1 }),
      async ({ input }) => (await Promise.resolve(), { input: (input as number) + 1 }),
      ({ input }) => ({ input: (input as number) * 10 }),
    )
    expect(await verdict()).toEqual({ type: 'run', input: 20 })
    expect(guardedBy(() => ({ input: 1 })).verdict()).not.toBeInstanceOf(Promise)
  })

  it('asks a person with the first reason, and the guards after still have their say', async () => {
    const asks = guardedBy(
      () => ({ ask: 'is it right?' }),
      ({ input }) => ({ input: { ...(input as object), checked: true } }),
      () => ({ ask: 'really?' }),
    )
    expect(await asks.verdict()).toEqual({ type: 'asked', input: { euros: 5, checked: true }, reason: 'is it right?' })
    expect(asks.run.runner.ledger.events).toMatchObject([
      { processorId: 'g1', effect: { type: 'decided', decision: 'ask' } },
      { processorId: 'g2', effect: { type: 'changed' } },
      { processorId: 'g3', effect: { type: 'decided', decision: 'ask' } },
    ])
    const denies = guardedBy(
      async () => (await Promise.resolve(), { ask: 'is it right?' }),
      () => ({ deny: 'never' }),
    )
    expect(await denies.verdict()).toMatchObject({ type: 'denied', reason: 'never' })
  })

  it('takes a question for answered once a person has approved, and a refusal for what it is', async () => {
    const approval = { approvalId: 'a-1' }
    const seen: unknown[] = []
    const again = (...guards: Guard[]) =>
      guardedBy(...guards).run.runner.runProcessToolCall({ position: atStart, toolCall, approval })
    expect(
      await again(args => {
        seen.push(args.approval)
        return { ask: 'is it right?' }
      }),
    ).toEqual({ type: 'run', input: toolCall.input })
    expect(seen).toEqual([approval])
    expect(await again(() => ({ deny: 'never' }))).toMatchObject({ type: 'denied' })
  })

  it.each<[object, string]>([
    [{ denied: 'x' }, 'unknown-key'],
    [{ input: 1, deny: 'x' }, 'invalid-return'],
    [{}, 'invalid-return'],
  ])('is refused when a guard returns %j', (returned, code) => {
    expect(() => guardedBy(() => returned as never).verdict()).toThrow(
      expect.objectContaining({ code, processorId: 'g1', hook: 'processToolCall' }),
    )
  })

  it('is a tripwire when a guard aborts', () => {
    expect(() => guardedBy(({ abort, toolName }) => abort(`no ${toolName}`, { retry: true })).verdict()).toThrow(
      expect.objectContaining({ name: 'TripWire', reason: 'no pay', retry: true, hook: 'processToolCall' }),
    )
  })

  it('is made with the call and the whole conversation in view', async () => {
    let args: ProcessToolCallArgs | undefined
    await guardedBy(given => void (args = given)).verdict()
    expect(args).toMatchObject(toolCall)
    expect(textsOf(args!.messages)).toEqual(['one', 'two'])
  })
})

const reviewedBy = (...reviews: Review[]) => {
  const run = testRun({
    outputProcessors: reviews.map((processToolResult, index) => hooked(`r${index + 1}`, { processToolResult })),
  })
  const review = (
    outcome: Parameters<typeof run.runner.runProcessToolResult>[0]['outcome'],
    providerExecuted = false,
  ) => run.runner.runProcessToolResult({ position: atStart, toolCall: { ...toolCall, providerExecuted }, outcome })
  return { run, review }
}

describe('processToolResult', () => {
  it('leaves the output alone when nothing is returned', async () => {
    const outcome = { output: { ok: true } }
    expect(
      await reviewedBy(
        () => {},
        () => undefined,
      ).review(outcome),
    ).toBe(outcome)
  })

  it('may replace the output; the next sees what the one before made of it', async () => {
    const { review, run } = reviewedBy(
      ({ output }) => ({ output: `${output as string}1` }),
      async ({ output }) => (await Promise.resolve(), { output: `${output as string}2` }),
    )
    expect(await review({ output: 'x' })).toEqual({ output: 'x12' })
    expect(run.runner.ledger.events.map(({ processorId }) => processorId)).toEqual(['r1', 'r2'])
  })

  it('may replace it by undefined, null or an empty text: they are values', async () => {
    for (const output of [undefined, null, ''])
      expect(await reviewedBy(() => ({ output })).review({ output: 'x' })).toEqual({ output })
  })

  it('sees errors, and may turn one into a result', async () => {
    const error = new Error('no network')
    let args: ProcessToolResultArgs | undefined
    const { review } = reviewedBy(given => ((args = given), { output: 'from the cache' }))
    expect(await review({ error })).toEqual({ output: 'from the cache' })
    expect(args).toMatchObject({ ...toolCall, error, output: undefined, preliminary: false, providerExecuted: false })
    expect(await reviewedBy(() => {}).review({ error })).toEqual({ error })
  })

  it('may make an error of an output, and another error of an error', async () => {
    const { review, run } = reviewedBy(({ output }) => ({ error: `no ${output as string}` }))
    expect(await review({ output: 'x' })).toEqual({ error: 'no x' })
    expect(await reviewedBy(() => ({ error: 'other' })).review({ error: new Error('one') })).toEqual({ error: 'other' })
    expect(await review({ output: 'half', preliminary: true })).toEqual({ error: 'no half' })
    expect(run.runner.ledger.events[0]).toMatchObject({ effect: { type: 'changed', what: ['error'] } })
  })

  it('gives the next the error that the one before made', async () => {
    const seen: unknown[] = []
    const next: Review = ({ output, error }) => void seen.push([output, error])
    await reviewedBy(() => ({ error: 'no' }), next).review({ output: 'x' })
    expect(seen).toEqual([[undefined, 'no']])
  })

  it('sees values on the way, which stay preliminary', async () => {
    const seen: boolean[] = []
    const { review } = reviewedBy(({ preliminary }) => (seen.push(preliminary), { output: 'half' }))
    expect(await review({ output: 'x', preliminary: true })).toEqual({ output: 'half', preliminary: true })
    expect(seen).toEqual([true])
  })

  it('is told when the provider ran the tool', async () => {
    let told: unknown
    await reviewedBy(({ providerExecuted }) => void (told = providerExecuted)).review({ output: 1 }, true)
    expect(told).toBe(true)
  })

  it('notes nothing when it returns what it got', async () => {
    const { review, run } = reviewedBy(({ output, error }) => (error === undefined ? { output } : { error }))
    await review({ output: 'x' })
    await review({ error: 'y' })
    expect(run.runner.ledger.events).toEqual([])
  })

  it.each([[{ output: 1, error: 2 }], [{ error: undefined }]])('cannot return %j', returned => {
    expect(() => reviewedBy(() => returned as never).review({ output: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'r1', hook: 'processToolResult' }),
    )
  })

  it.each([[5], [true], [[]]])('cannot return %j', returned => {
    expect(() => reviewedBy(() => returned as never).review({ output: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid-return', processorId: 'r1', hook: 'processToolResult' }),
    )
  })

  it('cannot return keys that mean nothing', () => {
    expect(() => reviewedBy(() => ({ result: 1 }) as never).review({ output: 1 })).toThrow(
      expect.objectContaining({ code: 'unknown-key', processorId: 'r1', hook: 'processToolResult' }),
    )
  })
})
