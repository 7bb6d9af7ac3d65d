// What `abort` means, hook by hook: one table, made here and shown in the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, type Chunk, type LoopResult, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const hooks = [
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processOutputStream',
  'processLLMResponse',
  'processOutputStep',
  'processToolCall',
  'processToolResult',
  'processOutputResult',
] as const

type Hook = (typeof hooks)[number]

interface Case {
  readonly hook: Hook
  readonly step: 0 | 2
  readonly retry: boolean
}

const cases: readonly Case[] = hooks.flatMap(hook =>
  (hook === 'processInput'
    ? ([0] as const)
    : hook === 'processOutputResult'
      ? ([2] as const)
      : ([0, 2] as const)
  ).flatMap(step => [false, true].map(retry => ({ hook, step, retry }))),
)

const inputHooks: ReadonlySet<Hook> = new Set(['processInput', 'processInputStep', 'processLLMRequest'])

/** Refuses once, at the given step. Everything of the attempt that it refuses says SECRET. */
function refuser({ hook, step, retry }: Case): Processor {
  return {
    id: 'refuser',
    [hook]: (args: {
      stepNumber: number
      part?: Chunk
      state: { refused?: boolean }
      abort: (reason: string, options: object) => never
    }) => {
      const { part, state, stepNumber, abort } = args
      const itsTurn = stepNumber === step && !state.refused && (part === undefined || part.type === 'text-end')
      if (!itsTurn) return part
      state.refused = true
      return abort('no', { retry })
    },
  } as Processor
}

interface Observed {
  readonly result: LoopResult
  readonly chunks: readonly string[]
  readonly modelCalls: number
  readonly toolRuns: number
  readonly callbacks: readonly string[]
}

/** Three steps, the first two with a tool. */
async function observe(one: Case, how: 'generate' | 'stream'): Promise<Observed> {
  let toolRuns = 0
  const callbacks: string[] = []
  const chunks: string[] = []
  const toolSteps = one.hook === 'processToolCall' || one.hook === 'processToolResult' ? 3 : 2
  const answer = (n: number, word: string) => ({
    text: `${word}${n}`,
    toolCalls: n < toolSteps ? [{ toolName: 'count', input: {} }] : [],
  })
  const script = Array.from({ length: 6 }, (_, call) => {
    const isRefused = call === one.step && answersAgain(one)
    const n = call > one.step && one.retry && answersAgain(one) ? call - 1 : call
    return answer(n, isRefused ? 'SECRET' : 'ok')
  })
  const model = scriptedModel(script)
  const agent = new Agent({
    name: 'matrix',
    model,
    tools: { count: tool({ inputSchema: z.object({}), execute: () => ++toolRuns }) },
    maxProcessorRetries: 1,
    ...(inputHooks.has(one.hook) ? { inputProcessors: [refuser(one)] } : { outputProcessors: [refuser(one)] }),
    defaultOptions: {
      onFinish: () => void callbacks.push('onFinish'),
      onError: () => void callbacks.push('onError'),
      onAbort: () => void callbacks.push('onAbort'),
      onChunk: chunk => void chunks.push(chunk.type),
    },
  })
  const result = (how === 'generate'
    ? await agent.generate('Go')
    : await drained(agent as never)) as unknown as LoopResult
  return { result, chunks, modelCalls: model.doStreamCalls.length, toolRuns, callbacks }
}

/** Whether the refusal is of an answer, so that a retry makes the model answer the same step again. */
function answersAgain({ hook }: Case): boolean {
  return [
    'processOutputStream',
    'processLLMResponse',
    'processOutputStep',
    'processToolCall',
    'processOutputResult',
  ].includes(hook)
}

async function drained(agent: Pick<Agent, 'stream'>): Promise<LoopResult> {
  const stream = agent.stream('Go')
  let last: Chunk | undefined
  for await (const chunk of stream.fullStream) last = chunk
  expect(last?.type).toBe('finish')
  return stream.result
}

const marks = ['step-reset', 'tripwire', 'step-finish', 'tool-error', 'finish'] as const

function row(one: Case, { result, chunks, modelCalls, toolRuns, callbacks }: Observed): string {
  const shown = marks
    .map(mark => [mark, chunks.filter(type => type === mark).length] as const)
    .filter(([, count]) => count > 0)
  const cells = [
    one.hook,
    one.step,
    one.retry ? 'yes' : 'no',
    modelCalls,
    toolRuns,
    shown.map(([mark, count]) => (count === 1 ? mark : `${mark} ×${count}`)).join(', '),
    result.text === '' ? '–' : result.text,
    result.steps.length,
    result.messages.length,
    result.usage.totalTokens ?? 0,
    result.totalUsage.totalTokens ?? 0,
    `${result.stopReason} / ${result.finishReason}`,
    result.tripwire ? `rejected ${JSON.stringify(result.tripwire.rejected.text)}` : '–',
    callbacks.join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

const head = [
  '| abort in | at step | retry | model calls | tools run | chunks of note | text | steps | messages | usage | totalUsage | stopReason / finishReason | tripwire | callback |',
  '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|',
]

describe('abort', () => {
  it('means the same in generate and in stream, in one table that the README shows', async () => {
    const rows: string[] = []
    for (const one of cases) {
      const [generated, streamed] = [await observe(one, 'generate'), await observe(one, 'stream')]
      rows.push(row(one, generated))
      expect(row(one, streamed)).toBe(row(one, generated))
      expect(streamed.chunks).toEqual(generated.chunks)
    }
    const table = [...head, ...rows].join('\n')
    const file = new URL('../README.md', import.meta.url)
    const readme = readFileSync(file, 'utf8')
    const [before, , after] = readme.split(/<!-- abort-matrix -->|<!-- \/abort-matrix -->/)
    const updated = `${before}<!-- abort-matrix -->\n\n${table}\n\n<!-- /abort-matrix -->${after}`
    if (process.env['UPDATE_README'] === '1') writeFileSync(file, updated)
    expect(readFileSync(file, 'utf8')).toBe(updated)
  })

  it.each(cases)('leaves what it withdrew nowhere but in the tripwire: $hook at $step, retry $retry', async one => {
    const { result } = await observe(one, 'generate')
    const { tripwire, messageList, trace, ...rest } = result
    expect(JSON.stringify([rest, messageList.toJSON(), messageList.changes, trace.steps])).not.toContain('SECRET')
    expect(
      messageList.get.all
        .prompt()
        .flatMap(message => JSON.stringify(message))
        .join(''),
    ).not.toContain('SECRET')
    expect(tripwire?.rejected.text.includes('SECRET')).toBe(tripwire && answersAgain(one))
  })
})
