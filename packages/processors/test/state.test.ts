// State: one object per processor id and run, the same in every hook.
import { hookNames, ProcessorRunner, type Processor } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { atStart, hooked, stepResult, testRun, text } from './run-host.ts'

/** A processor with every hook, all of which show their state. */
const everyHook = (id: string, see: (state: object) => unknown): Processor => {
  const look = ({ state }: { state: object }): undefined => void see(state)
  return {
    id,
    ...Object.fromEntries(hookNames.map(hook => [hook, look])),
    processOutputStream: args => (look(args), args.part),
  }
}

describe('state', () => {
  it('starts empty and is the same object in every hook of a run', async () => {
    const seen: object[] = []
    const processor = everyHook('p', state => seen.push(state))
    const run = testRun({ inputProcessors: [processor], outputProcessors: [processor], errorProcessors: [processor] })
    const { runner } = run
    const model = undefined as never
    const toolCall = { toolCallId: 'c', toolName: 't', input: {} }
    await runner.runProcessInput(atStart)
    await runner.runProcessInputStep({ position: atStart, settings: {} as never, feedback: undefined })
    await runner.runProcessLLMRequest({ position: atStart, prompt: [], settings: { model } })
    await runner.runProcessAPIError({ position: atStart, error: 'x', shownChunkCount: 0 })
    const chain = runner.streamChain(atStart)
    await chain.pass(text('a'))
    await chain.flush('finish')
    await runner.streamChain({ ...atStart, attemptNumber: 1 }).pass(text('b'))
    await runner.runProcessLLMResponse({ position: atStart, response: { model, chunks: [], fromCache: false } })
    await runner.runProcessOutputStep(() => ({ position: atStart, own: {} as never }))
    await runner.runProcessToolCall({ position: atStart, toolCall })
    await runner.runProcessToolResult({ position: atStart, toolCall, outcome: { output: 1 } })
    await runner.runProcessStepEnd({ position: atStart, step: stepResult() })
    await runner.runProcessOutputResult(() => ({ position: atStart, own: {} as never }))
    await runner.runProcessRunEnd({ position: atStart, end: { stopReason: 'completed', result: {} as never } })
    expect(seen).toHaveLength(14)
    expect(new Set(seen).size).toBe(1)
    expect(seen[0]).toEqual({})
  })

  it('is another for another id, and another in another run', async () => {
    const seen: object[] = []
    const [a, b] = ['a', 'b'].map(id => hooked(id, { processInput: ({ state }) => void seen.push(state) }))
    await testRun({ inputProcessors: [a!, b!] }).runner.runProcessInput(atStart)
    await testRun({ inputProcessors: [a!] }).runner.runProcessInput(atStart)
    expect(new Set(seen).size).toBe(3)
  })

  it('is one for one id in several arrays, also when the instances differ', async () => {
    const first = hooked('same', { processInput: ({ state }) => void (state['words'] = 3) })
    let read: unknown
    const second = hooked('same', { processOutputStep: ({ state }) => void (read = state['words']) })
    const run = testRun({ inputProcessors: [first], outputProcessors: [second] })
    await run.runner.runProcessInput(atStart)
    await run.runner.runProcessOutputStep(() => ({ position: atStart, own: {} as never }))
    expect(read).toBe(3)
  })

  it('is not rolled back with an attempt', async () => {
    const counts: unknown[] = []
    const counter = hooked('p', {
      processOutputStream: ({ part, state }) => {
        counts.push((state['count'] = ((state['count'] as number | undefined) ?? 0) + 1))
        return part
      },
    })
    const run = testRun({ outputProcessors: [counter] })
    await run.runner.streamChain(atStart).pass(text('a'))
    await run.runner.streamChain({ ...atStart, attemptNumber: 1, retryCount: 1 }).pass(text('b'))
    expect(counts).toEqual([1, 2])
  })
})

describe('the rest of the context', () => {
  it('makes detached model calls in the name of the processor', async () => {
    let answer: unknown
    const run = testRun({
      inputProcessors: [
        hooked('judge', {
          processInput: async ({ callModel }) => void (answer = await callModel({ prompt: 'Good?', temperature: 0 })),
        }),
      ],
    })
    await run.runner.runProcessInput(atStart)
    expect(answer).toMatchObject({ text: 'fine' })
    expect(run.modelCalls).toEqual([{ request: { prompt: 'Good?', temperature: 0 }, processorId: 'judge' }])
  })

  it('writes data in the name of the processor, from any hook', async () => {
    const run = testRun({
      inputProcessors: [hooked('p', { processInput: ({ writer }) => writer.custom({ type: 'data-hello', data: 1 }) })],
      outputProcessors: [hooked('q', { processRunEnd: ({ writer }) => writer.custom({ type: 'data-bye', data: 2 }) })],
    })
    await run.runner.runProcessInput(atStart)
    await run.runner.runProcessRunEnd({ position: atStart, end: { stopReason: 'completed', result: {} as never } })
    expect(run.written.map(({ chunk, processorId }) => [chunk.type, processorId])).toEqual([
      ['data-hello', 'p'],
      ['data-bye', 'q'],
    ])
  })
})

describe('a saved runner', () => {
  const inState = (write: (state: Record<string, unknown>) => void) => {
    const run = testRun({
      inputProcessors: [
        hooked('p', {
          processInput({ state }) {
            write(state)
          },
        }),
      ],
    })
    return { run, done: run.runner.runProcessInput(atStart) }
  }

  it('has the state of each processor as JSON, and another goes on from it', async () => {
    const { run, done } = inState(state =>
      Object.assign(state, { seen: { words: ['a', 1, null, true] }, gone: undefined }),
    )
    await done
    const saved = JSON.parse(JSON.stringify(run.runner.save())) as ReturnType<ProcessorRunner['save']>
    expect(saved.states).toEqual({ p: { seen: { words: ['a', 1, null, true] } } })
    const states: object[] = []
    const next = new ProcessorRunner(
      { inputProcessors: [everyHook('p', state => states.push(state))] },
      run.host,
      saved,
    )
    await next.runProcessInput(atStart)
    expect(states).toEqual([{ seen: { words: ['a', 1, null, true] } }])
    expect(next.ledger.totals).toMatchObject([{ processorId: 'p', hook: 'processInput', callCount: 2 }])
  })

  it.each<[string, (state: Record<string, unknown>) => void]>([
    ['a Map in state.seen', state => (state['seen'] = new Map())],
    ['a Date in state.turns[1].at', state => (state['turns'] = [{}, { at: new Date(0) }])],
    ['a function in state.again', state => (state['again'] = () => {})],
    ['a bigint in state.id', state => (state['id'] = 1n)],
    ['NaN in state.score', state => (state['score'] = Number.NaN)],
    ['a cycle in state.self', state => (state['self'] = state)],
    ['a undefined in state.list[0]', state => (state['list'] = [undefined])],
  ])('is refused with %s', async (found, write) => {
    const { run, done } = inState(write)
    await done
    expect(() => run.runner.save()).toThrow(
      `The processor 'p' has ${found}, which JSON cannot carry, so the run cannot be saved. Keep plain values in state.`,
    )
  })
})
