// What a run came to, without ids, times and the way in which its texts were cut: two runs are alike when these are.
import { ProcessorError, type Chunk } from '@lockstep/processors'
import type { ProcessorRun } from './run-with.ts'
import { screenOf, wellFormed } from './screen.ts'

/** What a run came to, as plain values. */
export interface RunOutcome {
  readonly ended: string
  readonly tripwire: unknown
  readonly error: unknown
  readonly screen: readonly unknown[]
  readonly data: readonly unknown[]
  readonly steps: readonly unknown[]
  readonly conversation: readonly unknown[]
  readonly prompts: readonly unknown[]
}

/** The outcome of a run. */
export function outcomeOf({ result, chunks, prompts }: ProcessorRun): RunOutcome {
  const { tripwire } = result
  return plain({
    ended: result.stopReason,
    tripwire: tripwire && { reason: tripwire.reason, metadata: tripwire.metadata, by: tripwire.processorId },
    error: result.error === undefined ? undefined : errorText(result.error),
    screen: shown(chunks),
    data: dataOf(chunks),
    steps: result.steps.map(({ text, reasoningText, toolCalls, toolResults, toolErrors, finishReason }) => ({
      text,
      reasoningText,
      toolCalls: toolCalls.map(({ toolName, input }) => ({ toolName, input: input as unknown })),
      toolResults: toolResults.map(({ toolName, output }) => ({ toolName, output: output as unknown })),
      toolErrors: toolErrors.map(({ toolName, error }) => ({ toolName, error: String(error) })),
      finishReason,
    })),
    conversation: [
      ...result.messageList.getAllSystemMessages(),
      ...result.messageList.getMessages().map(({ role, content }) => ({ role, ...content })),
    ],
    prompts,
  }) as RunOutcome
}

/** What is on the screen, without the order in which blocks of the same step came, and without empty ones. */
function shown(chunks: readonly Chunk[]): readonly unknown[] {
  return screenOf(chunks).flatMap((block): readonly unknown[] => {
    const { id: _, ...rest } = block
    if (!('text' in rest)) return [rest]
    return rest.text === '' ? [] : [{ ...rest, text: wellFormed(rest.text) }]
  })
}

/** The data of the application; what was withdrawn with its step is gone. */
function dataOf(chunks: readonly Chunk[]): readonly unknown[] {
  let data: { readonly stepNumber: number; readonly type: string; readonly data: unknown }[] = []
  let stepNumber = 0
  for (const chunk of chunks) {
    if (chunk.type === 'step-start') ({ stepNumber } = chunk.payload)
    if (chunk.type === 'step-reset') data = data.filter(one => one.stepNumber < chunk.payload.stepNumber)
    if ('data' in chunk) data.push({ stepNumber, type: chunk.type, data: chunk.data })
  }
  return data
}

/** An error in words: who threw it, where, and what. */
export function errorText(error: unknown): string {
  if (ProcessorError.isInstance(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** The first thing in which two outcomes differ, in words; undefined when they are alike. */
export function differenceOf(one: unknown, other: unknown, path = ''): string | undefined {
  if (Object.is(one, other)) return undefined
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return `${path || 'it'} is ${inShort(other)} and not ${inShort(one)}`
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  for (const key of keys) {
    const difference = differenceOf(
      (one as Record<string, unknown>)[key],
      (other as Record<string, unknown>)[key],
      Array.isArray(one) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    )
    if (difference !== undefined) return difference
  }
  return undefined
}

/** A value in a message to people. */
export function inShort(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(plain(value))
  return text.length > 160 ? `${text.slice(0, 157)}…` : text
}

/** The ids that a run under test makes: how many there were before is nobody's business. */
const madeId = /^id-\d+$/

/** A copy of plain values: errors as text, what is undefined left out. Ids that the run made are left out. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return errorText(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return String(value)
  if (typeof value === 'string' && madeId.test(value)) return 'an id'
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date || value instanceof URL) return String(value)
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, plain(item)]])),
  )
}
