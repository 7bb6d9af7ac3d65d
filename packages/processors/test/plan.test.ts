import { hookNames, planProcessors, type Processor, type ProcessorArrays } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'

const full = (id: string): Processor => ({
  id,
  ...Object.fromEntries(hookNames.map(hook => [hook, () => undefined])),
})

const idsOf = (arrays: ProcessorArrays) => {
  const plan = planProcessors(arrays)
  return Object.fromEntries(hookNames.map(hook => [hook, plan[hook].map(({ id }) => id).join(' ')]))
}

describe('a plan', () => {
  it('says for each hook who runs in it, array by array, in order', () => {
    const [in1, in2, out1, out2, err] = ['in1', 'in2', 'out1', 'out2', 'err'].map(full)
    const arrays = {
      inputProcessors: [in1!, in2!],
      outputProcessors: [out1!, out2!],
      errorProcessors: [err!],
    }
    expect(idsOf(arrays)).toEqual({
      processInput: 'in1 in2',
      processInputStep: 'in1 in2',
      processLLMRequest: 'in1 in2',
      processAPIError: 'err in1 in2 out1 out2',
      processOutputStream: 'out1 out2',
      processLLMResponse: 'in1 in2 out1 out2',
      processOutputStep: 'out1 out2',
      processToolCall: 'out1 out2',
      processToolResult: 'out1 out2',
      processStepEnd: 'in1 in2 out1 out2 err',
      processOutputResult: 'out1 out2',
      processRunEnd: 'in1 in2 out1 out2 err',
      flush: 'out1 out2',
    })
    expect(planProcessors(arrays).processors.map(({ id }) => id)).toEqual(['in1', 'in2', 'out1', 'out2', 'err'])
  })

  it('has a processor once in a hook, however many arrays it is in', () => {
    const one = full('one')
    const arrays = { inputProcessors: [one], outputProcessors: [one, full('two')], errorProcessors: [one] }
    expect(idsOf(arrays)).toMatchObject({
      processAPIError: 'one two',
      processRunEnd: 'one two',
      processStepEnd: 'one two',
      processLLMResponse: 'one two',
    })
    expect(planProcessors(arrays).processors.map(({ id }) => id)).toEqual(['one', 'two'])
  })

  it('finds the hooks of a class and of the class that it extends', () => {
    class Base {
      readonly id = 'child'
      processInput() {}
    }
    class Child extends Base {
      processInputStep() {}
    }
    expect(idsOf({ inputProcessors: [new Child()] })).toMatchObject({
      processInput: 'child',
      processInputStep: 'child',
    })
  })

  it('is empty when there are no processors', () => {
    expect(planProcessors({}).processors.map(({ id }) => id)).toEqual([])
    expect(Object.values(idsOf({ inputProcessors: [] })).join('')).toBe('')
  })
})

describe('a plan refuses', () => {
  const expectRefusal = (arrays: object, code: string, message: string | RegExp) =>
    expect(() => planProcessors(arrays as ProcessorArrays)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    )

  it('the same id twice in one array', () => {
    expectRefusal(
      { inputProcessors: [full('same'), full('same')] },
      'duplicate-id',
      /^inputProcessors has two processors with the id 'same'\. Give each its own id, or list the processor once\.$/,
    )
  })

  it.each<[string, unknown, RegExp]>([
    ['a class that was not made', class Guard {}, /a function \(Guard; call it, or write `new`\)/],
    ['a string', 'token-limiter', /the string "token-limiter"/],
    ['an object without an id', { processInput() {} }, /an object with the keys \["processInput"\]/],
    ['an object with an empty id', { id: '', processInput() {} }, /non-empty string/],
    ['undefined', undefined, /has undefined in it/],
    ['null', null, /has null in it/],
  ])('%s', (_, processor, message) => {
    expectRefusal({ inputProcessors: [processor] }, 'not-a-processor', message)
  })

  it('a hook whose name is misspelt, since it would never run', () => {
    expectRefusal(
      { outputProcessors: [{ id: 'typo', processOutputSteam: () => {}, processOutputStep: () => {} }] },
      'unknown-hook',
      /^The processor 'typo' has a method 'processOutputSteam', which is no hook\. The hooks are processInput, /,
    )
  })

  it('a processor in an array where none of its hooks runs, and says where to', () => {
    expectRefusal(
      { inputProcessors: [{ id: 'guard', processOutputStep: () => {} }] },
      'no-hook-for-array',
      /^The processor 'guard' has no hook that runs in inputProcessors\. Move it to outputProcessors\.$/,
    )
    expectRefusal(
      { errorProcessors: [{ id: 'guard', processInput: () => {}, processOutputStep: () => {} }] },
      'no-hook-for-array',
      /Move it to inputProcessors or outputProcessors\.$/,
    )
    expectRefusal(
      { inputProcessors: [{ id: 'guard' }] },
      'no-hook-for-array',
      /^The processor 'guard' has no hook\. The hooks are processInput, /,
    )
  })

  it('a promise that means nothing, since it would not be kept', () => {
    expectRefusal(
      { outputProcessors: [{ id: 'guard', hold: 'all' as never, processOutputStep: () => {} }] },
      'not-a-processor',
      /^The processor 'guard' says hold: "all"\. Say 'step' or 'run', or nothing\.$/,
    )
    expectRefusal(
      { outputProcessors: [{ id: 'guard', onError: 'ignore' as never, processOutputStep: () => {} }] },
      'not-a-processor',
      /says onError: "ignore"\. Say 'fail' or 'skip'/,
    )
    expectRefusal(
      { outputProcessors: [{ id: 'guard', hold: 1n as never, processOutputStep: () => {} }] },
      'not-a-processor',
      /^The processor 'guard' says hold: 1n\./,
    )
  })

  it('nothing that merely has other members', () => {
    const other = { id: 'p', processInput: () => {}, processes: 3, describe: () => 'x', processedCount: 1 }
    expect(idsOf({ inputProcessors: [other as Processor] })).toMatchObject({ processInput: 'p' })
  })
})
