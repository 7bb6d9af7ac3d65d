// A run as the AI SDK streams its own: flat parts, which cannot take anything back.
import { isDataChunk, type Chunk, type ChunkNamed, type DataChunk } from '@lockstep/processors'
import { DefaultGeneratedFile, type StepResultPerformance, type TextStreamPart, type ToolSet } from 'ai'
import { UIBlocks } from '../ui/ui-blocks.ts'

type Part = TextStreamPart<ToolSet>

/** Nobody has measured: rates of zero, in the form that the AI SDK wants. */
export const unmeasured: StepResultPerformance = {
  effectiveOutputTokensPerSecond: 0,
  outputTokensPerSecond: undefined,
  inputTokensPerSecond: undefined,
  effectiveTotalTokensPerSecond: 0,
  stepTimeMs: 0,
  responseTimeMs: 0,
  toolExecutionMs: {},
  timeToFirstOutputMs: undefined,
}

/** What lets go of the parts of a step that were held: the step was accepted. */
const accepting: ReadonlySet<Chunk['type']> = new Set([
  'tool-result',
  'tool-error',
  'tool-output-denied',
  'tool-approval-request',
  'step-finish',
])

/** Parts that frame what is said, and can be shown at once. */
const framing: ReadonlySet<Chunk['type']> = new Set(['start', 'step-start', 'error', 'abort', 'finish'])

/**
 * Turns the chunks of a run into parts of the AI SDK, those of a step when it was accepted if `holdSteps` says so. A tripwire
 * has no part: the stream ends, with the finish reason `other`. Application data has none either.
 */
export class AISDKParts {
  readonly #holdSteps: boolean
  #held: Part[] = []
  readonly #blocks = new UIBlocks()
  #inStep = false
  #response: { id: string; timestamp: Date; modelId: string } = { id: '', timestamp: new Date(0), modelId: '' }

  constructor(holdSteps: boolean) {
    this.#holdSteps = holdSteps
  }

  read(chunk: Chunk): readonly Part[] {
    if (isDataChunk(chunk)) return []
    if (chunk.type === 'step-reset' || (this.#holdSteps && framing.has(chunk.type))) this.#drop()
    const parts = this.#read(chunk)
    if (!this.#holdSteps || framing.has(chunk.type)) return parts
    this.#held.push(...parts)
    return accepting.has(chunk.type) ? this.#held.splice(0) : []
  }

  /** What was held of a step that was not accepted is nobody's to see. */
  #drop(): void {
    this.#held = []
    this.#blocks.forget()
  }

  #read(chunk: Exclude<Chunk, DataChunk>): readonly Part[] {
    switch (chunk.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#blocks.admit(chunk).map(flat)
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-call':
      case 'tool-result':
      case 'tool-error':
      case 'tool-output-denied':
        return [flat(chunk)]
      case 'tool-approval-request':
      case 'tool-approval-response':
        return [approval(chunk)]
      case 'source':
        return [{ ...chunk.payload.source, type: 'source' }]
      case 'file':
      case 'reasoning-file':
        return file(chunk)
      case 'unknown-part':
        return chunk.payload.part.type === 'custom' ? [chunk.payload.part as Part] : []
      case 'steering-message':
        return [steering(chunk.payload)]
      default:
        return this.#frame(chunk)
    }
  }

  #frame(chunk: Exclude<Chunk, DataChunk>): readonly Part[] {
    switch (chunk.type) {
      case 'start':
        return [{ type: 'start' }]
      case 'step-start': {
        const before = this.#closed()
        this.#inStep = true
        return [...before, { type: 'start-step', request: {}, warnings: [] }]
      }
      case 'response-metadata':
        this.#response = { ...this.#response, ...chunk.payload }
        return []
      case 'step-finish':
        return this.#stepFinish(chunk)
      case 'error':
        return [...this.#blocks.close().map(flat), { type: 'error', error: chunk.payload.error }]
      case 'abort': {
        const { reason } = chunk.payload
        return [...this.#blocks.close().map(flat), { type: 'abort', ...(typeof reason === 'string' ? { reason } : {}) }]
      }
      case 'finish': {
        const { finishReason, totalUsage } = chunk.payload
        return [...this.#closed(), { type: 'finish', finishReason, rawFinishReason: undefined, totalUsage }]
      }
      default:
        return []
    }
  }

  #stepFinish({ payload }: ChunkNamed<'step-finish'>): readonly Part[] {
    this.#inStep = false
    const { finishReason, usage, providerMetadata } = payload
    const { id, timestamp, modelId } = this.#response
    const response = { id, timestamp, modelId }
    const rest = { performance: unmeasured, rawFinishReason: undefined, providerMetadata }
    return [...this.#blocks.close().map(flat), { type: 'finish-step', response, usage, finishReason, ...rest }]
  }

  /** A step that did not finish: it was refused, cut off, or waits for a person. */
  #closed(): readonly Part[] {
    if (!this.#inStep) return []
    const usage = {
      inputTokens: undefined,
      inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
      outputTokens: undefined,
      outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
      totalTokens: undefined,
    }
    const payload = { stepNumber: 0, finishReason: 'other' as const, usage, warnings: [] }
    return this.#stepFinish({ type: 'step-finish', runId: '', from: 'AGENT', payload })
  }
}

function flat({ type, payload }: Exclude<Chunk, DataChunk>): Part {
  return { type, ...payload } as Part
}

function approval({ type, payload }: ChunkNamed<'tool-approval-request' | 'tool-approval-response'>): Part {
  const { toolCallId, toolName, input, providerExecuted, dynamic, ...rest } = payload
  const call = { type: 'tool-call', toolCallId, toolName, input, ...(dynamic ? { dynamic } : {}) }
  return { type, ...rest, toolCall: call, ...(providerExecuted ? { providerExecuted } : {}) } as unknown as Part
}

/** The AI SDK has files as data alone: one that is somewhere else has no part. */
function file({ type, payload }: ChunkNamed<'file' | 'reasoning-file'>): readonly Part[] {
  const { providerMetadata } = payload
  const generated = generatedFileOf(payload)
  const metadata = providerMetadata === undefined ? {} : { providerMetadata }
  return generated ? [{ type, file: generated, ...metadata }] : []
}

/** A file whose URL holds its data. */
export function generatedFileOf(file: { readonly url: string; readonly mediaType: string }) {
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(file.url) ?? []
  return data === undefined ? undefined : new DefaultGeneratedFile({ data, mediaType: file.mediaType })
}

function steering({ message, stepNumber }: ChunkNamed<'steering-message'>['payload']): Part {
  const texts = message.content.parts.flatMap(part =>
    part.type === 'text' ? [{ type: 'text' as const, text: part.text }] : [],
  )
  return { type: 'steering-message', id: message.id, stepNumber, message: { role: 'user', content: texts } }
}
