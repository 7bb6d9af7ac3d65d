// The door: every format in which a message can come, told apart by its shape. One table, so that a reader can check it.
import type { ModelMessage, UIMessage } from 'ai'
import { z } from 'zod'
import { MessageListError } from '../errors.ts'
import { frozenJson, type Frozen } from '../frozen-json.ts'
import type { LegacyMessage } from './legacy-message.ts'
import { isStored, type AgentMessage, type MessageSource } from '../message.ts'
import type { Reading } from './message-draft.ts'
import { check } from './part-schema.ts'
import { ModelMessageReader, type CopiedModelMessage } from './read-model-message.ts'
import { readStored } from './read-stored.ts'
import { readUI } from './read-ui-message.ts'
import { systemMessage, type SystemInput } from '../system-message.ts'

/** A stored message whose id, time, or both may be left to the list. */
export type AgentMessageInput = Omit<AgentMessage, 'id' | 'createdAt'> & {
  readonly id?: string
  readonly createdAt?: string | Date
}

/** A UI message of the AI SDK 5, 6 or 7, whose id may be left to the list. */
export type UIMessageInput = Omit<Frozen<UIMessage>, 'id'> & { readonly id?: string }

/** Whatever a message can come as. A string is what a user says. */
export type MessageInput =
  | string
  | ModelMessage
  | Frozen<ModelMessage>
  | UIMessageInput
  | AgentMessageInput
  | LegacyMessage

type Given = { readonly [key: string]: unknown }

interface Format {
  readonly shape: string
  readonly fits: (message: Given) => boolean
  readonly envelope: z.ZodType
  readonly read: (message: Given, path: string, reader: ModelMessageReader) => void
}

const id = z.string().min(1).optional()
const said = z.object({ id, role: z.enum(['user', 'assistant', 'system']) })
const modelMessage = z.object({
  id,
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
})

const isText = (value: unknown): value is string => typeof value === 'string'
const isOlder = (message: Given): boolean =>
  Array.isArray(message['toolInvocations']) || Array.isArray(message['experimental_attachments'])
const isUI: Pick<Format, 'envelope' | 'read'> = {
  envelope: said,
  read: (message, path, reader) => reader.interrupt(readUI(message, path)),
}

/** The table of formats. No message fits two rows: they differ in the type of `content` and in what stands beside it. */
const formats: readonly Format[] = [
  {
    shape: '{ role, content: { format: 2, parts } }: a stored message, ours or of Mastra',
    fits: ({ content }) => typeof content === 'object' && content !== null && (content as Given)['format'] === 2,
    envelope: said,
    read: (message, path, reader) => reader.interrupt(readStored(message, path)),
  },
  {
    shape: '{ role, parts }: a UI message of the AI SDK 5, 6 or 7, or, with a text as `content`, of the AI SDK 4',
    fits: ({ parts, content }) => Array.isArray(parts) && (content === undefined || isText(content)),
    ...isUI,
  },
  {
    shape:
      '{ role, content: text, toolInvocations or experimental_attachments }: a UI message of the AI SDK 4 without parts',
    fits: message => message['parts'] === undefined && isText(message['content']) && isOlder(message),
    ...isUI,
  },
  {
    shape:
      '{ role, content: text or parts }: a model message of the AI SDK 5, 6 or 7, or a core message of the AI SDK 4',
    fits: message =>
      message['parts'] === undefined &&
      (isText(message['content']) || Array.isArray(message['content'])) &&
      !isOlder(message),
    envelope: modelMessage,
    read: (message, path, reader) => reader.read(message as unknown as CopiedModelMessage, path),
  },
]

/** Reads inputs, in order. Throws: `invalid-message`, `ambiguous-message` and `unsafe-data`, naming the path. */
export function readInputs(inputs: readonly MessageInput[], source: MessageSource): readonly Reading[] {
  const reader = new ModelMessageReader(source)
  for (const [index, input] of inputs.entries()) readInput(input, `messages[${index}]`, reader)
  return reader.close()
}

function readInput(input: MessageInput, path: string, reader: ModelMessageReader): void {
  if (isStored(input)) return reader.interrupt(readStored(input as unknown as Given, path))
  const message = frozenJson(isText(input) ? { role: 'user', content: input } : input, path) as Given
  const format = typeof message === 'object' && message !== null ? formats.find(row => row.fits(message)) : undefined
  if (format === undefined) refuse(message, path)
  check(format.envelope, message, path)
  if (message['role'] === 'system')
    reader.interrupt([{ type: 'system', message: systemMessage(systemInput(message), path) }])
  else format.read(message, path, reader)
}

function refuse(message: Given, path: string): never {
  const keys =
    typeof message === 'object' && message !== null
      ? `has the keys ${Object.keys(message).join(', ') || '(none)'}`
      : `is ${JSON.stringify(message)}`
  const shapes = ['a string: what a user says', ...formats.map(format => format.shape)]
    .map(shape => `\n  ${shape}`)
    .join('')
  throw new MessageListError(
    'invalid-message',
    `${path} ${keys}, and has the shape of no message. Give it one of these:${shapes}`,
    { path },
  )
}

/** The instruction in a message with the role `system`, whatever its format: its text, and what was noted about it. */
function systemInput(message: Given): SystemInput {
  const content = message['content'] as Given | string | undefined
  const nested = typeof content === 'object' ? content : message
  const parts = (nested['parts'] ?? []) as readonly {
    readonly type?: string
    readonly text?: string
    readonly providerMetadata?: object
  }[]
  const texts = parts.filter(part => part.type === 'text')
  const options = Object.assign(
    {},
    message['providerOptions'],
    nested['providerMetadata'],
    ...texts.map(part => part.providerMetadata),
  ) as SystemInput & object
  return {
    role: 'system',
    content: typeof content === 'string' && texts.length === 0 ? content : texts.map(part => part.text ?? '').join(''),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: options }),
  } as SystemInput
}
