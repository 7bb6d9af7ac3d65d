// The record of a step, from what its attempt learned and what stands in the conversation.
import type { SharedV4Warning } from '@ai-sdk/provider'
import { frozenCopy, type StepResult } from '@lockstep/processors'
import type { Attempt } from './attempt.ts'
import type { StepContent } from './accepted-step.ts'
import type { Run } from '../run/run.ts'

/** What a provider told about a call and its transport, frozen as it comes: records of the step share it. */
export interface ResponseInfo {
  /** Which model was called. */
  model: StepResult['model'] | undefined
  warnings: readonly SharedV4Warning[]
  request: { readonly body?: unknown }
  metadata: { readonly id?: string; readonly modelId?: string; readonly timestamp?: Date }
  headers: Readonly<Record<string, string>> | undefined
}

/** When no provider has said anything. */
export const noResponse: StepResult['response'] = {
  id: undefined,
  modelId: undefined,
  timestamp: undefined,
  headers: undefined,
}

/** Makes the record of a step. */
export function stepResultOf(run: Run, attempt: Attempt, content: StepContent): StepResult {
  const { summary, info } = attempt
  const { text, reasoning, reasoningText, toolCalls, toolResults, toolErrors, files } = content
  return Object.freeze({
    stepNumber: run.stepNumber,
    attemptCount: run.attemptNumber + 1,
    model: info.model!,
    text,
    reasoning,
    reasoningText,
    toolCalls,
    toolResults,
    toolErrors,
    files,
    object: attempt.object,
    sources: frozenCopy(attempt.response.sources),
    finishReason: summary!.finishReason,
    rawFinishReason: summary!.rawFinishReason,
    usage: summary!.usage,
    warnings: info.warnings,
    request: info.request,
    response: Object.freeze({
      id: info.metadata.id,
      modelId: info.metadata.modelId,
      timestamp: info.metadata.timestamp,
      headers: info.headers,
    }),
    providerMetadata: frozenCopy(summary!.providerMetadata),
  })
}
