// From the parts a provider sends to the chunks of a run: ids made unique, blocks opened and closed, tool calls parsed.
import type {
  LanguageModelV4File,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { frozenCopy, type Chunk, type MaybePromise, type ModelChunk } from '@lockstep/processors'
import type { FinishReason, LanguageModelUsage, ProviderMetadata } from 'ai'
import { asLanguageModelUsage } from '../ai-internal.ts'
import type { ParsedToolCall } from '../tools/tool-input.ts'

/** What a provider says about a call besides its content. */
export interface CallSummary {
  readonly finishReason: FinishReason
  readonly rawFinishReason: string | undefined
  readonly usage: LanguageModelUsage
  readonly providerMetadata: ProviderMetadata | undefined
}

/** What the reader needs to know of its attempt. */
export interface PartReaderOptions {
  readonly runId: string
  /** Makes block ids unique in the run. */
  readonly idPrefix: string
  readonly parseToolCall: (call: LanguageModelV4ToolCall) => Promise<ParsedToolCall>
}

type BlockKind = 'text' | 'reasoning'

/**
 * Reads one model call. What it gives is well-formed whatever came: each block is opened before its first delta and
 * closed once, tool calls are parsed, parts of an unknown type pass as they are.
 */
export class PartReader {
  readonly #options: PartReaderOptions
  /** The run's ids of the open blocks, by kind and by the provider's id. */
  readonly #open = { reasoning: new Map<string, string>(), text: new Map<string, string>() }
  readonly #toolCallIds = new Set<string>()
  #openedCount = 0
  #warnings: readonly SharedV4Warning[] = []
  #summary: CallSummary | undefined
  #error: { readonly error: unknown } | undefined

  constructor(options: PartReaderOptions) {
    this.#options = options
  }

  get warnings(): readonly SharedV4Warning[] {
    return this.#warnings
  }

  /** There once the provider has said that it is finished. */
  get summary(): CallSummary | undefined {
    return this.#summary
  }

  /** There when the provider sent an error in its stream. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#error
  }

  /** The chunks that a part stands for. */
  read(part: LanguageModelV4StreamPart): MaybePromise<Chunk | readonly Chunk[] | undefined> {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' && part.providerMetadata === undefined ? undefined : this.#delta('text', part)
      case 'reasoning-delta':
        return part.delta === '' && part.providerMetadata === undefined ? undefined : this.#delta('reasoning', part)
      case 'text-start':
        return this.#start('text', part)
      case 'reasoning-start':
        return this.#start('reasoning', part)
      case 'text-end':
        return this.#end('text', part)
      case 'reasoning-end':
        return this.#end('reasoning', part)
      case 'tool-call':
        return this.#toolCall(part)
      case 'finish':
        this.#finish(part)
        return undefined
      case 'error':
        this.#error ??= { error: part.error }
        return undefined
      default:
        return this.#other(part)
    }
  }

  /** Closes what the provider left open. */
  close(): readonly Chunk[] {
    const ends = (kind: BlockKind) => [...this.#open[kind].values()].map(id => this.#chunk(`${kind}-end`, { id }))
    const chunks = [...ends('reasoning'), ...ends('text')]
    this.#open.reasoning.clear()
    this.#open.text.clear()
    return chunks
  }

  #delta(
    kind: BlockKind,
    part: { readonly id: string; readonly delta: string; readonly providerMetadata?: ProviderMetadata },
  ): Chunk | readonly Chunk[] {
    const id = this.#open[kind].get(part.id)
    if (id === undefined) return [this.#start(kind, part), this.#delta(kind, part)].flat()
    return this.#chunk(`${kind}-delta`, withMetadata({ id, text: part.delta }, part.providerMetadata))
  }

  #start(
    kind: BlockKind,
    part: { readonly id: string; readonly providerMetadata?: ProviderMetadata },
  ): Chunk | readonly Chunk[] {
    const before = this.#open[kind].get(part.id)
    const id = `${this.#options.idPrefix}${this.#openedCount++}`
    this.#open[kind].set(part.id, id)
    const start = this.#chunk(`${kind}-start`, withMetadata({ id }, part.providerMetadata))
    return before === undefined ? start : [this.#chunk(`${kind}-end`, { id: before }), start]
  }

  #end(
    kind: BlockKind,
    part: { readonly id: string; readonly providerMetadata?: ProviderMetadata },
  ): Chunk | undefined {
    const id = this.#open[kind].get(part.id)
    if (id === undefined) return undefined
    this.#open[kind].delete(part.id)
    return this.#chunk(`${kind}-end`, withMetadata({ id }, part.providerMetadata))
  }

  /** A call that comes twice is made once: an id names one call. */
  #toolCall(part: LanguageModelV4ToolCall): Promise<Chunk> | undefined {
    const { toolCallId, toolName } = part
    if (!this.#toolCallIds.has(toolCallId)) {
      this.#toolCallIds.add(toolCallId)
      return this.#parsedCall(part)
    }
    const message = `The tool call '${toolCallId}' (${toolName}) came twice in one answer. The first one counts.`
    this.#warnings = [...this.#warnings, { type: 'other', message }]
    return undefined
  }

  async #parsedCall(part: LanguageModelV4ToolCall): Promise<Chunk> {
    const { toolCall } = await this.#options.parseToolCall(part)
    return this.#chunk('tool-call', toolCall)
  }

  #finish(part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): void {
    this.#summary ??= {
      finishReason: part.finishReason.unified,
      rawFinishReason: part.finishReason.raw,
      usage: frozenCopy(asLanguageModelUsage(part.usage)),
      providerMetadata: part.providerMetadata,
    }
  }

  #other(part: LanguageModelV4StreamPart): Chunk | undefined {
    switch (part.type) {
      case 'stream-start':
        if (part.warnings.length > 0) this.#warnings = [...part.warnings, ...this.#warnings]
        return undefined
      case 'response-metadata':
        return this.#chunk('response-metadata', definedOf(part, ['id', 'timestamp', 'modelId']))
      case 'tool-input-start':
        return this.#chunk('tool-input-start', withoutType(part))
      case 'tool-input-delta':
        return this.#chunk('tool-input-delta', withoutType(part))
      case 'tool-input-end':
        return this.#chunk('tool-input-end', withoutType(part))
      case 'tool-result':
        return this.#providerResult(part)
      case 'source':
        return this.#chunk('source', { source: part })
      case 'file':
      case 'reasoning-file':
        return this.#chunk(
          part.type,
          withMetadata({ mediaType: part.mediaType, url: urlOf(part) }, part.providerMetadata),
        )
      case 'raw':
        return this.#chunk('raw', { rawValue: part.rawValue })
      case 'ping':
        return undefined
      default:
        return this.#chunk('unknown-part', { part })
    }
  }

  #providerResult(part: Extract<LanguageModelV4StreamPart, { type: 'tool-result' }>): Chunk {
    const { toolCallId, toolName, result, isError, preliminary, dynamic } = part
    const call = { toolCallId, toolName, input: undefined, providerExecuted: true, ...(dynamic ? { dynamic } : {}) }
    if (isError) return this.#chunk('tool-error', { ...call, error: result })
    return this.#chunk(
      'tool-result',
      withMetadata({ ...call, output: result, ...(preliminary ? { preliminary } : {}) }, part.providerMetadata),
    )
  }

  #chunk<T extends (ModelChunk | Extract<Chunk, { type: 'tool-result' | 'tool-error' }>)['type']>(
    type: T,
    payload: object,
  ): Chunk {
    return { type, runId: this.#options.runId, from: 'AGENT', payload } as unknown as Chunk
  }
}

function withMetadata<T extends object>(payload: T, providerMetadata: ProviderMetadata | undefined): T {
  return providerMetadata === undefined ? payload : { ...payload, providerMetadata }
}

function withoutType<T extends { readonly type: string }>(part: T): Omit<T, 'type'> {
  const { type: _, ...rest } = part
  return rest
}

function definedOf<T extends object>(value: T, keys: readonly (keyof T)[]): Partial<T> {
  return Object.fromEntries(keys.filter(key => value[key] !== undefined).map(key => [key, value[key]])) as Partial<T>
}

function urlOf(file: Pick<LanguageModelV4File, 'data' | 'mediaType'>): string {
  if (file.data.type === 'url') return String(file.data.url)
  const { data } = file.data
  return `data:${file.mediaType};base64,${typeof data === 'string' ? data : Buffer.from(data).toString('base64')}`
}
