// Models as processors name them, and the detached model call for judges and summarisers.
import type { StructuredOutput } from './structured-output.ts'
import type { LanguageModel, LanguageModelCallOptions, LanguageModelUsage, ModelMessage, FinishReason } from 'ai'

/** An OpenAI-compatible server, as data. */
export interface OpenAICompatibleConfig {
  readonly id: string
  readonly url: string
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A model: an instance of the V2, V3 or V4 specification, an id like `openai/gpt-5`, or an OpenAI-compatible server. */
export type ModelChoice = LanguageModel | OpenAICompatibleConfig

/** A model call that is not part of the conversation. */
export interface ModelCallRequest<OBJECT = unknown> extends LanguageModelCallOptions {
  /** The run's own model when absent. */
  readonly model?: ModelChoice
  readonly instructions?: string
  readonly prompt: string | readonly ModelMessage[]
  /** The object that is wanted instead of text. There is no second try. */
  readonly structuredOutput?: StructuredOutput<OBJECT>
  /** Ends this call, as the end of the run does: for a time limit of its own. */
  readonly abortSignal?: AbortSignal
}

/** The answer of a detached model call. */
export interface ModelCallResult<OBJECT = unknown> {
  readonly text: string
  /** There when `structuredOutput` asked for it, and the answer fitted. */
  readonly object: OBJECT | undefined
  readonly finishReason: FinishReason
  readonly usage: LanguageModelUsage
}

/** Makes a detached model call; rejects with the provider's error. */
export type CallModel = <OBJECT = undefined>(request: ModelCallRequest<OBJECT>) => Promise<ModelCallResult<OBJECT>>
