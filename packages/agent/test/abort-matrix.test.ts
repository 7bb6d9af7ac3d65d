// What `abort` means, hook by hook: one table, made here and shown in the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, type Chunk, type LoopResult, type Processor, type ProcessorError } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const places = [
  'processInput',
  'processInputStep',
  'processLLMRequest',
  'processAPIError',
  'processOutputStream',
  'flush',
  'processLLMResponse',
  'processOutputStep',
  'processToolCall',
  'processToolResult',
  'processOutputStream of tool-result',
  'processOutputStream of step-finish',
  'processStepEnd',
  'processOutputStream of finish',
  'processOutputResult',
  'processRunEnd',
] as const

/** A hook, and for the stream the chunk at which it refuses when that is not the model's. */
type Place = (typeof places)[number]

interface Case {
  readonly place: Place
  readonly step: 0 | 2
  readonly retry: boolean
}

const atTheEnd: ReadonlySet<Place> = new Set(['processOutputStream of finish', 'processOutputResult', 'processRunEnd'])

function stepsOf(place: Place): readonly (0 | 2)[] {
  if (place === 'processInput') return [0]
  return atTheEnd.has(place) ? [2] : [0, 2]
}

const cases: readonly Case[] = places.flatMap(place =>
  stepsOf(place).flatMap(step => [false, true].map(retry => ({ place, step, retry }))),
)

const inputPlaces: ReadonlySet<Place> = new Set(['processInput', 'processInputStep', 'processLLMRequest'])

/** Refuses once, at the given step. Everything of the attempt that it refuses says SECRET. */
function refuser({ place, step, retry }: Case): Processor {
  const [hook, chunkType = 'text-end'] = place.split(' of ')
  return {
    id: 'refuser',
    [hook!]: (args: {
      stepNumber: number
      part?: Chunk
      state: { refused?: boolean }
      abort: (reason: string, options: object) => never
    }) => {
      const { part, state, stepNumber, abort } = args
      const itsTurn = stepNumber === step && !state.refused && (part === undefined || part.type === chunkType)
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
  /** What the conversation said of the response when the run had ended: what a memory would store. */
  readonly stored: string
}

/** Three steps, the first two with a tool. */
async function observe(one: Case, how: 'generate' | 'stream'): Promise<Observed> {
  let toolRuns = 0
  const callbacks: string[] = []
  const chunks: string[] = []
  const toolSteps = isOfTools(one) ? 3 : 2
  let stored = ''
  const answer = (n: number, word: string) => ({
    text: `${word}${n}`,
    toolCalls: n < toolSteps ? [{ toolName: 'count', input: {} }] : [],
  })
  const script = Array.from({ length: 6 }, (_, call) => {
    const isRefused = call === one.step && answersAgain(one)
    const n = call > one.step && one.retry && answersAgain(one) ? call - 1 : call
    if (one.place === 'processAPIError' && call === one.step) return { error: new Error('down') }
    return answer(n, isRefused ? 'SECRET' : 'ok')
  })
  const model = scriptedModel(script)
  const agent = new Agent({
    name: 'matrix',
    model,
    tools: { count: tool({ inputSchema: z.object({}), execute: () => ++toolRuns }) },
    maxProcessorRetries: 1,
    inputProcessors: inputPlaces.has(one.place) ? [refuser(one)] : [],
    outputProcessors: [
      ...(inputPlaces.has(one.place) || one.place === 'processAPIError' ? [] : [refuser(one)]),
      { id: 'observer', processRunEnd: ({ messageList }) => void (stored = textsOf(messageList.get.response.db())) },
    ],
    errorProcessors: one.place === 'processAPIError' ? [refuser(one)] : [],
    defaultOptions: {
      onFinish: () => void callbacks.push('onFinish'),
      onError: () => void callbacks.push('onError'),
      onAbort: () => void callbacks.push('onAbort'),
      onChunk: chunk => void chunks.push(chunk.type),
    },
  })
  const result = (how === 'generate'
    ? await generated(agent as never)
    : await drained(agent as never)) as unknown as LoopResult
  return { result, chunks, modelCalls: model.doStreamCalls.length, toolRuns, callbacks, stored }
}

/** Whether it is about tools, so that every step has one. */
function isOfTools({ place }: Case): boolean {
  return ['processToolCall', 'processToolResult', 'processOutputStream of tool-result'].includes(place)
}

function textsOf(messages: LoopResult['messages']): string {
  return messages
    .flatMap(({ content }) => content.parts.flatMap(part => (part.type === 'text' ? [part.text] : [])))
    .join(' ')
}

/** A refusal where nothing can be refused fails the run: what there was is in the error. */
async function generated(agent: Pick<Agent, 'generate'>): Promise<unknown> {
  return agent.generate('Go').catch((error: { readonly result: unknown }) => error.result)
}

/** Whether the refusal is of an answer, so that a retry makes the model answer the same step again. */
function answersAgain({ place }: Case): boolean {
  return [
    'processOutputStream',
    'flush',
    'processLLMResponse',
    'processOutputStep',
    'processToolCall',
    'processOutputStream of finish',
    'processOutputResult',
  ].includes(place)
}

async function drained(agent: Pick<Agent, 'stream'>): Promise<LoopResult> {
  const stream = agent.stream('Go')
  let last: Chunk | undefined
  for await (const chunk of stream.fullStream) last = chunk
  expect(last?.type).toBe('finish')
  return stream.result
}

const marks = ['step-reset', 'tripwire', 'step-finish', 'tool-error', 'error', 'finish'] as const

function row(one: Case, { result, chunks, modelCalls, toolRuns, callbacks, stored }: Observed): string {
  const shown = marks
    .map(mark => [mark, chunks.filter(type => type === mark).length] as const)
    .filter(([, count]) => count > 0)
  const cells = [
    one.place,
    one.step,
    one.retry ? 'yes' : 'no',
    modelCalls,
    toolRuns,
    shown.map(([mark, count]) => (count === 1 ? mark : `${mark} ×${count}`)).join(', '),
    result.text === '' ? '–' : result.text,
    result.steps.length,
    stored === '' ? '–' : stored,
    result.usage.totalTokens ?? 0,
    result.totalUsage.totalTokens ?? 0,
    `${result.stopReason} / ${result.finishReason}`,
    result.tripwire ? `rejected ${JSON.stringify(result.tripwire.rejected.text)}` : codeOf(result.error),
    callbacks.join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

/** The code of a run's error, in the cell of the tripwire. */
function codeOf(error: unknown): string {
  return error === undefined ? '–' : `error ${(error as ProcessorError).code}`
}

const head = [
  '| abort in | at step | retry | model calls | tools run | chunks of note | text | steps | stored of the response | usage | totalUsage | stopReason / finishReason | tripwire | callback |',
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

  it.each(cases)('leaves what it withdrew nowhere but in the tripwire: $place at $step, retry $retry', async one => {
    const { result } = await observe(one, 'generate')
    const { tripwire, messageList, trace, error, ...rest } = result
    expect(String(error)).not.toContain('SECRET')
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
