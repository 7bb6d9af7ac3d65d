// The door: every format in which a message can come, told apart by its shape. One table, so that a reader can check it.
import type { ModelMessage, UIMessage } from 'ai'
import { z } from 'zod'
import { MessageListError } from './errors.ts'
import { frozenJson, type Frozen } from './frozen-json.ts'
import { isStored, type AgentMessage, type MessageSource } from './message.ts'
import type { Reading } from './message-draft.ts'
import { check } from './part-schema.ts'
import { ModelMessageReader, type CopiedModelMessage } from './read-model-message.ts'
import { readStored } from './read-stored.ts'
import { readUI } from './read-ui-message.ts'
import { systemMessage, type SystemInput } from './system-message.ts'

/** A stored message whose id, time, or both may be left to the list. */
export type AgentMessageInput = Omit<AgentMessage, 'id' | 'createdAt'> & { readonly id?: string; readonly createdAt?: string | Date }

/** A UI message of the AI SDK 5, 6 or 7, whose id may be left to the list. */
export type UIMessageInput = Omit<Frozen<UIMessage>, 'id'> & { readonly id?: string }

/** A message of the AI SDK 4 or of Mastra. Their shapes are checked when they are read. */
export type LegacyMessage =
  | {
      readonly id?: string
      readonly role: 'user' | 'assistant' | 'system'
      readonly content: string
      readonly createdAt?: string | Date
      readonly parts?: readonly { readonly type: string }[]
      readonly toolInvocations?: readonly object[]
      readonly experimental_attachments?: readonly object[]
    }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: readonly { readonly type: string }[] }
  | {
      readonly id?: string
      readonly role: 'user' | 'assistant' | 'system'
      readonly createdAt?: string | Date
      readonly threadId?: string
      readonly resourceId?: string
      readonly content: { readonly format: 2; readonly parts: readonly { readonly type: string }[] }
    }

/** Whatever a message can come as. A string is what a user says. */
export type MessageInput = string | ModelMessage | Frozen<ModelMessage> | UIMessageInput | AgentMessageInput | LegacyMessage

type Given = { readonly [key: string]: unknown }

interface Format {
  readonly name: string
  readonly fits: (message: Given) => boolean
  readonly read: (message: Given, path: string, reader: ModelMessageReader) => void
}

const isText = (value: unknown): value is string => typeof value === 'string'
const hasV4Fields = (message: Given): boolean => Array.isArray(message['toolInvocations']) || Array.isArray(message['experimental_attachments'])

/** A message fits exactly one row, or it is refused: nothing is guessed between two readings. */
const formats: readonly Format[] = [
  {
    name: '{ content: { format: 2, parts } }: a stored message, ours or of Mastra',
    fits: message => (message['content'] as Given | null | undefined)?.['format'] === 2,
    read: (message, path, reader) => {
      reader.close()
      reader.readings.push(...readStored(message, path))
    },
  },
  {
    name: '{ parts }: a UI message of the AI SDK 5, 6 or 7, or of the AI SDK 4 when it has `content` as well',
    fits: message => Array.isArray(message['parts']) && (message['content'] === undefined || isText(message['content'])),
    read: (message, path, reader) => {
      reader.close()
      reader.readings.push(...readUI(message, path))
    },
  },
  {
    name: '{ content: string, toolInvocations or experimental_attachments }: a UI message of the AI SDK 4 without parts',
    fits: message => message['parts'] === undefined && isText(message['content']) && hasV4Fields(message),
    read: (message, path, reader) => {
      reader.close()
      reader.readings.push(...readUI(message, path))
    },
  },
  {
    name: '{ role, content: string or parts }: a model message of the AI SDK 5, 6 or 7, or a core message of the AI SDK 4',
    fits: message => message['parts'] === undefined && (isText(message['content']) || Array.isArray(message['content'])) && !hasV4Fields(message),
    read: (message, path, reader) => reader.read(message as unknown as CopiedModelMessage, path),
  },
]

const roles: Readonly<Record<string, z.ZodType>> = {
  stored: z.looseObject({ id: z.string().min(1).optional(), role: z.enum(['user', 'assistant', 'system']) }),
  model: z.looseObject({
    id: z.string().min(1).optional(),
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  }),
}

/** Reads inputs, in order. Throws: `invalid-message`, `ambiguous-message` and `unsafe-data`, naming the path. */
export function readInputs(inputs: readonly MessageInput[], source: MessageSource): readonly Reading[] {
  const reader = new ModelMessageReader(source)
  for (const [index, input] of inputs.entries()) readInput(input, `messages[${index}]`, reader)
  reader.close()
  return reader.readings
}

function readInput(input: MessageInput, path: string, reader: ModelMessageReader): void {
  if (isStored(input)) {
    reader.close()
    reader.readings.push(...readStored(input as unknown as Given, path))
    return
  }
  const message = frozenJson(typeof input === 'string' ? { role: 'user', content: input } : input, path) as Given
  const fitting = typeof message === 'object' && message !== null ? formats.filter(format => format.fits(message)) : []
  const [format] = fitting
  if (format === undefined || fitting.length > 1) refuse(fitting, message, path)
  check(format === formats[3] ? roles['model']! : roles['stored']!, message, path)
  if (message['role'] === 'system') {
    reader.close()
    reader.readings.push({ type: 'system', message: systemMessage(systemInput(message), path) })
  } else {
    format.read(message, path, reader)
  }
}

function refuse(fitting: readonly Format[], message: Given, path: string): never {
  const keys = typeof message === 'object' && message !== null ? `has the keys ${Object.keys(message).join(', ') || '(none)'}` : `is ${JSON.stringify(message)}`
  const code = fitting.length > 1 ? 'ambiguous-message' : 'invalid-message'
  const fact = fitting.length > 1 ? 'and can be read in two ways' : 'and is not a message that can be read'
  const shapes = (fitting.length > 1 ? fitting : formats).map(format => `  ${format.name}`).join('\n')
  throw new MessageListError(code, `${path} ${keys}, ${fact}. Give it one of these shapes:\n  a string: what a user says\n${shapes}`, { path })
}

/** The instruction in a message with the role `system`, whatever its format: its text, and what was noted about it. */
function systemInput(message: Given): SystemInput {
  const content = message['content'] as Given | string | undefined
  const nested = typeof content === 'object' ? content : message
  const parts = (nested['parts'] ?? []) as readonly { readonly type?: string; readonly text?: string; readonly providerMetadata?: object }[]
  const texts = parts.filter(part => part.type === 'text')
  const options = Object.assign({}, message['providerOptions'], nested['providerMetadata'], ...texts.map(part => part.providerMetadata)) as SystemInput & object
  return {
    role: 'system',
    content: typeof content === 'string' && texts.length === 0 ? content : texts.map(part => part.text ?? '').join(''),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: options }),
  } as SystemInput
}
