// A language model that needs no network: rules that read by the schema they are given and write by the agenda. To its caller
// it is a provider like any other: it sees a prompt and a response format, streams JSON text, and can be aborted.
import { setTimeout as delay } from 'node:timers/promises'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { readAgenda } from './agenda.ts'
import { readValues, type FieldSchemas } from './read-values.ts'
import { writeReply } from './write-reply.ts'

export interface RuleModelOptions {
  /** What relative dates are counted from. */
  readonly today: Date
  /** The pause before each streamed part, for who watches. */
  readonly chunkDelayMs?: number
}

/** Makes the embedded model. It is not a large language model: what it can read is in `read-values.ts`, all of it. */
export function ruleModel({ today, chunkDelayMs = 0 }: RuleModelOptions): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'lockstep-examples',
    modelId: 'rules',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('The embedded model streams only. Call doStream.')),
    doStream: options =>
      Promise.resolve({ stream: streamOf(reply(options, today), chunkDelayMs, options.abortSignal) }),
  }
}

/** The answer to a call, and an estimate of its tokens: one for every four characters. */
function reply({ prompt, responseFormat }: LanguageModelV4CallOptions, today: Date) {
  const schema = responseFormat?.type === 'json' ? (responseFormat.schema as ReplySchema | undefined) : undefined
  const { agenda, instructions, words } = partsOf(prompt)
  const schemas = schema?.properties?.values?.properties ?? {}
  const values = readValues(words, schemas, { today, asked: agenda.lines.flatMap(line => line.fields) })
  const { asks, message } = writeReply(agenda, values)
  const nothing = Object.fromEntries(Object.keys(schemas).map(name => [name, null]))
  const text = JSON.stringify(
    Object.keys(schemas).length === 0 ? { message } : { values: { ...nothing, ...values }, asks, message },
  )
  return {
    text,
    inputTokens: Math.ceil((instructions.length + words.length) / 4),
    outputTokens: Math.ceil(text.length / 4),
  }
}

interface ReplySchema {
  readonly properties?: { readonly values?: { readonly properties?: FieldSchemas } }
}

function partsOf(prompt: LanguageModelV4Prompt) {
  const instructions = prompt.flatMap(message => (message.role === 'system' ? [message.content] : [])).join('\n')
  const last = prompt.findLast(message => message.role === 'user')
  const words = last?.content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n') ?? ''
  return { agenda: readAgenda(instructions), instructions, words }
}

function streamOf(
  { text, inputTokens, outputTokens }: ReturnType<typeof reply>,
  chunkDelayMs: number,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 'reply' },
    ...(text.match(/[^]{1,6}/g) ?? []).map(delta => ({ type: 'text-delta', id: 'reply', delta }) as const),
    { type: 'text-end', id: 'reply' },
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
      },
    },
  ]
  return new ReadableStream({
    async pull(controller) {
      if (chunkDelayMs > 0) await delay(chunkDelayMs, undefined, { ...(signal && { signal }) })
      const part = parts.shift()
      if (part === undefined) controller.close()
      else controller.enqueue(part)
    },
  })
}
