// The response of an attempt, built from the chunks that left the chain.
import type { LanguageModelV4Source } from '@ai-sdk/provider'
import type { MessagePart, ToolChange } from '@lockstep/message-list'
import { isDataChunk, type Chunk, type ChunkNamed, type DataChunk } from '@lockstep/processors'
import { errorText } from '../error-text.ts'

type Draft = { -readonly [K in keyof MessagePart]: unknown } & { type: string; [key: string]: unknown }

/** Collects chunks into the parts of a message. */
export class ResponseParts {
  readonly #parts: Draft[]
  readonly #blocks = new Map<string, Draft>()
  readonly #calls = new Map<string, Draft>()

  /** Goes on from parts that are there. */
  constructor(parts: readonly MessagePart[] = []) {
    this.#parts = parts.map(part => ({ ...part }))
  }

  /** The parts so far, as they would be stored. */
  get parts(): readonly MessagePart[] {
    return this.#parts as unknown as readonly MessagePart[]
  }

  /** The sources that the model cited. */
  readonly sources: LanguageModelV4Source[] = []

  /** Results of calls that were made in an earlier step. */
  readonly deferred: ChunkNamed<'tool-result' | 'tool-error'>[] = []

  /** All text so far. */
  get text(): string {
    let text = ''
    for (const part of this.#parts) if (part.type === 'text') text += part['text'] as string
    return text
  }

  add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#block(chunk.type === 'text-start' ? 'text' : 'reasoning', chunk.payload)
        break
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#block(chunk.type === 'text-delta' ? 'text' : 'reasoning', chunk.payload)
        block['text'] = (block['text'] as string) + chunk.payload.text
        break
      }
      case 'text-end':
      case 'reasoning-end': {
        const block = this.#blocks.get(chunk.payload.id)
        if (!block) break
        block['text'] = inOnePiece(block['text'] as string)
        noteMetadata(block, chunk.payload.providerMetadata)
        break
      }
      case 'tool-call':
        this.#toolCall(chunk.payload)
        break
      case 'tool-result':
      case 'tool-error':
        this.#providerResult(chunk)
        break
      default:
        this.#other(chunk)
    }
  }

  #block(kind: 'text' | 'reasoning', payload: ChunkNamed<'text-start'>['payload']): Draft {
    let block = this.#blocks.get(payload.id)
    if (!block) {
      block = { type: kind, text: '', state: 'done' }
      this.#blocks.set(payload.id, block)
      this.#parts.push(block)
    }
    noteMetadata(block, payload.providerMetadata)
    return block
  }

  #toolCall(call: ChunkNamed<'tool-call'>['payload']): void {
    const { toolCallId, toolName, input, title, providerMetadata } = call
    const state = 'input-available'
    const part: Draft = call.dynamic
      ? { type: 'dynamic-tool', toolName, toolCallId, state, input }
      : { type: `tool-${toolName}`, toolCallId, state, input }
    if (title !== undefined) part['title'] = title
    if (call.providerExecuted) part['providerExecuted'] = true
    if (providerMetadata !== undefined) part['callProviderMetadata'] = providerMetadata
    this.#calls.set(toolCallId, part)
    this.#parts.push(part)
  }

  #providerResult(chunk: ChunkNamed<'tool-result' | 'tool-error'>): void {
    const part = this.#calls.get(chunk.payload.toolCallId)
    if (!part) return void this.deferred.push(chunk)
    const { providerMetadata, ...outcome } = outcomeOf(chunk)
    Object.assign(part, outcome, providerMetadata === undefined ? {} : { resultProviderMetadata: providerMetadata })
  }

  #other(chunk: Chunk): void {
    if (isDataChunk(chunk)) return this.#data(chunk)
    if (chunk.type === 'file' || chunk.type === 'reasoning-file')
      this.#parts.push({ type: chunk.type, ...chunk.payload })
    if (chunk.type !== 'source') return
    const { source } = chunk.payload
    this.sources.push(source)
    const { sourceType, id: sourceId, type: _, ...rest } = source
    this.#parts.push({ type: sourceType === 'url' ? 'source-url' : 'source-document', sourceId, ...rest })
  }

  #data({ type, data, id, transient }: DataChunk): void {
    if (transient) return
    const before = id === undefined ? undefined : this.#parts.find(part => part.type === type && part['id'] === id)
    if (before) before['data'] = data
    else this.#parts.push({ type, data, ...(id === undefined ? {} : { id }) })
  }
}

/** What a result of the provider makes of its call. */
export function outcomeOf(chunk: ChunkNamed<'tool-result' | 'tool-error'>): ToolOutcomeChange {
  if (chunk.type === 'tool-error') return { state: 'output-error', errorText: errorText(chunk.payload.error) }
  const { output, preliminary, providerMetadata } = chunk.payload
  return {
    state: 'output-available',
    output,
    ...(preliminary ? { preliminary } : {}),
    ...(providerMetadata === undefined ? {} : { providerMetadata: providerMetadata as never }),
  }
}

type ToolOutcomeChange = Extract<ToolChange, { state: 'output-available' | 'output-error' }>

function noteMetadata(part: Draft, providerMetadata: unknown): void {
  if (providerMetadata !== undefined) part['providerMetadata'] = providerMetadata
}

/** A text that was put together of pieces is kept as a tree of them, until somebody reads a character of it. */
function inOnePiece(text: string): string {
  return text.charCodeAt(0) >= 0 ? text : ''
}
