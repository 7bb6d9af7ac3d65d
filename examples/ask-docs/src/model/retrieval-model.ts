// A language model that needs no network: it decides by rules and answers by quoting. To its caller it is a provider like any other:
// it sees a prompt and tool definitions, streams text and tool calls, and can be aborted.
import { setTimeout as delay } from 'node:timers/promises'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { generateId } from 'ai'
import { decide } from './retrieval-rules.ts'

export type RetrievalModelOptions = {
  /** The pause before each streamed part, for who watches. */
  readonly chunkDelayMs?: number
  readonly generateId?: () => string
}

type Reply = {
  readonly content: LanguageModelV4Content[]
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
  readonly warnings: SharedV4Warning[]
}

const settingsWithoutEffect = ['maxOutputTokens', 'temperature', 'topP', 'topK', 'stopSequences', 'seed'] as const

/**
 * Makes the embedded model. It is not a large language model: see `retrieval-rules.ts` for everything that it can decide.
 * Its token counts are estimates: a token for every four characters of prompt, tools and output.
 */
export function retrievalModel({
  chunkDelayMs = 0,
  generateId: newId = generateId,
}: RetrievalModelOptions = {}): LanguageModelV4 {
  const modelId = 'retrieval'
  return {
    specificationVersion: 'v4',
    provider: 'lockstep-examples',
    modelId,
    supportedUrls: {},
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted()
      return { ...reply(options, newId), response: { id: newId(), modelId } }
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted()
      const answer = reply(options, newId)
      const parts = partsOf(answer, { type: 'response-metadata', id: newId(), modelId })
      return { stream: streamOf(parts, chunkDelayMs, options.abortSignal) }
    },
  }
}

function reply(options: LanguageModelV4CallOptions, newId: () => string): Reply {
  const decision = decide(options)
  const content: LanguageModelV4Content[] =
    decision.type === 'answer'
      ? [{ type: 'text', text: decision.text }]
      : decision.calls.map(({ toolName, input }) => ({
          type: 'tool-call',
          toolCallId: newId(),
          toolName,
          input: JSON.stringify(input),
        }))
  const finish = decision.type === 'answer' ? 'stop' : 'tool-calls'
  return {
    content,
    finishReason: { unified: finish, raw: finish },
    usage: estimate(JSON.stringify([options.prompt, options.tools ?? []]), JSON.stringify(content)),
    warnings: warningsFor(options),
  }
}

function warningsFor(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  const features: string[] = settingsWithoutEffect.filter(setting => options[setting] !== undefined)
  if (options.responseFormat?.type === 'json') features.push('responseFormat')
  return features.map(feature => ({ type: 'unsupported', feature, details: 'The retrieval model decides by rules.' }))
}

function estimate(input: string, output: string): LanguageModelV4Usage {
  const inputTokens = Math.ceil(input.length / 4)
  const outputTokens = Math.ceil(output.length / 4)
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: undefined },
    raw: { estimatedAs: 'characters / 4' },
  }
}

function* partsOf(
  { content, finishReason, usage, warnings }: Reply,
  metadata: LanguageModelV4StreamPart,
): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings }
  yield metadata
  for (const [index, part] of content.entries()) {
    if (part.type === 'text') {
      const id = `text-${index}`
      yield { type: 'text-start', id }
      for (const delta of part.text.match(/\s*\S{1,8}|\s+$/g) ?? []) yield { type: 'text-delta', id, delta }
      yield { type: 'text-end', id }
    } else if (part.type === 'tool-call') {
      const id = part.toolCallId
      yield { type: 'tool-input-start', id, toolName: part.toolName }
      for (const delta of part.input.match(/.{1,12}/gs) ?? []) yield { type: 'tool-input-delta', id, delta }
      yield { type: 'tool-input-end', id }
      yield part
    }
  }
  yield { type: 'finish', finishReason, usage }
}

function streamOf(
  parts: Iterator<LanguageModelV4StreamPart>,
  chunkDelayMs: number,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        if (chunkDelayMs > 0) await delay(chunkDelayMs, undefined, { signal }).catch(() => undefined)
        signal?.throwIfAborted()
        const next = parts.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      },
    },
    { highWaterMark: 0 },
  )
}
