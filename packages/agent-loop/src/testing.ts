// For tests: models that follow a script. Every call takes the next turn and is recorded.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { MockLanguageModelV4 } from 'ai/test'

/** A tool call of a scripted turn. */
export interface ScriptedToolCall {
  readonly toolName: string
  readonly input: unknown
  /** `call-1`, `call-2`, … over the script when absent. */
  readonly toolCallId?: string
}

/** What the model does in one call: a text, its chunks, tool calls, the raw parts, or an error to throw. */
export type ScriptedTurn =
  | string
  | {
      readonly text?: string | readonly string[]
      readonly reasoning?: string
      readonly toolCalls?: readonly ScriptedToolCall[]
      readonly finishReason?: LanguageModelV4FinishReason['unified']
      /** Tokens of the call; 10 in, 5 out when absent. */
      readonly usage?: { readonly input: number; readonly output: number }
    }
  | { readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly error: unknown }
  | ((options: LanguageModelV4CallOptions) => ScriptedTurn)

/**
 * A model that plays the turns in order, one a call.
 *
 * *Throws*: when it is called more often than the script has turns, so that a test notices.
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  names: { readonly modelId?: string } = {},
): MockLanguageModelV4 {
  let callCount = 0
  let toolCallCount = 0
  const nextId = () => `call-${++toolCallCount}`
  const model: MockLanguageModelV4 = new MockLanguageModelV4({
    provider: 'scripted',
    modelId: names.modelId ?? 'scripted',
    doStream: options => {
      const turn = turns[callCount++]
      if (turn === undefined)
        throw new Error(
          `The script has ${turns.length} turns; this is call ${callCount}. Add a turn, or find out why the model is called.`,
        )
      const parts = partsOfTurn(turn, options, nextId)
      return Promise.resolve({ stream: streamOf(parts) })
    },
  })
  return model
}

/** A stream of parts, one a pull. */
export function streamOf(parts: readonly LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  let index = 0
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull(controller) {
        if (index < parts.length) controller.enqueue(parts[index++]!)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

function partsOfTurn(
  turn: ScriptedTurn,
  options: LanguageModelV4CallOptions,
  nextId: () => string,
): readonly LanguageModelV4StreamPart[] {
  if (typeof turn === 'function') return partsOfTurn(turn(options), options, nextId)
  if (typeof turn === 'string') return partsOfTurn({ text: turn }, options, nextId)
  if ('error' in turn) throw turn.error
  if ('parts' in turn) return turn.parts
  const { text, reasoning, toolCalls = [], usage = { input: 10, output: 5 } } = turn
  const finishReason = turn.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop')
  return [
    { type: 'stream-start', warnings: [] },
    ...(reasoning === undefined ? [] : blockOf('reasoning', 'r1', [reasoning])),
    ...(text === undefined ? [] : blockOf('text', 't1', typeof text === 'string' ? [text] : text)),
    ...toolCalls.map(({ toolName, input, toolCallId = nextId() }) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    finishPart(finishReason, usage),
  ]
}

function blockOf(
  kind: 'text' | 'reasoning',
  id: string,
  deltas: readonly string[],
): readonly LanguageModelV4StreamPart[] {
  return [
    { type: `${kind}-start`, id },
    ...deltas.map(delta => ({ type: `${kind}-delta` as const, id, delta })),
    { type: `${kind}-end`, id },
  ]
}

/** The `finish` part of a provider's stream. */
export function finishPart(
  unified: LanguageModelV4FinishReason['unified'],
  usage: { readonly input: number; readonly output: number } = { input: 10, output: 5 },
): LanguageModelV4StreamPart {
  return {
    type: 'finish',
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: usage.input, noCache: usage.input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage.output, text: usage.output, reasoning: undefined },
    },
  }
}
