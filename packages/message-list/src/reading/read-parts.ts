// Parts on their way in. Modern parts pass; parts of the AI SDK 4 and of Mastra become modern ones here.
import { fileAddress } from '../file-url.ts'
import { frozenJson } from '../frozen-json.ts'
import type { MessagePart } from '../message.ts'
import { checkedPart } from './part-schema.ts'

type Given = { readonly [key: string]: unknown }

/** Reads the parts of a message from frozen JSON. Parts that need no change stay as they are, and so does the array. */
export function readParts(parts: readonly unknown[], path: string): readonly MessagePart[] {
  const read: MessagePart[] = []
  let same = true
  for (const [index, part] of parts.entries()) {
    const modern = readPart(part, `${path}[${index}]`)
    if (modern.length !== 1 || modern[0] !== part) same = false
    read.push(...modern)
  }
  return same ? (parts as readonly MessagePart[]) : read
}

/** Reads one part from frozen JSON: itself, or what it stands for today. */
export function readPart(part: unknown, path: string): readonly MessagePart[] {
  const modern = isGiven(part) ? modernParts(part) : undefined
  if (modern === undefined) return [checkedPart(part, path)]
  return modern.map(one => checkedPart(frozenJson(one, path), path))
}

/**
 * The parts of a message that has none, from the fields that older messages had in their place. A text comes after
 * the results that it is about, as the next step.
 */
export function legacyParts(message: Given): readonly Given[] {
  const { content, reasoning } = message
  const parts: Given[] = []
  if (typeof reasoning === 'string') parts.push({ type: 'reasoning', text: reasoning })
  const invocations = listOf(message['toolInvocations'])
  for (const [index, invocation] of invocations.entries()) {
    if (index > 0 && invocation['step'] !== invocations[index - 1]!['step']) parts.push({ type: 'step-start' })
    parts.push(toolPart({}, invocation))
  }
  const attachments = listOf(message['experimental_attachments'])
  const isText = typeof content === 'string' && (content !== '' || parts.length + attachments.length === 0)
  if (isText && invocations.length > 0) parts.push({ type: 'step-start' })
  if (isText) parts.push({ type: 'text', text: content })
  return [...parts, ...attachments.map(attachmentPart)]
}

function listOf(value: unknown): readonly Given[] {
  return Array.isArray(value) ? (value as readonly Given[]) : []
}

/** The modern parts that a part stands for; undefined when it is one, or unknown. */
function modernParts(part: Given): readonly Given[] | undefined {
  const { type } = part
  if (isGiven(part['toolInvocation'])) return [toolPart(part, part['toolInvocation'])]
  if (typeof type === 'string' && (type.startsWith('tool-') || type === 'dynamic-tool')) return completed(part)
  switch (type) {
    case 'thinking':
      return [reasoningPart(part['thinking'] ?? part['text'], part['providerMetadata'] ?? signatureOf(part))]
    case 'reasoning':
      return part['text'] === undefined ? reasoningParts(part) : undefined
    case 'source':
      return isGiven(part['source']) ? [sourcePart(part['source'])] : undefined
    case 'file':
      return part['url'] === undefined ? [filePart(part)] : undefined
    default:
      return undefined
  }
}

/** JSON drops what is undefined, and a call has an input, and an output when it has ended well. */
function completed(part: Given): readonly Given[] | undefined {
  const { state, input, output } = part
  const lacksInput = input === undefined && state !== 'input-streaming' && state !== 'output-error'
  const lacksOutput = output === undefined && state === 'output-available'
  if (!lacksInput && !lacksOutput) return undefined
  return [{ ...part, ...(lacksInput ? { input: null } : {}), ...(lacksOutput ? { output: null } : {}) }]
}

/** Reasoning in one text, or in pieces of which each has its own signature. */
function reasoningParts(part: Given): readonly Given[] {
  const { reasoning, providerMetadata } = part
  const details = listOf(part['details'])
  if (details.length === 0) return [reasoningPart(reasoning, providerMetadata)]
  return details.map(detail =>
    detail['type'] === 'redacted'
      ? reasoningPart('', { anthropic: { redactedData: detail['data'] } })
      : reasoningPart(detail['text'], providerMetadata ?? signatureOf(detail)),
  )
}

function reasoningPart(text: unknown, providerMetadata: unknown): Given {
  return { type: 'reasoning', text: text ?? '', providerMetadata }
}

function signatureOf({ signature }: Given): unknown {
  return typeof signature === 'string' ? { anthropic: { signature } } : undefined
}

const modernStates: Readonly<Record<string, string>> = {
  'partial-call': 'input-streaming',
  call: 'input-available',
  result: 'output-available',
}

/** A tool invocation of the AI SDK 4, or of Mastra, which has the later states as well. */
function toolPart(part: Given, invocation: Given): Given {
  const { toolCallId, toolName, args, result, approval, errorText, rawInput } = invocation
  const state = modernStates[String(invocation['state'])] ?? invocation['state']
  // A refusal that was stored without its request gets one, because a refused call has an approval.
  const denial = state === 'output-denied' ? { id: toolCallId, approved: false } : undefined
  return {
    type: `tool-${textOr(toolName, '')}`,
    toolCallId,
    state,
    input: args ?? (state === 'input-streaming' ? undefined : {}),
    rawInput,
    output: state === 'output-available' ? (result ?? null) : undefined,
    errorText: state === 'output-error' ? (errorText ?? textOr(result, 'The tool failed.')) : undefined,
    approval: approval ?? denial,
    title: part['title'],
    preliminary: part['preliminary'] === true ? true : undefined,
    providerExecuted: part['providerExecuted'],
    callProviderMetadata: part['providerMetadata'],
  }
}

function sourcePart({ id, url, title, providerMetadata }: Given): Given {
  return { type: 'source-url', sourceId: id ?? url, url, title, providerMetadata }
}

function filePart(part: Given): Given {
  const { data, filename, providerMetadata } = part
  const mediaType = textOr(part['mediaType'] ?? part['mimeType'], 'application/octet-stream')
  return { type: 'file', mediaType, ...fileAddress(data ?? '', mediaType), filename, providerMetadata }
}

function attachmentPart({ url, contentType, name }: Given): Given {
  return { type: 'file', mediaType: contentType ?? 'application/octet-stream', url, filename: name }
}

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
