// Stored messages on their way in: ours, and those of Mastra, which share the envelope and differ in some parts.
import type { ProviderMetadata } from 'ai'
import { z } from 'zod'
import { MessageListError } from '../errors.ts'
import { frozenJson, shareEqual, type Frozen } from '../frozen-json.ts'
import { isStored, storedMessage, withParts, type AgentMessage, type MessagePart } from '../message.ts'
import type { MessageDraft, Reading } from './message-draft.ts'
import { check } from './part-schema.ts'
import { legacyParts, readPart, readParts } from './read-parts.ts'
import { splitAtSteering } from '../steering.ts'

type Given = { readonly [key: string]: unknown }

const envelope = z.object({
  role: z.enum(['user', 'assistant']),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  threadId: z.string().nullish(),
  resourceId: z.string().nullish(),
  content: z.object({
    parts: z.array(z.unknown()),
    metadata: z.record(z.string(), z.unknown()).optional(),
    providerMetadata: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  }),
})

/** Reads one stored message. Throws: `invalid-message`, naming the path. */
export function readStored(message: Given, path: string): readonly Reading[] {
  if (isStored(message)) return [{ type: 'message', draft: draftOf(message), stored: message, path }]
  return splitAtSteering(storedDraft(message, path), path)
}

/** Reads one stored message, as one message. Throws: `invalid-message`, naming the path. */
export function storedDraft(message: Given, path: string): MessageDraft {
  const { createdAt, threadId, resourceId, content } = check(envelope, message, path)
  return {
    id: message['id'] as string | undefined,
    role: message['role'] as MessageDraft['role'],
    createdAt,
    threadId: threadId ?? undefined,
    resourceId: resourceId ?? undefined,
    parts: partsOf(content, `${path}.content`),
    metadata: content.metadata,
    providerMetadata: content.providerMetadata as Frozen<ProviderMetadata> | undefined,
  }
}

function draftOf({ role, content, ...envelopeFields }: AgentMessage): MessageDraft {
  const { parts, metadata, providerMetadata } = content
  return { ...envelopeFields, role: role as MessageDraft['role'], parts, metadata, providerMetadata }
}

/** `next` with everything that it has in common with `base` taken from there; `base` itself when they say the same. */
export function sharedMessage(base: AgentMessage, next: AgentMessage): AgentMessage {
  const shared = shareEqual(base, next)
  return shared === base || shared === next ? shared : storedMessage(shared, shared.content, { base })
}

/** The fields in which an older message repeats its parts count only where there are no parts. */
function partsOf(content: Given, path: string): readonly MessagePart[] {
  const parts = content['parts'] as readonly unknown[]
  const older = parts.length === 0 ? legacyParts(content) : []
  return readParts(older.length === 0 ? parts : (frozenJson(older, path) as readonly unknown[]), `${path}.parts`)
}

/**
 * Makes a stored message of one that a recipe or patches have made from a stored one: what is new is copied, checked
 * and frozen, what is not keeps its identity, and a message in which nothing changed is returned itself.
 *
 * Throws: `invalid-recipe` when the id changed; `invalid-message` and `unsafe-data`, naming the path.
 */
export function restored(base: AgentMessage, edited: AgentMessage): AgentMessage {
  const path = `message "${base.id}"`
  const { content, ...fields } = edited
  if (fields.id !== base.id) {
    throw new MessageListError(
      'invalid-recipe',
      `${path} cannot become "${String(fields.id)}": an id is for life. Remove the message and add another one.`,
      { path },
    )
  }
  if (!Array.isArray(content?.parts)) {
    throw new MessageListError(
      'invalid-message',
      `${path} has no content.parts left. To empty it, leave an empty array.`,
      { path },
    )
  }
  const parts = restoredParts(base.content.parts, content.parts, `${path}.content.parts`)
  if (isSameAround(base, edited)) return parts === base.content.parts ? base : withParts(base, parts)
  const { parts: _, ...noted } = content
  const rest = frozenJson({ ...fields, content: { ...noted, parts: [] } }, path) as unknown as AgentMessage
  const { createdAt = base.createdAt } = check(envelope, rest, path)
  const metadata = shareEqual(base.content.metadata, rest.content.metadata)
  const providerMetadata = shareEqual(base.content.providerMetadata, rest.content.providerMetadata)
  const same =
    parts === base.content.parts &&
    metadata === base.content.metadata &&
    providerMetadata === base.content.providerMetadata &&
    rest.role === base.role &&
    createdAt === base.createdAt &&
    rest.threadId === base.threadId &&
    rest.resourceId === base.resourceId
  return same ? base : storedMessage({ ...rest, createdAt }, { parts, metadata, providerMetadata }, { base })
}

/** Whether everything but the parts is what it was: then there is nothing else to check. */
function isSameAround(base: AgentMessage, edited: AgentMessage): boolean {
  return hasSameFields(base, edited, 'content') && hasSameFields(base.content, edited.content, 'parts')
}

function hasSameFields(base: object, edited: object, except: string): boolean {
  const keys = Object.keys(edited)
  const isSame = (key: string) =>
    key === except || (base as Record<string, unknown>)[key] === (edited as Record<string, unknown>)[key]
  return keys.length === Object.keys(base).length && keys.every(isSame)
}

/** Reads parts that are to stand at the end of a message. Throws as `restored` does. */
export function partsToAppend(base: AgentMessage, parts: readonly unknown[]): readonly MessagePart[] {
  const { length } = base.content.parts
  const read: MessagePart[] = []
  for (let index = 0; index < parts.length; index++) {
    const path = `message "${base.id}".content.parts[${length + index}]`
    read.push(...readPart(frozenJson(parts[index], path), path))
  }
  return read
}

function restoredParts(
  stored: readonly MessagePart[],
  edited: readonly MessagePart[],
  path: string,
): readonly MessagePart[] {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const before = [...stored]
  const parts: MessagePart[] = []
  for (let index = 0; index < edited.length; index++) {
    const given = edited[index]!
    if (given === before[index] || (Object.isFrozen(given) && before.includes(given))) parts.push(given)
    else
      for (const part of readPart(frozenJson(given, `${path}[${index}]`), `${path}[${index}]`))
        parts.push(shareEqual(before[parts.length], part))
  }
  return parts.length === before.length && parts.every((part, index) => part === before[index]) ? stored : parts
}
