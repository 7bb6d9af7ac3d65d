// processStepEnd and processRunEnd: what is told when it cannot be changed any more.
import type { Processor, ProcessRunEndArgs, RunEnd } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, stepResult, testRun } from './run-host.ts'

const end = (more: Partial<RunEnd> = {}): RunEnd => ({
  stopReason: 'completed',
  result: { text: 'bye', steps: [] } as never,
  ...more,
})

describe('processStepEnd', () => {
  it('is told the committed step, in every array, once each', async () => {
    const seen: unknown[] = []
    const see = (id: string) => hooked(id, { processStepEnd: ({ step }) => void seen.push([id, step.text]) })
    const both = see('both')
    const run = testRun({ inputProcessors: [see('in'), both], outputProcessors: [both], errorProcessors: [see('err')] })
    await run.runner.runProcessStepEnd({ position: atStart, step: stepResult({ text: 'hello' }) })
    expect(seen).toEqual([
      ['in', 'hello'],
      ['both', 'hello'],
      ['err', 'hello'],
    ])
  })
})

describe('processRunEnd', () => {
  it('is told why the run ended, what there is, and the error', async () => {
    let args: ProcessRunEndArgs | undefined
    const run = testRun({ outputProcessors: [hooked('p', { processRunEnd: given => void (args = given) })] })
    const error = new Error('x')
    await run.runner.runProcessRunEnd({ position: atStart, end: end({ stopReason: 'error', error }) })
    expect(args).toMatchObject({ stopReason: 'error', result: { text: 'bye' }, error, stepNumber: 0, state: {} })
  })

  it('runs for all, also after one that throws, and tells the first error when all have run', async () => {
    const reached: string[] = []
    const ends = (id: string, hook: Processor['processRunEnd']): Processor => ({
      id,
      processRunEnd: args => (reached.push(id), hook!(args)),
    })
    const run = testRun({
      outputProcessors: [
        ends('a', () => {
          throw new Error('first')
        }),
        ends('b', () => Promise.reject(new Error('second'))),
        ends('c', async () => Promise.resolve()),
        ends('d', ({ abort }) => abort('no')),
        ends('e', () => {}),
      ],
    })
    await expect(async () => run.runner.runProcessRunEnd({ position: atStart, end: end() })).rejects.toMatchObject({
      code: 'hook-failed',
      processorId: 'a',
      cause: { message: 'first' },
    })
    expect(reached).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
