// A step that was accepted: where its response stands in the conversation, and what is read from there.
import { isToolPart, toolNameOf, type MessageList, type MessagePart, type ToolPart } from '@lockstep/message-list'
import type { ObjectRequest, ReasoningOutput, StepResult } from '@lockstep/processors'
import type { ProviderMetadata, TypedToolCall, TypedToolError, TypedToolResult, ToolSet } from 'ai'

/** The place of a step's parts: after its own `step-start` part, which stays the same object whatever happens around it. */
export interface StepPlace {
  readonly messageId: string
  readonly start: MessagePart
  /** Where that part was when the step was made; looked for elsewhere only when it has moved. */
  readonly index: number
}

/** An accepted step and its place. */
export interface AcceptedStep {
  readonly place: StepPlace
  /** The object that the step asked for. */
  readonly asked: ObjectRequest | undefined
  readonly result: StepResult
}

/** What of a `StepResult` is read from the conversation. */
export type StepContent = Pick<
  StepResult,
  'text' | 'reasoning' | 'reasoningText' | 'toolCalls' | 'toolResults' | 'toolErrors' | 'files'
>

/** The place of a step that has just been entered: the last `step-start` of its message. */
export function placeOfLast(list: MessageList, messageId: string): StepPlace {
  const { parts } = list.find(messageId)!.content
  const index = parts.findLastIndex(part => part.type === 'step-start')
  return { messageId, start: parts[index]!, index }
}

/** The parts of a step, as they are now; none when they were removed. */
export function partsOf(list: MessageList, { messageId, start, index }: StepPlace): readonly MessagePart[] {
  const parts = list.find(messageId)?.content.parts ?? []
  const at = parts[index] === start ? index : parts.indexOf(start)
  const own: MessagePart[] = []
  if (at < 0) return own
  // One by one: V8 takes a slice of a frozen array many times slower.
  for (let next = at + 1; next < parts.length && parts[next]!.type !== 'step-start'; next++) own.push(parts[next]!)
  return own
}

/** The text of a step, as it stands in the conversation. */
export function textOf(list: MessageList, step: AcceptedStep): string {
  let text = ''
  for (const part of partsOf(list, step.place)) if (part.type === 'text') text += part.text
  return text
}

/** The tool calls among parts, those that the provider ran itself included. */
export function toolPartsOf(parts: readonly MessagePart[]): readonly ToolPart[] {
  return parts.filter(isToolPart)
}

/** Reads what a step said, called and got. What hooks are given cannot be written to. */
export function contentOf(parts: readonly MessagePart[]): StepContent {
  let text = ''
  const reasoning: ReasoningOutput[] = []
  const files: StepContent['files'][number][] = []
  const toolCalls: unknown[] = []
  const toolResults: unknown[] = []
  const toolErrors: unknown[] = []
  for (const part of parts) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'reasoning') reasoning.push(reasoningOf(part))
    else if (part.type === 'file') files.push(Object.freeze({ mediaType: part.mediaType, url: part.url }))
    else if (isToolPart(part)) {
      toolCalls.push(Object.freeze(callOf(part, 'tool-call')))
      if (part.state === 'output-available')
        toolResults.push(Object.freeze({ ...callOf(part, 'tool-result'), output: part.output }))
      if (part.state === 'output-error')
        toolErrors.push(Object.freeze({ ...callOf(part, 'tool-error'), error: part.errorText }))
    }
  }
  return {
    text,
    reasoning: frozen(reasoning),
    reasoningText: reasoning.length === 0 ? undefined : reasoning.map(part => part.text).join(''),
    toolCalls: frozen(toolCalls) as readonly TypedToolCall<ToolSet>[],
    toolResults: frozen(toolResults) as readonly TypedToolResult<ToolSet>[],
    toolErrors: frozen(toolErrors) as readonly TypedToolError<ToolSet>[],
    files: frozen(files),
  }
}

const none: readonly never[] = Object.freeze([])

/** Most lists of a step are empty, and records are kept. */
function frozen<T>(items: T[]): readonly T[] {
  return items.length === 0 ? none : Object.freeze(items)
}

function reasoningOf({ text, providerMetadata }: Extract<MessagePart, { type: 'reasoning' }>): ReasoningOutput {
  const metadata = providerMetadata === undefined ? {} : { providerMetadata: providerMetadata as ProviderMetadata }
  return Object.freeze({ type: 'reasoning', text, ...metadata })
}

function callOf(part: ToolPart, type: 'tool-call' | 'tool-result' | 'tool-error'): object {
  const { toolCallId, input } = part
  const call: Record<string, unknown> = { type, toolCallId, toolName: toolNameOf(part), input }
  if (part.type === 'dynamic-tool') call['dynamic'] = true
  if (part.providerExecuted) call['providerExecuted'] = true
  return call
}
