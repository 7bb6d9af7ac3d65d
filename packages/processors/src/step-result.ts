// What a step and a run leave behind, and why a run ended.
import type {
  FinishReason,
  LanguageModelUsage,
  ProviderMetadata,
  ToolSet,
  TypedToolCall,
  TypedToolError,
  TypedToolResult,
} from 'ai'
import type { LanguageModelV4Source, SharedV4Warning } from '@ai-sdk/provider'

/** Why a run ended. `finishReason` says why the model stopped; this says why the loop did. */
export type StopReason = 'completed' | 'max-steps' | 'stop-condition' | 'tripwire' | 'suspended' | 'aborted' | 'error'

/** A file that the model generated: `url` is a data URL or the address that the provider gave. */
export interface GeneratedFilePart {
  readonly mediaType: string
  readonly url: string
}

/** A part of the reasoning. */
export interface ReasoningOutput {
  readonly type: 'reasoning'
  readonly text: string
  readonly providerMetadata?: ProviderMetadata
}

/** One accepted model call and its tool calls. Frozen. */
export type StepResult<TOOLS extends ToolSet = ToolSet> = StepRecord<
  TypedToolCall<TOOLS>,
  TypedToolResult<TOOLS>,
  TypedToolError<TOOLS>
>

/** A `StepResult` by what its calls are, so that a step of known tools is a step of any tools. */
export interface StepRecord<CALL, RESULT, ERROR> {
  /** Counted from 0. */
  readonly stepNumber: number
  /** The attempts that it took; 1 when the first was accepted. */
  readonly attemptCount: number
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly text: string
  /** The reasoning in its parts, with what the provider says about each. */
  readonly reasoning: readonly ReasoningOutput[]
  readonly reasoningText: string | undefined
  /** The structured output that this step asked for, when its answer was one. */
  readonly object: unknown
  readonly toolCalls: readonly CALL[]
  readonly toolResults: readonly RESULT[]
  readonly toolErrors: readonly ERROR[]
  readonly sources: readonly LanguageModelV4Source[]
  readonly files: readonly GeneratedFilePart[]
  readonly finishReason: FinishReason
  readonly rawFinishReason: string | undefined
  /** Of this accepted model call alone. */
  readonly usage: LanguageModelUsage
  readonly warnings: readonly SharedV4Warning[]
  readonly request: { readonly body?: unknown }
  readonly response: {
    readonly id: string | undefined
    readonly modelId: string | undefined
    readonly timestamp: Date | undefined
    readonly headers: Readonly<Record<string, string>> | undefined
  }
  readonly providerMetadata: ProviderMetadata | undefined
}

/** The finished run as `processOutputResult` sees it. */
export interface OutputResult<TOOLS extends ToolSet = ToolSet> {
  /** The text of all accepted steps, joined. */
  readonly text: string
  readonly usage: LanguageModelUsage
  readonly finishReason: FinishReason
  readonly steps: readonly StepResult<TOOLS>[]
  /** The structured output of the last step, when the run asked for one and the answer fits. */
  readonly object: unknown
}
