// The elements of a run's stream. Every chunk that a run can emit is in the one union below.
import type { FinishReason, LanguageModelUsage, ProviderMetadata } from 'ai'
import type { LanguageModelV4Source, SharedV4Warning } from '@ai-sdk/provider'
import type { AgentMessage } from '@lockstep/message-list'
import type { StopReason } from './step-result.ts'

/** The envelope around a payload: which run it belongs to and what it is. */
export type ChunkOf<TType extends string, TPayload> = TType extends string
  ? { readonly type: TType; readonly runId: string; readonly from: 'AGENT'; readonly payload: TPayload }
  : never

interface Block {
  /** Unique in the run: it names the step and the attempt as well as the provider's block. */
  readonly id: string
  readonly providerMetadata?: ProviderMetadata
}

/** A tool call as it is in the stream, before a guard or a person has decided about it. */
export interface ToolCallPayload {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly providerExecuted?: boolean
  readonly dynamic?: boolean
  readonly title?: string
  /** The call cannot be run: the tool is unknown or its input does not fit the schema; `error` says which. */
  readonly invalid?: boolean
  readonly error?: unknown
  readonly providerMetadata?: ProviderMetadata
}

interface ToolOutcome {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly providerExecuted?: boolean
  readonly dynamic?: boolean
}

/** Chunks that come out of a model call, in the order in which the provider sent them. */
export type ModelChunk =
  | ChunkOf<'response-metadata', { readonly id?: string; readonly timestamp?: Date; readonly modelId?: string }>
  | ChunkOf<'text-start' | 'text-end', Block>
  | ChunkOf<'text-delta', Block & { readonly text: string }>
  | ChunkOf<'reasoning-start' | 'reasoning-end', Block>
  | ChunkOf<'reasoning-delta', Block & { readonly text: string }>
  | ChunkOf<
      'tool-input-start',
      Block & {
        readonly toolName: string
        readonly providerExecuted?: boolean
        readonly dynamic?: boolean
        readonly title?: string
      }
    >
  | ChunkOf<'tool-input-delta', Block & { readonly delta: string }>
  | ChunkOf<'tool-input-end', Block>
  | ChunkOf<'tool-call', ToolCallPayload>
  | ChunkOf<'source', { readonly source: LanguageModelV4Source }>
  | ChunkOf<
      'file' | 'reasoning-file',
      { readonly mediaType: string; readonly url: string; readonly providerMetadata?: ProviderMetadata }
    >
  /** A part that this version does not know: it passes as it came. */
  | ChunkOf<'unknown-part', { readonly part: { readonly type: string } }>
  | ChunkOf<'raw', { readonly rawValue: unknown }>

/** Chunks that come out of the tool phase of a step, in order of completion. */
export type ToolChunk =
  | ChunkOf<
      'tool-result',
      ToolOutcome & {
        readonly output: unknown
        readonly preliminary?: boolean
        readonly providerMetadata?: ProviderMetadata
      }
    >
  | ChunkOf<'tool-error', ToolOutcome & { readonly error: unknown }>
  | ChunkOf<'tool-output-denied', ToolOutcome & { readonly reason?: string }>
  /** A person has to decide about the call; the run will be suspended. `reason` says why, for that person. */
  | ChunkOf<
      'tool-approval-request',
      ToolOutcome & { readonly approvalId: string; readonly reason?: string; readonly signature?: string }
    >
  /** What was decided; `input` is the call's as it will run, edited or not. */
  | ChunkOf<
      'tool-approval-response',
      ToolOutcome & { readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
    >

/** Why an attempt or a run was refused, and by whom. */
export interface TripwirePayload<TMetadata = unknown> {
  readonly reason: string
  readonly retry?: boolean
  readonly metadata?: TMetadata
  readonly processorId: string
}

/**
 * The frame around what is said. `step-finish` and `finish` pass the chain like content, to be seen or refused there;
 * dropping them has no effect, so that every start has its end. The others never pass the chain.
 */
export type FrameChunk =
  | ChunkOf<'start', { readonly messageId: string }>
  | ChunkOf<'step-start', { readonly stepNumber: number; readonly messageId: string }>
  /** What was shown of this step is withdrawn: readers drop everything since the last `step-start`. */
  | ChunkOf<'step-reset', { readonly stepNumber: number; readonly reason: string }>
  | ChunkOf<
      'step-finish',
      {
        readonly stepNumber: number
        readonly finishReason: FinishReason
        readonly usage: LanguageModelUsage
        readonly providerMetadata?: ProviderMetadata
        readonly warnings: readonly SharedV4Warning[]
      }
    >
  /** A message that the caller put into the run while it went: it enters the conversation before the next step. */
  | ChunkOf<'steering-message', { readonly message: AgentMessage; readonly stepNumber: number }>
  /** The structured output, checked: once, when the response was accepted. */
  | ChunkOf<'object', { readonly object: unknown }>
  | ChunkOf<'tripwire', TripwirePayload>
  | ChunkOf<'error', { readonly error: unknown }>
  | ChunkOf<'abort', { readonly reason: unknown }>
  | ChunkOf<
      'finish',
      { readonly finishReason: FinishReason; readonly stopReason: StopReason; readonly totalUsage: LanguageModelUsage }
    >

/** Data of the application, written by a tool or a processor through its `writer`. */
export interface DataChunk {
  readonly type: `data-${string}`
  readonly data: unknown
  /** A later chunk with the same type and id replaces this one in the response. */
  readonly id?: string
  /** Shown, but never part of the response. */
  readonly transient?: boolean
}

/** One element of a run's stream. */
export type Chunk = ModelChunk | ToolChunk | FrameChunk | DataChunk

/** The part of a `Chunk` union whose `type` is given. */
export type ChunkNamed<TType extends Chunk['type']> = Extract<Chunk, { readonly type: TType }>

/** Tells application data from everything else. */
export function isDataChunk(chunk: Chunk): chunk is DataChunk {
  return chunk.type.startsWith('data-')
}
