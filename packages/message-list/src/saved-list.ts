// A list as JSON: versioned, checked when it is read, and without the history of its changes.
import { z } from 'zod'
import { MessageListError } from './errors.ts'
import { frozen, frozenJson } from './frozen-json.ts'
import { isStored, type AgentMessage, type MessageSource } from './message.ts'
import { settle, type Home } from './reading/message-draft.ts'
import { check } from './reading/part-schema.ts'
import { storedDraft } from './reading/read-stored.ts'
import { Sequence } from './segments.ts'
import { ListSnapshot } from './snapshot.ts'
import { systemMessage, type SystemMessage } from './system-message.ts'

/** A list as JSON. `MessageList.fromJSON` reads it, also when a later version of this package wrote the same format. */
export interface SavedList {
  readonly type: 'message-list'
  readonly version: 1
  readonly threadId?: string
  readonly resourceId?: string
  readonly messages: readonly { readonly source: MessageSource; readonly message: AgentMessage }[]
  readonly systemMessages: readonly SystemMessage[]
}

const complete = z.object({
  id: z.string().min(1),
  role: z.enum(['user', 'assistant']),
  createdAt: z.string(),
  content: z.object({ format: z.literal(2) }),
})
const version = z.object({ type: z.literal('message-list'), version: z.number().int().positive() })

const schema = z.object({
  threadId: z.string().optional(),
  resourceId: z.string().optional(),
  messages: z.array(
    z.object({
      source: z.enum(['input', 'response', 'memory', 'context']),
      message: z.custom<AgentMessage>(value => typeof value === 'object' && value !== null),
    }),
  ),
  systemMessages: z.array(z.custom<SystemMessage>(value => typeof value === 'object' && value !== null)),
})

/** Writes a snapshot. The messages in it are the stored ones themselves. */
export function savedList(
  snapshot: ListSnapshot,
  home: { readonly threadId: string | undefined; readonly resourceId: string | undefined },
): SavedList {
  const { threadId, resourceId } = home
  return frozen<SavedList>({
    type: 'message-list',
    version: 1,
    threadId,
    resourceId,
    messages: Object.freeze(
      snapshot.sequence.segments.flatMap(segment =>
        segment.messages.map((message, index) => Object.freeze({ source: segment.sources[index]!, message })),
      ),
    ),
    systemMessages: snapshot.systemMessages,
  })
}

/** What a saved list says: the state, and whose it is. */
export interface ReadList {
  readonly snapshot: ListSnapshot
  readonly threadId?: string | undefined
  readonly resourceId?: string | undefined
}

/** Reads what `savedList` wrote, as a value or as its text. Throws: `unsupported-version`, and `invalid-json` with the path. */
export function readSavedList(saved: unknown): ReadList {
  const value = typeof saved === 'string' ? parsed(saved) : saved
  try {
    const head = check(version, value, 'list')
    if (head.version > 1) {
      throw new MessageListError(
        'unsupported-version',
        `The saved list has version ${head.version}, and this package reads version 1. Update @lockstep/message-list.`,
      )
    }
    const { threadId, resourceId, messages, systemMessages } = check(schema, value, 'list')
    const instructions = systemMessages.map((message, index) => systemMessage(message, `list.systemMessages[${index}]`))
    return {
      snapshot: new ListSnapshot(sequenceOf(messages), Object.freeze(instructions), undefined),
      threadId,
      resourceId,
    }
  } catch (cause) {
    if (!MessageListError.isInstance(cause) || cause.code === 'unsupported-version') throw cause
    throw new MessageListError('invalid-json', `This is not a saved message list: ${cause.message}`, {
      path: cause.path,
      cause,
    })
  }
}

/** A saved message says everything itself. */
const nowhere: Home = { threadId: undefined, resourceId: undefined, generateId: () => '', now: () => new Date(0) }

function sequenceOf(entries: SavedList['messages']): Sequence {
  let sequence = new Sequence()
  const ids = new Set<string>()
  let start = 0
  for (const [index, { source, message }] of entries.entries()) {
    if (ids.has(message.id))
      throw new MessageListError(
        'duplicate-id',
        `list.messages[${index}] has the id "${message.id}" of a message before it.`,
        { path: `list.messages[${index}]` },
      )
    ids.add(message.id)
    if (entries[index + 1]?.source === source) continue
    const messages = entries
      .slice(start, index + 1)
      .map((entry, offset) => savedMessage(entry.message, `list.messages[${start + offset}].message`))
    sequence = sequence.splice(sequence.length, 0, { messages, source })
    start = index + 1
  }
  return sequence
}

function savedMessage(message: AgentMessage, path: string): AgentMessage {
  if (isStored(message)) return message
  const copied = check(complete, frozenJson(message, path), path)
  return settle(storedDraft(copied, path), copied.id, nowhere)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MessageListError(
      'invalid-json',
      `The saved list is not JSON (${text.length} characters, beginning ${JSON.stringify(text.slice(0, 40))}). Pass what JSON.stringify(list) wrote, complete.`,
      { cause },
    )
  }
}
