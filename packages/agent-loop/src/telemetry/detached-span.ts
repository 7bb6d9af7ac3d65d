// A model call of a processor's own, told as the operation that it is, inside what the processor was called for.
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ModelCallResult } from '@lockstep/processors'
import { generateId, type LanguageModelUsage } from 'ai'
import { createNullLanguageModelUsage, createTelemetryDispatcher } from '../ai-internal.ts'
import type { SpanParent } from './processor-span.ts'
import { inContext, inside } from './context.ts'
import { performanceOf, promptEvent, responseEvent, stepEvent } from './records.ts'

/** Who calls which model. */
export interface DetachedSpan {
  readonly processorId: string
  readonly model: LanguageModelV4
  readonly prompt: LanguageModelV4Prompt
}

/** Runs the call inside its spans. Throws what the call throws. */
export async function tellDetachedCall(
  parent: SpanParent,
  { processorId, model, prompt }: DetachedSpan,
  call: () => Promise<ModelCallResult>,
): Promise<ModelCallResult> {
  const { callId: parentCallId, runId, integrations } = parent
  const { provider, modelId } = model
  const telemetry = { ...parent.telemetry, functionId: processorId }
  const dispatcher = createTelemetryDispatcher({ telemetry: { ...telemetry, integrations: [...integrations] } })
  const callId = generateId()
  const runtimeContext = { runId, parentCallId, processorId }
  const base = { callId, provider, modelId, ...promptEvent(prompt), toolsContext: {}, runtimeContext }
  for (const integration of integrations) {
    const { onStart } = createTelemetryDispatcher({ telemetry: { ...telemetry, integrations: integration } })
    await inside(integration, { parentCallId, toolCallId: undefined, callId }, async () =>
      onStart?.({ ...base, operationId: 'ai.streamText', maxRetries: 2 } as never),
    )
  }
  const step = { ...base, stepNumber: 0, steps: [], promptMessages: prompt }
  await dispatcher.onStepStart?.(step as never)
  await dispatcher.onLanguageModelCallStart?.(base as never)
  const startedAt = performance.now()
  const ended = async (finishReason: string, text: string, usage: LanguageModelUsage) => {
    const times = { responseTimeMs: performance.now() - startedAt, timeToFirstOutputMs: undefined }
    const result = stepEvent({
      callId,
      stepNumber: 0,
      runtimeContext,
      toolsContext: {},
      model: { provider, modelId },
      content: text === '' ? [] : [{ type: 'text', text }],
      finishReason,
      usage,
      response: responseEvent({}, { id: callId, modelId }),
      providerMetadata: undefined,
      performance: { ...performanceOf(times, usage), stepTimeMs: times.responseTimeMs, toolExecutionMs: {} },
    })
    await dispatcher.onLanguageModelCallEnd?.({ ...result, provider, modelId, responseId: callId } as never)
    return result
  }
  const enter = (execute: () => Promise<void>) => dispatcher.executeLanguageModelCall?.({ ...base, execute } as never)
  try {
    const answer = await inContext(enter, call)
    const result = await ended(answer.finishReason, answer.text, answer.usage)
    await dispatcher.onStepEnd?.(result as never)
    await dispatcher.onEnd?.({ ...result, totalUsage: result.usage, steps: [result], finalStep: result } as never)
    return answer
  } catch (error) {
    await ended('error', '', createNullLanguageModelUsage())
    await dispatcher.onStepError?.({ ...step, error } as never)
    await dispatcher.onError?.({ callId, error })
    throw error
  }
}
