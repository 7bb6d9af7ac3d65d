// What is stored: the message, its parts, and where it came from. How other formats become one is in `read-input.ts`.
import type {
  DynamicToolUIPart,
  ProviderMetadata,
  ToolResultPart,
  ToolUIPart,
  UIDataTypes,
  UIMessage,
  UIMessagePart,
  UITools,
} from 'ai'
import type { Frozen } from './frozen-json.ts'
import { isMarked, mark, type Descent } from './lineage.ts'

/**
 * Why a message is in the list: `memory` was remembered from earlier runs, `input` is what the caller said now,
 * `response` is what the model answered, `context` was put there for the model to know.
 */
export type MessageSource = 'input' | 'response' | 'memory' | 'context'

/** What a tool's result looks like to the model, when that differs from the output itself. */
export type ToolModelOutput = ToolResultPart['output']

/** A tool call and everything that became of it: one part, whatever its state. */
export type ToolPart = Frozen<(ToolUIPart | DynamicToolUIPart) & { modelOutput?: ToolModelOutput }>

/**
 * An element of a message's content: the parts of the AI SDK 7 `UIMessage`. Parts of a type that this version does not
 * know are kept as they came, and left out of prompts, so a `switch` over `type` needs a default.
 */
export type MessagePart =
  | Frozen<Exclude<UIMessagePart<UIDataTypes, UITools>, ToolUIPart | DynamicToolUIPart>>
  | ToolPart

/** The content of a message: its parts and what was noted about them. */
export interface MessageContent {
  readonly format: 2
  readonly parts: readonly MessagePart[]
  readonly metadata?: { readonly [key: string]: unknown }
  readonly providerMetadata?: Frozen<ProviderMetadata>
}

/** One message of a conversation, frozen to the leaves. */
export interface AgentMessage {
  readonly id: string
  readonly role: UIMessage['role']
  /** When it was made, ISO-8601. It is a fact about the message and never decides its place. */
  readonly createdAt: string
  readonly threadId?: string
  readonly resourceId?: string
  readonly content: MessageContent
}

/** Tells whether a part is a tool call, of a known or a dynamic tool. */
export function isToolPart(part: MessagePart): part is ToolPart {
  return part.type.startsWith('tool-') || part.type === 'dynamic-tool'
}

/** The name of the tool that a part calls. */
export function toolNameOf(part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length)
}

/** What a message says beside its content. */
export type Envelope = Omit<AgentMessage, 'content' | 'threadId' | 'resourceId'> & {
  readonly threadId?: string | undefined
  readonly resourceId?: string | undefined
}

/** The content of a message in the making: what is undefined is left out. */
export interface Said {
  readonly parts: readonly MessagePart[]
  readonly metadata?: MessageContent['metadata'] | undefined
  readonly providerMetadata?: MessageContent['providerMetadata'] | undefined
}

/**
 * Makes a message of parts that are checked and frozen already, as another version of one or as the first one, and
 * remembers that it needs no second reading.
 */
export function storedMessage(envelope: Envelope, said: Said, descent?: Descent): AgentMessage {
  const { id, role, createdAt, threadId, resourceId } = envelope
  const { parts, metadata, providerMetadata } = said
  const content: Writable<MessageContent> = { format: 2, parts: Object.freeze(parts) }
  if (metadata !== undefined) content.metadata = metadata
  if (providerMetadata !== undefined) content.providerMetadata = providerMetadata
  const message: Writable<AgentMessage> = { id, role, createdAt, content: Object.freeze(content) }
  if (threadId !== undefined) message.threadId = threadId
  if (resourceId !== undefined) message.resourceId = resourceId
  mark(message, descent)
  return Object.freeze(message)
}

/** The message with other parts, of which the first `sharedCount` are the same if that is known. */
export function withParts(base: AgentMessage, parts: readonly MessagePart[], sharedCount?: number): AgentMessage {
  const { metadata, providerMetadata } = base.content
  return storedMessage(base, { parts, metadata, providerMetadata }, { base, sharedCount })
}

/** The message with another part in the place of one. */
export function withPart(message: AgentMessage, index: number, part: MessagePart): AgentMessage {
  const parts = [...message.content.parts]
  parts[index] = part
  return withParts(message, parts, index)
}

/** The message with more parts at its end. */
export function withMoreParts(message: AgentMessage, more: readonly MessagePart[]): AgentMessage {
  const { parts } = message.content
  // A copy that `concat` is given is read at once; a spread of both would grow twice.
  return withParts(message, [...parts].concat(more), parts.length)
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Tells whether a value is a message that this package made: valid and frozen, so it is taken as it is. */
export function isStored(value: unknown): value is AgentMessage {
  return typeof value === 'object' && value !== null && isMarked(value)
}
