// Parts on their way in. Modern parts pass; parts of the AI SDK 4 and of Mastra become modern ones here.
import { dataUrl, fileAddress } from './file-url.ts'
import { MessageListError } from './errors.ts'
import { frozenJson } from './frozen-json.ts'
import type { MessagePart } from './message.ts'
import { checkedPart } from './part-schema.ts'

type Given = { readonly [key: string]: unknown }

/** Reads the parts of a message from frozen JSON. Parts that need no change are returned as they are, and so is the array. */
export function readParts(parts: readonly unknown[], path: string): readonly MessagePart[] {
  const read: MessagePart[] = []
  let same = true
  for (const [index, part] of parts.entries()) {
    const at = `${path}[${index}]`
    const legacy = legacyParts(part as Given, at)
    if (legacy === undefined) {
      read.push(checkedPart(part, at))
    } else {
      same = false
      for (const modern of legacy) read.push(checkedPart(frozenJson(modern, at), at))
    }
  }
  return same ? (parts as readonly MessagePart[]) : read
}

/** The modern parts that an older part stands for; undefined when it is modern, or unknown. */
function legacyParts(part: Given, path: string): readonly Given[] | undefined {
  if (typeof part !== 'object' || part === null) return undefined
  switch (part['type']) {
    case 'thinking':
      return [withMetadata({ type: 'reasoning', text: part['thinking'] ?? part['text'] ?? '' }, signed(part))]
    case 'reasoning':
      return legacyReasoning(part)
    case 'tool-invocation':
      return isGiven(part['toolInvocation']) ? [legacyTool(part, part['toolInvocation'], path)] : undefined
    case 'source':
      return isGiven(part['source']) ? [legacySource(part['source'])] : undefined
    case 'file':
      return part['url'] === undefined && part['data'] !== undefined ? [legacyFile(part)] : undefined
    default:
      return undefined
  }
}

function legacyReasoning(part: Given): readonly Given[] | undefined {
  if (part['text'] !== undefined || (part['reasoning'] === undefined && part['details'] === undefined)) return undefined
  const details = Array.isArray(part['details']) ? (part['details'] as readonly Given[]) : []
  if (details.length === 0)
    return [withMetadata({ type: 'reasoning', text: part['reasoning'] ?? '' }, part['providerMetadata'])]
  return details.map(detail =>
    detail['type'] === 'redacted'
      ? withMetadata({ type: 'reasoning', text: '' }, { anthropic: { redactedData: detail['data'] ?? '' } })
      : withMetadata({ type: 'reasoning', text: detail['text'] ?? '' }, part['providerMetadata'] ?? signed(detail)),
  )
}

function signed(part: Given): unknown {
  return typeof part['signature'] === 'string'
    ? { anthropic: { signature: part['signature'] } }
    : part['providerMetadata']
}

const legacyStates: Readonly<Record<string, string>> = {
  'partial-call': 'input-streaming',
  call: 'input-available',
  result: 'output-available',
}

/** A tool invocation of the AI SDK 4, or of Mastra, which has the later states as well. */
export function legacyTool(part: Given, invocation: Given, path: string): Given {
  const { state, toolCallId, toolName, args, result, approval, errorText, rawInput } = invocation
  if (typeof toolName !== 'string' || toolName === '') {
    throw new MessageListError('invalid-message', `${path} is a tool invocation without a toolName. Name the tool.`, {
      path,
    })
  }
  const modern = legacyStates[String(state)] ?? state
  return withMetadata(
    {
      type: `tool-${toolName}`,
      toolCallId,
      state: modern,
      input: args ?? (modern === 'input-streaming' ? undefined : {}),
      ...(modern === 'output-available' ? { output: result ?? null } : {}),
      ...(modern === 'output-error' ? { errorText: errorText ?? String(result ?? 'The tool failed.') } : {}),
      ...(rawInput === undefined ? {} : { rawInput }),
      ...(approval === undefined ? legacyApproval(modern, toolCallId) : { approval }),
      ...(part['title'] === undefined ? {} : { title: part['title'] }),
      ...(part['preliminary'] === true ? { preliminary: true } : {}),
      ...(part['providerExecuted'] === undefined ? {} : { providerExecuted: part['providerExecuted'] }),
    },
    part['providerMetadata'],
    'callProviderMetadata',
  )
}

/** A refusal that was stored without its request gets one, because a refused call has an approval. */
function legacyApproval(state: unknown, toolCallId: unknown): Given {
  return state === 'output-denied' ? { approval: { id: toolCallId, approved: false } } : {}
}

function legacySource(source: Given): Given {
  return withMetadata(
    {
      type: 'source-url',
      sourceId: source['id'] ?? source['url'],
      url: source['url'],
      ...(source['title'] === undefined ? {} : { title: source['title'] }),
    },
    source['providerMetadata'],
  )
}

function legacyFile(part: Given): Given {
  const mediaType = String(part['mediaType'] ?? part['mimeType'] ?? 'application/octet-stream')
  return withMetadata(
    {
      type: 'file',
      mediaType,
      ...fileAddress(part['data'], mediaType),
      ...(part['filename'] === undefined ? {} : { filename: part['filename'] }),
    },
    part['providerMetadata'],
  )
}

/** An attachment of an AI SDK 4 message. */
export function legacyAttachment(attachment: Given): Given {
  const mediaType = String(attachment['contentType'] ?? 'application/octet-stream')
  const url = String(attachment['url'] ?? dataUrl('', mediaType))
  return { type: 'file', mediaType, url, ...(attachment['name'] === undefined ? {} : { filename: attachment['name'] }) }
}

function withMetadata(part: Given, metadata: unknown, key = 'providerMetadata'): Given {
  return metadata === undefined || metadata === null ? part : { ...part, [key]: metadata }
}

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null
}
