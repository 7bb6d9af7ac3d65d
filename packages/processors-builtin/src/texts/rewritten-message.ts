// Rewriting of what has a known form: messages of the conversation, and the prompt that goes to the model.
import {
  isToolPart,
  type AgentMessage,
  type LanguageModelPrompt,
  type MessagePart,
  type ToolPart,
} from '@lockstep/message-list'
import { rewriteProperties } from './rewritten-value.ts'

/** How texts are rewritten. */
export type RewriteText = (text: string) => string

type PromptMessage = LanguageModelPrompt[number]

/** Gives the messages with the texts of the parts that it concerns rewritten, or nothing when no text changed. */
export function rewriteMessages(
  messages: readonly AgentMessage[],
  rewrite: RewriteText,
  concerns: (part: MessagePart) => boolean = () => true,
): AgentMessage[] | undefined {
  const rewritePartOf = (part: MessagePart) => (concerns(part) ? rewritePart(part, rewrite) : part)
  const rewritten = messages.map(message => rewriteMessage(message, rewritePartOf))
  return rewritten.some((message, index) => message !== messages[index]) ? rewritten : undefined
}

function rewriteMessage(message: AgentMessage, rewritePartOf: (part: MessagePart) => MessagePart): AgentMessage {
  const { parts } = message.content
  const rewritten = parts.map(rewritePartOf)
  if (rewritten.every((part, index) => part === parts[index])) return message
  return { ...message, content: { ...message.content, parts: rewritten } }
}

function rewritePart(part: MessagePart, rewrite: RewriteText): MessagePart {
  if (part.type === 'text' || part.type === 'reasoning') return rewriteProperties(part, ['text'], rewrite)
  if (isToolPart(part)) return rewriteToolPart(part, rewrite)
  if (part.type.startsWith('data-')) return rewriteProperties(part, ['data'], rewrite)
  if (part.type.startsWith('source-')) return rewriteProperties(part, ['url', 'title', 'filename'], rewrite)
  return part.type === 'file' ? rewriteProperties(part, ['filename'], rewrite) : part
}

function rewriteToolPart(part: ToolPart, rewrite: RewriteText): MessagePart {
  const rewritten = rewriteProperties(part, ['input', 'rawInput', 'output', 'modelOutput', 'errorText'], rewrite)
  const { approval } = rewritten
  if (approval === undefined) return rewritten
  const told = rewriteProperties(approval, ['reason', 'requestReason', 'inputSchemaInput'], rewrite)
  return told === approval ? rewritten : ({ ...rewritten, approval: told } as ToolPart)
}

/** Gives the prompt with its texts rewritten; `rewriteOne` rewrites one message, and may remember what it gave. */
export function rewritePrompt(
  prompt: LanguageModelPrompt,
  rewriteOne: (message: PromptMessage) => PromptMessage,
): LanguageModelPrompt | undefined {
  const rewritten = prompt.map(message => rewriteOne(message))
  return rewritten.some((message, index) => message !== prompt[index]) ? rewritten : undefined
}

/**
 * Rewrites a message of a prompt. System messages are the developer's own; reasoning goes back as it came, since
 * providers refuse it when a character is another.
 */
export function rewritePromptMessage(message: PromptMessage, rewrite: RewriteText): PromptMessage {
  if (message.role === 'system') return message
  const parts: readonly PromptPart[] = message.content
  const rewritten = parts.map(part => rewritePromptPart(part, rewrite))
  return rewritten.every((part, index) => part === parts[index])
    ? message
    : ({ ...message, content: rewritten } as PromptMessage)
}

type PromptPart = Exclude<PromptMessage['content'], string>[number]

function rewritePromptPart(part: PromptPart, rewrite: RewriteText): PromptPart {
  if (part.type === 'text') return rewriteProperties(part, ['text'], rewrite)
  if (part.type === 'tool-call') return rewriteProperties(part, ['input'], rewrite)
  if (part.type === 'file') return rewriteProperties(part, ['filename'], rewrite)
  if (part.type !== 'tool-result') return part
  const { output } = part
  if (output.type !== 'content') return rewriteProperties(part, ['output'], rewrite)
  const value = output.value.map(item => (item.type === 'text' ? rewriteProperties(item, ['text'], rewrite) : item))
  return value.every((item, index) => item === output.value[index]) ? part : { ...part, output: { ...output, value } }
}
