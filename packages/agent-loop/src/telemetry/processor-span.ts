// A span for a hook that did something. Integrations know no such thing, so it is told as a small operation of its own,
// inside the context of what it belongs to (decision record 0011).
import type { HookEffect } from '@lockstep/processors'
import { generateId, type Telemetry, type TelemetryOptions } from 'ai'
import { createNullLanguageModelUsage, createTelemetryDispatcher } from '../ai-internal.ts'
import { inside, nestsByTools } from './context.ts'
import { responseEvent, stepEvent } from './records.ts'
import { endTime, startTime } from './time.ts'
import { effectText } from '../run/trace.ts'

/** The operation that a span of a processor belongs to. */
export interface SpanParent {
  readonly callId: string
  readonly runId: string
  /** The tool that it is inside of. */
  readonly toolCallId: string | undefined
  readonly integrations: readonly Telemetry[]
  readonly telemetry: TelemetryOptions
}

/** Tells every integration what one hook call did, after it did it. */
export async function tellProcessorSpan(parent: SpanParent, effects: readonly HookEffect[]): Promise<void> {
  for (const integration of parent.integrations) await tell(integration, parent, effects)
}

async function tell(integration: Telemetry, parent: SpanParent, effects: readonly HookEffect[]): Promise<void> {
  const { callId: parentCallId, runId, toolCallId, telemetry } = parent
  const [{ event, endedAt }] = effects as readonly [HookEffect]
  const label = `${event.processorId}.${event.hook}`
  const callId = generateId()
  const hasStep = nestsByTools(integration)
  const dispatcher = createTelemetryDispatcher({
    telemetry: { ...telemetry, integrations: integration, ...(hasStep ? { functionId: label } : {}) },
  })
  const effect = [...new Set(effects.map(one => one.event.effect.type))].join(', ')
  const { processorId, hook } = event
  const base = {
    callId,
    provider: 'lockstep',
    modelId: label,
    messages: [],
    toolsContext: {},
    runtimeContext: { runId, parentCallId, processorId, hook, effect },
    steps: [],
    timestamp: startTime(Math.min(...effects.map(({ startedAt }) => startedAt))),
  }
  await inside(integration, { parentCallId, toolCallId, callId }, async () => {
    await dispatcher.onStart?.({ ...base, operationId: 'processor', maxRetries: 0 } as never)
    if (hasStep) await dispatcher.onStepStart?.({ ...base, stepNumber: 0 } as never)
  })
  const timestamp = endTime(Math.max(endedAt, ...effects.map(one => one.endedAt)))
  const words = effects.map(one => effectText(one.event.effect)).join('; ')
  if (effects.some(one => one.event.effect.type === 'tripwire' || one.event.effect.type === 'skipped')) {
    await dispatcher.onError?.({ callId, error: new Error(words), timestamp })
    return
  }
  const result = stepEvent({
    ...base,
    stepNumber: 0,
    model: { provider: base.provider, modelId: label },
    content: [{ type: 'text', text: words }],
    finishReason: effect,
    usage: createNullLanguageModelUsage(),
    response: responseEvent({}, { id: callId, modelId: label }),
    performance: {},
    providerMetadata: undefined,
    timestamp,
  })
  if (hasStep) await dispatcher.onStepEnd?.(result as never)
  await dispatcher.onEnd?.({ ...result, steps: [result], finalStep: result, totalUsage: result.usage } as never)
}
