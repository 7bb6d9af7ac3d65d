// What a valid part of a model message looks like. Parts of the AI SDK 4 are put into today's words first.
import { z } from 'zod'
import { MessageListError } from '../errors.ts'
import { frozenJson, shareEqual } from '../frozen-json.ts'
import { imageTypeOf } from '../file-url.ts'
import { check } from './part-schema.ts'

type Given = { readonly [key: string]: unknown }

const providerOptions = z.record(z.string(), z.record(z.string(), z.unknown())).optional()
const reference = z.record(z.string(), z.string())
const taggedData = z.discriminatedUnion('type', [
  z.object({ type: z.literal('data'), data: z.string() }),
  z.object({ type: z.literal('url'), url: z.string() }),
  z.object({ type: z.literal('reference'), reference }),
  z.object({ type: z.literal('text'), text: z.string() }),
])
const textOutput = z.object({ value: z.string() })
const jsonOutput = z.object({ value: z.json() })
const output = z.discriminatedUnion('type', [
  textOutput.extend({ type: z.literal('text') }),
  textOutput.extend({ type: z.literal('error-text') }),
  jsonOutput.extend({ type: z.literal('json') }),
  jsonOutput.extend({ type: z.literal('error-json') }),
  z.object({ type: z.literal('execution-denied'), reason: z.string().optional() }),
  z.object({ type: z.literal('content'), value: z.array(z.object({ type: z.string() })) }),
])

const text = z.object({ type: z.literal('text'), text: z.string(), providerOptions })
const file = z.object({
  type: z.literal('file'),
  data: z.union([z.string(), taggedData, reference]),
  mediaType: z.string(),
  filename: z.string().optional(),
  providerOptions,
})
const toolResult = z.object({
  type: z.literal('tool-result'),
  toolCallId: z.string().min(1),
  toolName: z.string(),
  output,
  providerOptions,
})

const userPart = z.discriminatedUnion('type', [text, file])
const assistantPart = z.discriminatedUnion('type', [
  text,
  file,
  z.object({ type: z.literal('reasoning'), text: z.string(), providerOptions }),
  z.object({
    type: z.literal('reasoning-file'),
    data: z.union([z.string(), taggedData]),
    mediaType: z.string(),
    providerOptions,
  }),
  z.object({ type: z.literal('custom'), kind: z.string(), providerOptions }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string().min(1),
    toolName: z.string().min(1),
    input: z.unknown().optional(),
    providerExecuted: z.boolean().optional(),
    providerOptions,
  }),
  toolResult,
  z.object({
    type: z.literal('tool-approval-request'),
    approvalId: z.string().min(1),
    toolCallId: z.string().min(1),
    reason: z.string().optional(),
  }),
])
const toolPart = z.discriminatedUnion('type', [
  toolResult,
  z.object({
    type: z.literal('tool-approval-response'),
    approvalId: z.string().min(1),
    approved: z.boolean(),
    reason: z.string().optional(),
  }),
])

export type UserModelPart = z.infer<typeof userPart>
export type AssistantModelPart = z.infer<typeof assistantPart>
export type ToolModelPart = z.infer<typeof toolPart>
export type ToolResultModelPart = z.infer<typeof toolResult>

const schemas = { user: userPart, assistant: assistantPart, tool: toolPart }

/** Reads one part of a model message from frozen JSON. Throws: `invalid-message` and `ambiguous-message`, naming the path. */
export function modelPart(role: 'user', part: unknown, path: string): UserModelPart
export function modelPart(role: 'assistant', part: unknown, path: string): AssistantModelPart
export function modelPart(role: 'tool', part: unknown, path: string): ToolModelPart
export function modelPart(
  role: keyof typeof schemas,
  part: unknown,
  path: string,
): UserModelPart | AssistantModelPart | ToolModelPart {
  const modern = modernPart(part, path)
  return check<UserModelPart | AssistantModelPart | ToolModelPart>(
    schemas[role],
    modern === part ? part : frozenJson(modern, path),
    path,
  )
}

/** The words that changed after the AI SDK 4, and what they are today. */
const renamed: readonly (readonly [old: string, modern: string])[] = [
  ['args', 'input'],
  ['mimeType', 'mediaType'],
  ['experimental_providerMetadata', 'providerOptions'],
]

function modernPart(part: unknown, path: string): unknown {
  if (typeof part !== 'object' || part === null) return part
  const given = part as Given
  switch (given['type']) {
    case 'redacted-reasoning':
      return { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: given['data'] ?? '' } } }
    case 'reasoning':
      return typeof given['signature'] === 'string'
        ? { type: 'reasoning', text: given['text'], providerOptions: { anthropic: { signature: given['signature'] } } }
        : given
    case 'image':
      return modernImage(renamedKeys(given, path))
    case 'tool-result':
      return modernResult(renamedKeys(given, path), path)
    default:
      return renamedKeys(given, path)
  }
}

function renamedKeys(part: Given, path: string): Given {
  let modern = part
  for (const [old, name] of renamed) {
    if (part[old] === undefined) continue
    if (part[name] !== undefined && shareEqual(part[old], part[name]) !== part[old])
      throw twoReadings(path, [old, name])
    const { [old]: value, ...rest } = modern
    modern = { ...rest, [name]: value }
  }
  return modern
}

function twoReadings(path: string, [old, name]: readonly [string, string]): MessageListError {
  return new MessageListError(
    'ambiguous-message',
    `${path} has both "${old}" (AI SDK 4) and "${name}", and they differ. Keep the one that is meant.`,
    { path },
  )
}

function modernImage({ image, mediaType, ...rest }: Given): Given {
  const guessed = typeof image === 'string' ? imageTypeOf(image) : undefined
  return { ...rest, type: 'file', data: image, mediaType: mediaType ?? guessed ?? 'image' }
}

function modernResult(part: Given, path: string): Given {
  const { result, isError, experimental_content: content, ...rest } = part
  if (!('result' in part) && content === undefined) return part
  if (part['output'] !== undefined) throw twoReadings(path, ['result', 'output'])
  if (Array.isArray(content)) {
    return { ...rest, output: { type: 'content', value: (content as Given[]).map(modernContent) } }
  }
  const type = typeof result === 'string' ? 'text' : 'json'
  return { ...rest, output: { type: isError === true ? `error-${type}` : type, value: result ?? null } }
}

function modernContent(item: Given): Given {
  return item['type'] === 'image'
    ? { type: 'image-data', data: item['data'], mediaType: item['mimeType'] ?? item['mediaType'] ?? 'image' }
    : item
}
