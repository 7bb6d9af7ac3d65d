import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { resumeLoop, type LoopState } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { loadBuiltin } from '@lockstep/processors-builtin'
import {
  overflowRecovery,
  type Overflow,
  type OverflowRecoveryOptions,
} from '@lockstep/processors-builtin/overflow-recovery'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { apiError, brokenOff } from './api-error.ts'
import { orphansIn, saidIn, turnsOf, words } from './long-conversation.ts'

const tooLong = apiError(400, 'prompt is too long: 213462 tokens > 200000 maximum')
const look: ScriptedTurn = { toolCalls: [{ toolName: 'lookup', input: {} }] }

processorContract(() => overflowRecovery(), {
  scripts: [[look, tooLong, 'Noon.']],
  toolResults: [words(2_000)],
})

async function run(
  model: RunWithOptions['model'] & object,
  options: OverflowRecoveryOptions = {},
  more: RunWithOptions = {},
) {
  const told: Overflow[] = []
  const recovery = overflowRecovery({ onOverflow: event => told.push(event), ...options })
  const outcome = await runWith(recovery, { model, input: 'question 10', modelSettings: { maxRetries: 0 }, ...more })
  expect(outcome.prompts.flatMap(orphansIn)).toEqual([])
  return { ...outcome, told, said: outcome.prompts.map(saidIn) }
}

const said6 = [6, 7, 8, 9].flatMap(index => [`question ${index}`, `result ${index}`, `answer ${index}`])
let count = 0
const toolsGiving = (...lengths: readonly number[]) => {
  count = 0
  return {
    lookup: { inputSchema: jsonSchema({}), execute: () => `result ${count} ${words(lengths[count++]!)} the end` },
  } as unknown as ToolSet
}

describe('the overflow recovery', () => {
  it.each([
    ['Anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum'],
    [
      'Anthropic, with room for the answer',
      400,
      'input length and `max_tokens` exceed context limit: 90402 + 116650 > 204648, decrease input length or `max_tokens` and try again',
    ],
    ['Anthropic, in bytes', 413, 'Request exceeds the maximum size'],
    [
      'OpenAI',
      400,
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
    ],
    [
      'OpenAI, Responses',
      400,
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
    ],
    ['Google', 400, 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
    ['Bedrock', 400, 'Input is too long for requested model.'],
    ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['Groq', 400, 'Please reduce the length of the messages or completion.'],
    [
      'OpenRouter',
      400,
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens.",
    ],
    ['Together', 422, "The input (140000 tokens) is longer than the model's context length (131072 tokens)."],
    [
      'Mistral',
      400,
      'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    ],
    ['GitHub Copilot', 400, 'prompt token count of 130000 exceeds the limit of 128000'],
    ['llama.cpp', 500, 'the request exceeds the available context size, try increasing it'],
    ['LM Studio', 400, 'tokens to keep from the initial prompt is greater than the context length'],
    ['Ollama', 400, 'prompt too long; exceeded max context length by 5000 tokens'],
    ['MiniMax', 400, 'invalid params, context window exceeds limit'],
    ['Kimi', 400, 'Your request exceeded model token limit: 262144 (requested: 300000)'],
    ['DashScope', 400, 'Range of input length should be [1, 129024]'],
  ])('leaves the older turns out when %s says so', async (_, statusCode, message) => {
    const { result, said } = await run([apiError(statusCode, message), 'Yes.'], {}, { history: turnsOf(10) })
    expect([result.text, said[0]!.length, said[1]!.at(-1)]).toEqual(['Yes.', 31, 'question 10'])
    expect(said[1]!.slice(0, 3)).toEqual(['question 6', 'result 6', 'answer 6'])
  })

  it('reads it in a stream, and as a code', async () => {
    const error = { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'No.' }
    expect((await run([brokenOff(error), 'Yes.'], {}, { history: turnsOf(10) })).result.text).toBe('Yes.')
  })

  it.each([
    ['a rate limit', 429, 'This request would exceed the rate limit of 30000 input tokens per minute.'],
    ['another refusal', 400, 'Invalid temperature.'],
    ['a picture that is too large', 400, 'The image is 7340032 bytes, which exceeds the limit of 5242880 bytes.'],
    [
      'too many tokens for the answer',
      400,
      'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
    ],
  ])('leaves %s alone', async (_, statusCode, message) => {
    const { result, prompts } = await run([apiError(statusCode, message)], {}, { history: turnsOf(10) })
    expect([result.stopReason, prompts.length]).toEqual(['error', 1])
  })

  it('leaves more out each time, then gives up', async () => {
    const { said, told, result } = await run([tooLong, tooLong, tooLong, tooLong], {}, { history: turnsOf(16) })
    const lengths = said.map(list => list.length)
    expect(lengths).toEqual(lengths.toSorted((one, other) => other - one))
    expect([new Set(lengths).size, told.length, result.stopReason]).toEqual([4, 3, 'error'])
  })

  it('holds for the rest of the run', async () => {
    const { said } = await run([tooLong, look, look, 'Yes.'], {}, { history: turnsOf(10), tools: toolsGiving(5, 5) })
    expect(said[0]).toContain('question 0')
    for (const list of said.slice(1)) expect(list).not.toContain('question 0')
    expect(said.at(-1)!.slice(-3)).toEqual(['question 10', 'result 0', 'result 1'])
  })

  it('leaves the same out for several steps, so that prompts begin alike', async () => {
    const looks = Array.from({ length: 24 }, () => look)
    const tools = toolsGiving(...looks.map(() => 20))
    const { said } = await run([tooLong, ...looks, 'Yes.'], {}, { history: turnsOf(40), tools, maxSteps: 30 })
    const begins = said.slice(1).map(([first]) => first)
    const moveCount = begins.filter((first, index) => index > 0 && first !== begins[index - 1]).length
    expect([begins.length, moveCount]).toEqual([25, 1])
  })

  it('keeps all results of calls that were made side by side, since the model has not answered to them', async () => {
    const both: ScriptedTurn = { toolCalls: [look.toolCalls![0]!, look.toolCalls![0]!] }
    const { said } = await run([look, both, tooLong, 'Yes.'], {}, { tools: toolsGiving(1_500, 20, 20) })
    expect([said.at(-2), said.at(-1)]).toEqual([
      ['question 10', 'result 0', 'result 1', 'result 2'],
      ['question 10', 'result 1', 'result 2'],
    ])
  })

  it('holds for a run that was put down and is taken up by another instance', async () => {
    const ask = { inputSchema: jsonSchema({}), needsApproval: true, execute: () => 'result 99' }
    const tools = { ask } as unknown as ToolSet
    const model = scriptedModel([tooLong, { toolCalls: [{ toolName: 'ask', input: {} }] }, 'Yes.'])
    const { result } = await run(model, {}, { history: turnsOf(10), tools })
    const state = JSON.parse(JSON.stringify(result.loopState)) as LoopState
    const decisions = result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const recovery = overflowRecovery()
    const processors = { inputProcessors: [recovery], errorProcessors: [recovery] }
    const loop = resumeLoop({ state, decisions }, { ...processors, model, tools })
    let next = await loop.next()
    while (!next.done) next = await loop.next()
    expect(next.value.text).toBe('Yes.')
    expect(saidIn(model.doStreamCalls.at(-1)!.prompt)).toEqual([...said6, 'question 10', 'result 99'])
  })

  it('then leaves older results out, with their calls kept', async () => {
    const { said, prompts, result } = await run(
      [look, look, look, tooLong, 'Yes.'],
      {},
      { tools: toolsGiving(600, 600, 600) },
    )
    expect(said.at(-1)).toEqual(['question 10', 'result 2'])
    expect(JSON.stringify(prompts.at(-1)).match(/"tool-call"/g)).toHaveLength(3)
    expect(JSON.stringify(result.messageList).match(/result \d/g)).toHaveLength(3)
  })

  it('then cuts the middle out of what is too long by itself', async () => {
    const { result, prompts } = await run([look, tooLong, 'Yes.'], {}, { tools: toolsGiving(20_000) })
    const shown = JSON.stringify(prompts.at(-1))
    expect(result.text).toBe('Yes.')
    expect(shown).toMatch(/result 0 word.*characters were left out here.*word the end/)
    expect(shown.length).toBeLessThan(JSON.stringify(prompts[1]).length * 0.55)
    expect(JSON.stringify(result.messageList)).not.toContain('left out')
  })

  it('does not call again where there is nothing to leave out', async () => {
    const { result, prompts } = await run([tooLong], {}, { input: words(5_000) })
    expect([result.stopReason, prompts.length]).toEqual(['error', 1])
    const pinned = await run([tooLong], { pin: () => true }, { history: turnsOf(10) })
    expect(pinned.prompts).toHaveLength(1)
  })

  it('does not call again where prompts do not pass through it', async () => {
    const { prompts } = await runWith([], {
      model: [tooLong],
      history: turnsOf(10),
      others: { errorProcessors: [overflowRecovery()] },
    })
    expect(prompts).toHaveLength(1)
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['overflow-recovery', { factor: 0.7 }])).id).toBe('overflow-recovery')
    await expect(loadBuiltin(['overflow-recovery', { factor: 1 }])).rejects.toThrow('Give one between 0 and 1')
  })
})
