// How what integrations were told of ends: what was accepted with what it said, what was withdrawn without.
import { TripWire } from '@lockstep/processors'
import type { LanguageModelUsage } from 'ai'
import { partsOf, type AcceptedStep } from '../step/accepted-step.ts'
import { createNullLanguageModelUsage } from '../ai-internal.ts'
import type { Attempt } from '../step/attempt.ts'
import { finishReasonOf, type Ending } from '../run/loop-result.ts'
import { ProviderFailure } from '../model/model-answer.ts'
import { failureText, type Run } from '../run/run.ts'
import type { TimedCall } from './telemetry.ts'
import {
  acceptedStepEvent,
  attemptId,
  contentParts,
  performanceOf,
  responseEvent,
  stepEvent,
  type CallTimes,
  type StepEvent,
} from './records.ts'
import { sumUsage } from '../run/usage.ts'

/** What became of a model call. */
export interface CallOutcome {
  readonly call: TimedCall
  readonly failure: { readonly error: unknown } | undefined
  readonly times: CallTimes
}

/** The end of a model call: the answer as the processors left it, or why there is none. */
export function callEndEvent(run: Run, attempt: Attempt, { call, failure, times }: CallOutcome): object {
  const { info, summary, place } = attempt
  const usage = call.usage ?? createNullLanguageModelUsage()
  const { provider, modelId } = call.model
  const base = {
    provider,
    modelId: info.metadata.modelId ?? modelId,
    usage,
    responseId: info.metadata.id ?? attemptId(run, run.stepNumber, run.attemptNumber),
    performance: performanceOf(times, usage),
  }
  if (!failure)
    return {
      ...base,
      content: contentParts(partsOf(run.list, place!)),
      finishReason: summary!.finishReason,
      providerMetadata: summary!.providerMetadata,
    }
  const { error } = failure
  const isAborted = run.signal.aborted
  const outcome = isAborted ? 'aborted' : error instanceof ProviderFailure ? 'failed' : 'withdrawn'
  const reason = TripWire.isInstance(error)
    ? error.reason
    : failureText(error instanceof ProviderFailure ? error.cause : error)
  return {
    ...base,
    content: [],
    finishReason: isAborted ? 'other' : 'error',
    providerMetadata: { lockstep: { outcome, reason } },
  }
}

/** What became of a step. */
export interface StepOutcome {
  readonly accepted: AcceptedStep | undefined
  /** There when the run ends with it. */
  readonly ending: Ending | undefined
  readonly stepNumber: number
  readonly usage: LanguageModelUsage | undefined
  readonly times: CallTimes
  readonly own: { readonly stepTimeMs: number; readonly toolExecutionMs: Readonly<Record<string, number>> }
}

/** The end of a step. */
export function stepEndEvent(run: Run, outcome: StepOutcome): StepEvent {
  const { accepted, ending, stepNumber, times, own } = outcome
  const usage = outcome.usage ?? createNullLanguageModelUsage()
  const performance = { ...performanceOf(times, usage), ...own }
  if (accepted) return { ...acceptedStepEvent(run, accepted), performance }
  const { provider, modelId } = run.attempt?.info.model ?? run.settings.model
  const id = attemptId(run, stepNumber, run.attemptNumber)
  const response = responseEvent(run.attempt?.info.metadata ?? {}, { id, modelId })
  const base = { stepNumber, model: { provider, modelId }, usage, performance, response }
  if (ending?.stopReason === 'suspended') {
    const { place, summary } = run.attempt!
    const { finishReason, providerMetadata } = summary!
    return stepEvent({ ...base, content: contentParts(partsOf(run.list, place!)), finishReason, providerMetadata })
  }
  const isAborted = ending?.stopReason === 'aborted'
  const lockstep = { outcome: isAborted ? 'aborted' : 'withdrawn', ...reasonOf(ending) }
  const finishReason = isAborted ? 'other' : 'error'
  return stepEvent({ ...base, content: [], finishReason, providerMetadata: { lockstep } })
}

/** What a run leaves besides its accepted steps. */
export interface Remainder {
  readonly usages: readonly (LanguageModelUsage | undefined)[]
  /** The step whose calls wait for a person. */
  readonly open: StepEvent | undefined
}

/** The end of a run that did not fail, with what it used itself. */
export function endEvent(run: Run, ending: Ending, { usages, open }: Remainder) {
  const usage = sumUsage(usages)
  const accepted: readonly StepEvent[] = run.steps.map(step => acceptedStepEvent(run, step))
  const steps = open ? [...accepted, open] : accepted
  const content = steps.flatMap(step => step.content)
  const lockstep = { runId: run.runId, stopReason: ending.stopReason, ...reasonOf(ending) }
  const { provider, modelId } = run.settings.model
  const response = responseEvent({}, { id: run.runId, modelId })
  const none = { stepNumber: 0, model: { provider, modelId }, content: [], providerMetadata: undefined, response }
  const last = steps.at(-1) ?? stepEvent(none)
  const finishReason = finishReasonOf(run, ending)
  return {
    ...last,
    ...callsIn(content),
    content,
    finishReason,
    usage,
    totalUsage: usage,
    providerMetadata: { ...last.providerMetadata, lockstep },
    responseMessages: [],
    steps,
    finalStep: { ...last, providerMetadata: { ...last.providerMetadata, lockstep } },
  }
}

function callsIn(content: readonly object[]): object {
  const { toolCalls, staticToolCalls, dynamicToolCalls, toolResults, files } = stepEvent({ content })
  return { toolCalls, staticToolCalls, dynamicToolCalls, toolResults, files }
}

function reasonOf(ending: Ending | undefined): { readonly reason?: string } {
  return ending?.tripwire ? { reason: ending.tripwire.reason } : {}
}
