// Rewriting of a whole response: its texts, and the objects that its texts are the JSON of.
import type { AgentMessage, MessagePart } from '@lockstep/message-list'
import { rewriteMessages, type RewriteText } from './rewritten-message.ts'
import { rewriteValue } from './rewritten-value.ts'

/**
 * Gives the messages of a response with the texts of the parts that it concerns rewritten, or nothing when no text
 * changed. A text that is JSON is read by its meaning as well, as its reader does: `\u0040` is an `@`.
 */
export function rewriteAnswer(
  messages: readonly AgentMessage[],
  rewrite: RewriteText,
  concerns?: (part: MessagePart) => boolean,
): AgentMessage[] | undefined {
  const plain = rewriteMessages(messages, rewrite, concerns)
  const read = (plain ?? messages).map(message => rewriteObjects(message, rewrite))
  return read.some((message, index) => message !== messages[index]) ? read : undefined
}

/** The texts of a step are read as one, as they are for an object that was asked for. */
function rewriteObjects(message: AgentMessage, rewrite: RewriteText): AgentMessage {
  const { content } = message
  const texts = new Map<number, string>()
  for (const places of textPlacesIn(content.parts)) {
    const rewritten = rewriteJson(places.map(place => textOf(content.parts[place]!)).join(''), rewrite)
    if (rewritten !== undefined)
      for (const [order, place] of places.entries()) texts.set(place, order === 0 ? rewritten : '')
  }
  if (texts.size === 0) return message
  const parts = content.parts.map((part, place) =>
    texts.has(place) ? ({ ...part, text: texts.get(place)! } as MessagePart) : part,
  )
  return { ...message, content: { ...content, parts } }
}

/** Where the texts of each step stand. */
function textPlacesIn(parts: readonly MessagePart[]): readonly (readonly number[])[] {
  const steps: number[][] = [[]]
  for (const [place, { type }] of parts.entries())
    if (type === 'step-start') steps.push([])
    else if (type === 'text') steps.at(-1)!.push(place)
  return steps
}

function textOf(part: MessagePart): string {
  return part.type === 'text' ? part.text : ''
}

/** The text with what is in the value rewritten; nothing for what is no JSON, has no escapes, or stays. */
function rewriteJson(text: string, rewrite: RewriteText): string | undefined {
  if (!text.includes('\\') || !/^\s*["[{]/.test(text)) return undefined
  const value = jsonIn(text)
  const rewritten = rewriteValue(value, rewrite)
  return Object.is(rewritten, value) ? undefined : JSON.stringify(rewritten)
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
