// Redaction of what has a known form: messages of the conversation, and the prompt that goes to the model.
import { isToolPart, type AgentMessage, type LanguageModelPrompt, type MessagePart } from '@lockstep/message-list'
import { redactProperties } from './redacted-value.ts'

/** How texts are redacted. */
export type RedactText = (text: string) => string

type PromptMessage = LanguageModelPrompt[number]

/** Gives the messages with their texts redacted, or nothing when no text changed. */
export function redactMessages(messages: readonly AgentMessage[], redact: RedactText): AgentMessage[] | undefined {
  const redacted = messages.map(message => redactMessage(message, redact))
  return redacted.some((message, index) => message !== messages[index]) ? redacted : undefined
}

function redactMessage(message: AgentMessage, redact: RedactText): AgentMessage {
  const { parts } = message.content
  const redacted = parts.map(part => redactPart(part, redact))
  if (redacted.every((part, index) => part === parts[index])) return message
  return { ...message, content: { ...message.content, parts: redacted } }
}

function redactPart(part: MessagePart, redact: RedactText): MessagePart {
  if (part.type === 'text' || part.type === 'reasoning') return redactProperties(part, ['text'], redact)
  if (isToolPart(part))
    return redactProperties(part, ['input', 'rawInput', 'output', 'modelOutput', 'errorText'], redact)
  if (part.type.startsWith('data-')) return redactProperties(part, ['data'], redact)
  if (part.type.startsWith('source-')) return redactProperties(part, ['url', 'title', 'filename'], redact)
  return part.type === 'file' ? redactProperties(part, ['filename'], redact) : part
}

/** Gives the prompt with its texts redacted; `redactOne` redacts one message, and may remember what it gave. */
export function redactPrompt(
  prompt: LanguageModelPrompt,
  redactOne: (message: PromptMessage) => PromptMessage,
): LanguageModelPrompt | undefined {
  const redacted = prompt.map(message => redactOne(message))
  return redacted.some((message, index) => message !== prompt[index]) ? redacted : undefined
}

/**
 * Redacts a message of a prompt. System messages are the developer's own; reasoning goes back as it came, since
 * providers refuse it when a character is another.
 */
export function redactPromptMessage(message: PromptMessage, redact: RedactText): PromptMessage {
  if (message.role === 'system') return message
  const parts: readonly PromptPart[] = message.content
  const redacted = parts.map(part => redactPromptPart(part, redact))
  return redacted.every((part, index) => part === parts[index])
    ? message
    : ({ ...message, content: redacted } as PromptMessage)
}

type PromptPart = Exclude<PromptMessage['content'], string>[number]

function redactPromptPart(part: PromptPart, redact: RedactText): PromptPart {
  if (part.type === 'text') return redactProperties(part, ['text'], redact)
  if (part.type === 'tool-call') return redactProperties(part, ['input'], redact)
  if (part.type === 'file') return redactProperties(part, ['filename'], redact)
  if (part.type !== 'tool-result') return part
  const { output } = part
  if (output.type !== 'content') return redactProperties(part, ['output'], redact)
  const value = output.value.map(item => (item.type === 'text' ? redactProperties(item, ['text'], redact) : item))
  return value.every((item, index) => item === output.value[index]) ? part : { ...part, output: { ...output, value } }
}
