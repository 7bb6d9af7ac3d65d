// Clients of the AI SDK, as they read a UI message stream: the plain reader, and `useChat` without React around it.
import { Chat } from '@ai-sdk/react'
import { convertArrayToReadableStream } from 'ai/test'
import { readUIMessageStream, type ChatTransport, type UIMessage, type UIMessageChunk } from 'ai'

export type Part = Record<string, unknown> & { readonly type: string }

/** Everything that a stream of chunks holds. */
export async function chunksOf(stream: ReadableStream<UIMessageChunk>): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** What the client's message is at the end. */
export async function messageFrom(chunks: readonly UIMessageChunk[], message?: UIMessage): Promise<UIMessage> {
  let last: UIMessage | undefined = message
  const states = readUIMessageStream({
    ...(message ? { message: structuredClone(message) } : {}),
    stream: convertArrayToReadableStream(chunks.map(overTheWire)),
    terminateOnError: true,
  })
  for await (const state of states) last = state
  if (!last) throw new Error('The stream made no message.')
  return last
}

const overTheWire = (chunk: UIMessageChunk) => JSON.parse(JSON.stringify(chunk)) as UIMessageChunk

/** A chat as `useChat` holds it; each request is answered by what `respond` makes. */
export function chatOf(
  respond: (messages: UIMessage[], signal: AbortSignal | undefined) => ReadableStream<UIMessageChunk>,
  options: Omit<ConstructorParameters<typeof Chat<UIMessage>>[0], 'transport'> = {},
): Chat<UIMessage> {
  const transport: ChatTransport<UIMessage> = {
    sendMessages: ({ messages, abortSignal }) => Promise.resolve(respond(structuredClone(messages), abortSignal)),
    reconnectToStream: () => Promise.resolve(null),
  }
  return new Chat<UIMessage>({ transport, ...options })
}

/** The text that the client shows. */
export function textOf({ parts }: Pick<UIMessage, 'parts'>): string {
  return parts.map(part => (part.type === 'text' ? part.text : '')).join('')
}

/**
 * Parts without what only one side notes: fields without a value, the ids of blocks, the text of an input, how a tool was
 * declared, and steps in which nothing was said.
 */
export function plainParts(parts: readonly object[]): Part[] {
  const plain = (JSON.parse(JSON.stringify(parts)) as Part[]).map(part => {
    const { id, rawInput: _, title: __, preliminary: ___, toolName, ...rest } = part
    if (part.type.startsWith('data-')) return { id, ...rest }
    return toolName === undefined ? rest : { ...rest, type: `tool-${toolName as string}` }
  }) as Part[]
  const ends = new Set(['step-start', 'steering-message', undefined])
  return plain.filter((part, index) => part.type !== 'step-start' || !ends.has(plain[index + 1]?.type))
}
