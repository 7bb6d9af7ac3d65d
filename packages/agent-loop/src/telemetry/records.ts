// What integrations are told, as the AI SDK shapes it: contexts, prompts, and the records of steps.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { isToolPart, toolNameOf, type MessagePart, type ToolPart } from '@lockstep/message-list'
import type { StepResult } from '@lockstep/processors'
import type { LanguageModelUsage, TelemetryOptions } from 'ai'
import { partsOf, type AcceptedStep } from '../step/accepted-step.ts'
import type { Run } from '../run/run.ts'

/** The options with the id of the run among what is told: it joins the traces of a run that was resumed. */
export function withRunId(telemetry: TelemetryOptions | undefined): TelemetryOptions {
  return { ...telemetry, includeRuntimeContext: { ...telemetry?.includeRuntimeContext, runId: true } }
}

/** What every event has: of the request and of tools only what the caller let through. */
export function contextsOf(run: Run, telemetry: TelemetryOptions) {
  const { includeRuntimeContext, includeToolsContext } = telemetry
  const given = (run.options.toolsContext ?? {}) as Readonly<Record<string, object>>
  const tools = includeToolsContext as Readonly<Record<string, Included>> | undefined
  return {
    runtimeContext: included({ ...run.requestContext.toJSON(), runId: run.runId }, includeRuntimeContext),
    toolsContext: Object.fromEntries(Object.keys(tools ?? {}).map(name => [name, included(given[name], tools![name])])),
  }
}

type Included = { readonly [key: string]: boolean | undefined } | undefined

function included(context: object | undefined, include: Included): Record<string, unknown> {
  return Object.fromEntries(Object.entries(context ?? {}).filter(([key]) => include?.[key] === true))
}

/** A prompt as events have it: instructions apart. */
export function promptEvent(prompt: LanguageModelV4Prompt) {
  const instructions = prompt.filter(({ role }) => role === 'system')
  return {
    instructions: instructions.length > 0 ? instructions : undefined,
    messages: prompt.filter(({ role }) => role !== 'system'),
  }
}

/** The conversation as it stands, for what begins before there is a prompt. */
export function conversationEvent({ list }: Run) {
  const instructions = list.getAllSystemMessages()
  return { instructions: instructions.length > 0 ? instructions : undefined, messages: [...list.get.all.model()] }
}

/** What a step said and did, in the AI SDK's parts. */
export function contentParts(parts: readonly MessagePart[]): readonly object[] {
  return parts.flatMap((part): readonly object[] => {
    if (isToolPart(part)) return toolParts(part)
    if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text }]
    if (part.type === 'file') return fileParts(part)
    return []
  })
}

function toolParts(part: ToolPart): readonly object[] {
  const { toolCallId, input, providerExecuted } = part
  const own = { toolCallId, toolName: toolNameOf(part), input, dynamic: part.type === 'dynamic-tool', providerExecuted }
  const call = { type: 'tool-call', ...own }
  if (part.state === 'output-available') return [call, { type: 'tool-result', ...own, output: part.output }]
  if (part.state === 'output-error') return [call, { type: 'tool-error', ...own, error: part.errorText }]
  return [call]
}

/** Files that the conversation holds; one that is elsewhere has no bytes to tell. */
function fileParts({ mediaType, url }: { readonly mediaType: string; readonly url: string }): readonly object[] {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1]
  return data === undefined ? [] : [{ type: 'file', file: { mediaType, base64: data } }]
}

/** How long a model call took. */
export interface CallTimes {
  readonly responseTimeMs: number
  readonly timeToFirstOutputMs: number | undefined
}

/** The times of a call and its speed, in the AI SDK's words. */
export function performanceOf(times: CallTimes, { inputTokens, outputTokens, totalTokens }: LanguageModelUsage) {
  const { responseTimeMs, timeToFirstOutputMs: first } = times
  const perSecond = (tokens: number | undefined, ms: number) => (ms > 0 ? ((tokens ?? 0) * 1000) / ms : 0)
  return {
    ...times,
    effectiveOutputTokensPerSecond: perSecond(outputTokens, responseTimeMs),
    effectiveTotalTokensPerSecond: perSecond(totalTokens, responseTimeMs),
    outputTokensPerSecond: first === undefined ? undefined : perSecond(outputTokens, responseTimeMs - first),
    inputTokensPerSecond: first === undefined ? undefined : perSecond(inputTokens, first),
  }
}

/** Adds what the AI SDK reads from the content of a step. */
export function stepEvent<T extends { readonly content: readonly object[] }>(step: T) {
  const parts = step.content as readonly { readonly type: string; readonly text?: string; readonly file?: unknown }[]
  const of = (type: string) => parts.filter(part => part.type === type)
  const textOf = (type: string) =>
    of(type)
      .map(part => part.text)
      .join('')
  const [toolCalls, toolResults, reasoning] = [of('tool-call'), of('tool-result'), of('reasoning')]
  return {
    rawFinishReason: undefined,
    warnings: [],
    sources: [],
    request: {},
    ...step,
    text: textOf('text'),
    reasoning,
    reasoningText: reasoning.length === 0 ? undefined : textOf('reasoning'),
    files: of('file').map(({ file }) => file),
    toolCalls,
    staticToolCalls: toolCalls.filter(part => !isDynamic(part)),
    dynamicToolCalls: toolCalls.filter(isDynamic),
    toolResults,
    staticToolResults: toolResults.filter(part => !isDynamic(part)),
    dynamicToolResults: toolResults.filter(isDynamic),
  }
}

/** A step as events have it, with what each adds. */
export type StepEvent = ReturnType<
  typeof stepEvent<{ readonly content: readonly object[]; readonly providerMetadata: object | undefined }>
> & { readonly [key: string]: unknown }

function isDynamic(part: object): boolean {
  return 'dynamic' in part && part.dynamic === true
}

/** What a provider said of its response; integrations rely on an id, a model and a time, so none of them is left out. */
export function responseEvent(
  { id, modelId, timestamp, headers }: Partial<StepResult['response']>,
  otherwise: { readonly id: string; readonly modelId: string },
) {
  return {
    id: id ?? otherwise.id,
    modelId: modelId ?? otherwise.modelId,
    timestamp: timestamp ?? new Date(),
    headers,
    messages: [],
  }
}

/** The id of a response that its provider gave none. */
export function attemptId({ runId }: Run, stepNumber: number, attemptNumber: number): string {
  return `${runId}.${stepNumber}.${attemptNumber}`
}

/** The record of an accepted step, as the processors left it. */
export function acceptedStepEvent(run: Run, step: AcceptedStep) {
  const { finishReason, rawFinishReason, usage, providerMetadata, warnings, sources, request, response, model } =
    step.result
  const { stepNumber, attemptCount } = step.result
  const content = contentParts(partsOf(run.list, step.place))
  const id = attemptId(run, stepNumber, attemptCount - 1)
  return stepEvent({
    stepNumber,
    model,
    content,
    finishReason,
    rawFinishReason,
    usage,
    providerMetadata,
    warnings,
    sources,
    request,
    response: responseEvent(response, { id, modelId: model.modelId }),
  })
}
