// What abort means, whatever the hook does with it.
import { ProcessorError, TripWire, type Abort, type Processor } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, inputStep, stepResult, testRun, text } from './run-host.ts'

const stepped = (processInputStep: NonNullable<Processor['processInputStep']>, more: Partial<Processor> = {}) =>
  testRun({ inputProcessors: [{ id: 'guard', ...more, processInputStep }] })

describe('abort', () => {
  it('throws, so that nothing after it runs', async () => {
    let reached = false
    const run = stepped(({ abort }) => {
      abort('no')
      reached = true
    })
    await expect(async () => inputStep(run)).rejects.toBeInstanceOf(TripWire)
    expect(reached).toBe(false)
  })

  it('carries its reason, its wish for a retry, its metadata and who said it', async () => {
    const run = stepped(({ abort }) => abort('no', { retry: true, metadata: { score: 0.2 } }))
    await expect(async () => inputStep(run)).rejects.toMatchObject({
      message: 'no',
      reason: 'no',
      retry: true,
      metadata: { score: 0.2 },
      processorId: 'guard',
      hook: 'processInputStep',
    })
    expect(run.runner.ledger.events).toMatchObject([{ effect: { type: 'tripwire', reason: 'no', retry: true } }])
    expect(run.runner.ledger.totals).toMatchObject([{ callCount: 1, effectCount: 1, retryCount: 1 }])
  })

  it('says who stopped when it is given no reason', async () => {
    await expect(async () => inputStep(stepped(({ abort }) => abort()))).rejects.toMatchObject({
      reason: "Stopped by the processor 'guard'.",
      retry: false,
      metadata: undefined,
    })
  })

  it('is not unsaid by catching it', async () => {
    const swallowing = stepped(({ abort }) => {
      try {
        abort('no')
      } catch {}
      return { toolChoice: 'none' }
    })
    await expect(async () => inputStep(swallowing)).rejects.toMatchObject({ reason: 'no' })
    const later = stepped(async ({ abort }) => {
      await Promise.resolve()
      try {
        abort('no')
      } catch {}
    })
    await expect(async () => inputStep(later)).rejects.toMatchObject({ reason: 'no' })
    const instead = stepped(({ abort }) => {
      try {
        abort('no')
      } catch {
        throw new Error('something else')
      }
    })
    await expect(async () => inputStep(instead)).rejects.toMatchObject({ reason: 'no' })
  })

  it('counts once: the first one is what was meant', async () => {
    const run = stepped(({ abort }) => {
      try {
        abort('first')
      } catch {
        abort('second')
      }
    })
    await expect(async () => inputStep(run)).rejects.toMatchObject({ reason: 'first' })
  })

  it('is not swallowed by onError skip either', async () => {
    const run = stepped(({ abort }) => abort('no'), { onError: 'skip' })
    await expect(async () => inputStep(run)).rejects.toMatchObject({ name: 'TripWire', reason: 'no' })
  })

  it('is a TripWire also for another copy of the package', () => {
    expect(TripWire.isInstance({ [Symbol.for('lockstep.trip-wire')]: true })).toBe(true)
    expect(TripWire.isInstance(new Error('no'))).toBe(false)
    expect(TripWire.isInstance(undefined)).toBe(false)
  })
})

describe('abort in a hook that only observes', () => {
  const end = { stopReason: 'completed', result: {} as never } as const

  it.each<[keyof Processor, (run: ReturnType<typeof testRun>) => unknown]>([
    ['processStepEnd', run => run.runner.runProcessStepEnd({ position: atStart, step: stepResult() })],
    ['processRunEnd', run => run.runner.runProcessRunEnd({ position: atStart, end })],
  ])('is an error with a code and the cure: %s', async (hook, go) => {
    const aborting = ({ abort }: { abort: Abort }) => abort('no')
    for (const observer of [aborting, (args: { abort: Abort }) => attempt(() => aborting(args))]) {
      const run = testRun({ outputProcessors: [{ id: 'watcher', [hook]: observer } as Processor] })
      const error: unknown = await Promise.resolve()
        .then(() => go(run))
        .catch((thrown: unknown) => thrown)
      expect(ProcessorError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({
        code: 'abort-in-observer',
        processorId: 'watcher',
        hook,
        message: `The processor 'watcher' called abort in ${hook}, which only observes. Refuse in processOutputStep or processOutputResult.`,
      })
    }
  })
})

/** Runs and forgets what it threw. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {}
}

describe('an abort that comes late', () => {
  it('is an error with a code where it is called, after the hook has returned', async () => {
    let late: Abort | undefined
    const run = stepped(({ abort }) => void (late = abort))
    await inputStep(run)
    expect(() => late!('too late')).toThrow(
      expect.objectContaining({
        code: 'abort-too-late',
        message: expect.stringContaining('Await what decides before returning.'),
      }),
    )
    expect(run.runner.ledger.events).toEqual([])
  })

  it('in the stream still refuses the next chunk, until the attempt is over', () => {
    let late: Abort | undefined
    const run = testRun({
      outputProcessors: [hooked('p', { processOutputStream: ({ part, abort }) => ((late = abort), part) })],
    })
    const chain = run.runner.streamChain(atStart)
    chain.pass(text('a'))
    attempt(() => late!('seen too much'))
    expect(() => chain.pass(text('b'))).toThrow(expect.objectContaining({ reason: 'seen too much' }))
    chain.close()
    expect(() => late!('too late')).toThrow(expect.objectContaining({ code: 'abort-too-late' }))
  })
})

describe('the abort of the run', () => {
  it('ends a hook that does not return, with the reason of the signal', async () => {
    const run = stepped(() => new Promise(() => {}))
    const pending = inputStep(run)
    const reason = new Error('enough')
    run.controller.abort(reason)
    await expect(pending).rejects.toBe(reason)
  })

  it('is not passed over by onError skip', async () => {
    const run = stepped(({ abortSignal }) => Promise.reject(abortSignal.reason as Error), { onError: 'skip' })
    run.controller.abort(new Error('enough'))
    await expect(inputStep(run)).rejects.toThrow('enough')
  })

  it('does not end the hook that cleans up', async () => {
    const done: string[] = []
    const run = testRun({
      outputProcessors: [
        hooked('p', { processRunEnd: async () => (await Promise.resolve(), void done.push('saved')) }),
      ],
    })
    run.controller.abort(new Error('enough'))
    await run.runner.runProcessRunEnd({ position: atStart, end: { stopReason: 'aborted', result: {} as never } })
    expect(done).toEqual(['saved'])
  })
})
