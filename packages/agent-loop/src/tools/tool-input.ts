// A tool call from the model's text to a checked input.
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { ToolCallPayload } from '@lockstep/processors'
import { asSchema, type ToolCallRepairFunction, type ToolSet } from 'ai'
import { parseToolCall as parse } from '../ai-internal.ts'

/** A tool call whose input is parsed, or which is marked as invalid with the reason. */
export interface ParsedToolCall {
  readonly toolCall: ToolCallPayload
}

/** What parsing needs besides the call. */
export interface ToolInputOptions {
  readonly tools: ToolSet
  readonly repairToolCall: ToolCallRepairFunction<ToolSet> | undefined
  readonly abortSignal: AbortSignal
}

/** Parses and validates the input of a call; asks `repairToolCall` when that fails. Never throws for bad input. */
export async function parseToolCall(call: LanguageModelV4ToolCall, options: ToolInputOptions): Promise<ParsedToolCall> {
  const parsed = await parse({
    toolCall: call,
    tools: options.tools,
    repairToolCall: options.repairToolCall as Parameters<typeof parse>[0]['repairToolCall'],
    instructions: undefined,
    messages: [],
    abortSignal: options.abortSignal,
  })
  return { toolCall: payloadOf(parsed) }
}

/** Checks an input that a processor or a person gave. A value that fits is what the tool gets. */
export async function checkToolInput(
  tool: ToolSet[string],
  input: unknown,
): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  const { validate } = asSchema(tool.inputSchema)
  if (!validate) return { value: input }
  const result = await validate(input)
  return result.success ? { value: result.value } : { error: result.error }
}

/** What is known of a call. */
function payloadOf(parsed: object): ToolCallPayload {
  const payload: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(parsed)) if (key !== 'type' && value !== undefined) payload[key] = value
  return payload as unknown as ToolCallPayload
}
