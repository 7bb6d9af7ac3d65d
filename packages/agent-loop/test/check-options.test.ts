import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

const add = tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })

describe('options', () => {
  it('that are numbers make sense', async () => {
    await expect(drain({ model: scriptedModel(['x']), maxSteps: 0 })).rejects.toThrow(
      'maxSteps is 0. Give a whole number from 1 on',
    )
    await expect(drain({ model: scriptedModel(['x']), timeout: { chunkMs: -1 } })).rejects.toThrow(
      'The time limit chunkMs is -1.',
    )
  })

  it.each([
    [{ hold: 'all' }, "hold is \"all\". Give 'step', 'run', or leave it out."],
    [{ stopWhen: 5 }, 'stopWhen is 5. Give a condition'],
    [{ stopWhen: [() => false, 5] }, 'stopWhen is an array of 2. Give a condition'],
    [{ structuredOutput: z.object({}) }, 'Give `{ schema }`'],
    [{ abortSignal: new AbortController() }, 'abortSignal is an object with the keys []. Give the `signal`'],
    [{ tools: { add: () => 1 } }, 'The tool add is a function (add). Give `tool({ inputSchema, execute })`.'],
    [{ tools: add }, 'The tool execute is a function (execute).'],
    [{ onChunk: 'log' }, 'onChunk is "log". Give a function'],
    [{ model: undefined }, 'The model is undefined. Give a model of a provider'],
    [{ model: {} }, 'The model is an object with the keys []. Give a model of a provider'],
  ])('that mean nothing are refused: %o', async (options, message) => {
    await expect(drain({ model: scriptedModel(['x']), ...options } as never)).rejects.toThrow(message)
  })
})
