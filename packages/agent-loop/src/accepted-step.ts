// A step that was accepted: where its response stands in the conversation, and what is read from there.
import {
  isToolPart,
  toolNameOf,
  type AgentMessage,
  type MessageList,
  type MessagePart,
  type ToolPart,
} from '@lockstep/message-list'
import type { StepResult } from '@lockstep/processors'
import type { TypedToolCall, TypedToolError, TypedToolResult, ToolSet } from 'ai'

/** The place of a step's parts: a message, and how many `step-start` parts come before in it. */
export interface StepPlace {
  readonly messageId: string
  readonly segment: number
}

/** An accepted step and its place. */
export interface AcceptedStep {
  readonly place: StepPlace
  result: StepResult
}

/** What of a `StepResult` is read from the conversation. */
export type StepContent = Pick<
  StepResult,
  'text' | 'reasoningText' | 'toolCalls' | 'toolResults' | 'toolErrors' | 'files'
>

/** The parts of a step, as they are now; none when they were removed. */
export function partsOf(list: MessageList, place: StepPlace): readonly MessagePart[] {
  const message = list.find(place.messageId)
  return message ? segmentOf(message, place.segment) : []
}

/** How many steps a message already holds. */
export function segmentCount(message: AgentMessage | undefined): number {
  return message ? message.content.parts.filter(part => part.type === 'step-start').length : 0
}

function segmentOf(message: AgentMessage, segment: number): readonly MessagePart[] {
  const { parts } = message.content
  let seen = -1
  let start = parts.length
  for (let index = 0; index < parts.length; index++) {
    if (parts[index]!.type !== 'step-start') continue
    seen++
    if (seen === segment) start = index + 1
    if (seen > segment) return parts.slice(start, index)
  }
  return parts.slice(start)
}

/** The text of a step, as it stands in the conversation. */
export function textOf(list: MessageList, step: AcceptedStep): string {
  return contentOf(partsOf(list, step.place)).text
}

/** The tool calls among parts, those that the provider ran itself included. */
export function toolPartsOf(parts: readonly MessagePart[]): readonly ToolPart[] {
  return parts.filter(isToolPart)
}

/** Reads what a step said, called and got. */
export function contentOf(parts: readonly MessagePart[]): StepContent {
  const tools = toolPartsOf(parts)
  const textsOf = (type: 'text' | 'reasoning') =>
    parts.flatMap(part => (part.type === type ? [(part as { text: string }).text] : []))
  const reasoning = textsOf('reasoning')
  return {
    text: textsOf('text').join(''),
    reasoningText: reasoning.length === 0 ? undefined : reasoning.join(''),
    toolCalls: tools.map(part => ({ type: 'tool-call', ...callOf(part) }) as unknown as TypedToolCall<ToolSet>),
    toolResults: tools
      .filter(part => part.state === 'output-available')
      .map(
        part => ({ type: 'tool-result', ...callOf(part), output: part.output }) as unknown as TypedToolResult<ToolSet>,
      ),
    toolErrors: tools
      .filter(part => part.state === 'output-error')
      .map(
        part => ({ type: 'tool-error', ...callOf(part), error: part.errorText }) as unknown as TypedToolError<ToolSet>,
      ),
    files: parts.flatMap(part => (part.type === 'file' ? [{ mediaType: part.mediaType, url: part.url }] : [])),
  }
}

function callOf(part: ToolPart): object {
  return {
    toolCallId: part.toolCallId,
    toolName: toolNameOf(part),
    input: part.input,
    ...(part.type === 'dynamic-tool' ? { dynamic: true } : {}),
    ...(part.providerExecuted ? { providerExecuted: true } : {}),
  }
}
