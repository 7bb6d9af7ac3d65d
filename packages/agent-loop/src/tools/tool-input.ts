// A tool call from the model's text to a checked input.
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { ToolCallPayload } from '@lockstep/processors'
import { asSchema, type Schema, type ToolCallRepairFunction, type ToolSet } from 'ai'
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
  const { tools, repairToolCall } = options
  const repair: typeof repairToolCall = repairToolCall && (given => repairToolCall({ ...given, tools }))
  const parsed = await parse({
    toolCall: call,
    tools: withSchemas(tools),
    repairToolCall: repair as Parameters<typeof parse>[0]['repairToolCall'],
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
  const { validate } = schemaOf(tool)
  if (!validate) return { value: input }
  const result = await validate(input)
  return result.success ? { value: result.value } : { error: result.error }
}

const sets = new WeakMap<ToolSet, ToolSet>()

/** The same tools with schemas that the AI SDK takes as they are, where it would make one of its own for each call. */
function withSchemas(tools: ToolSet): ToolSet {
  let made = sets.get(tools)
  if (!made) {
    const entries = Object.entries(tools).map(([name, tool]) => {
      const inputSchema = { value: schemaOf(tool), enumerable: true }
      return [name, Object.create(tool, { inputSchema }) as ToolSet[string]] as const
    })
    sets.set(tools, (made = Object.fromEntries(entries)))
  }
  return made
}

const schemas = new WeakMap<ToolSet[string], Schema>()

/** Made once for a tool, however sets of them change. It does not refer to the tool, which it would keep alive. */
function schemaOf(tool: ToolSet[string]): Schema {
  let made = schemas.get(tool)
  if (!made) schemas.set(tool, (made = asSchema(tool.inputSchema) as Schema))
  return made
}

const details = [
  'providerExecuted',
  'providerMetadata',
  'toolMetadata',
  'dynamic',
  'title',
  'invalid',
  'error',
] as const

/** What is known of a call. */
function payloadOf(
  parsed: Pick<ToolCallPayload, 'toolCallId' | 'toolName' | 'input'> & {
    readonly [name in (typeof details)[number]]?: unknown
  },
): ToolCallPayload {
  const { toolCallId, toolName, input } = parsed
  const payload: Record<string, unknown> = { toolCallId, toolName, input }
  for (const name of details) if (parsed[name] !== undefined) payload[name] = parsed[name]
  return payload as unknown as ToolCallPayload
}
