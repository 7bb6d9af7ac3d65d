// UI messages on their way in: those of the AI SDK 5, 6 and 7, and those of the AI SDK 4 with their older fields.
import { z } from 'zod'
import { MessageListError } from './errors.ts'
import { frozenJson } from './frozen-json.ts'
import type { MessageDraft, Reading } from './message-draft.ts'
import { check } from './part-schema.ts'
import { legacyAttachment, legacyTool, readParts } from './read-parts.ts'
import { splitAtSteering } from './steering.ts'

type Given = { readonly [key: string]: unknown }

const envelope = z.looseObject({
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})

/** Reads one UI message. Throws: `invalid-message` and `ambiguous-message`, naming the path. */
export function readUI(message: Given, path: string): readonly Reading[] {
  const { createdAt, metadata } = check(envelope, message, path)
  const noted = { ...olderNotes(message), ...metadata }
  const draft: MessageDraft = {
    ...(message['id'] === undefined ? {} : { id: message['id'] as string }),
    role: message['role'] as MessageDraft['role'],
    ...(createdAt == null ? {} : { createdAt }),
    parts: readParts(partsOf(message, path), `${path}.parts`),
    ...(metadata == null && Object.keys(noted).length === 0
      ? {}
      : { metadata: Object.keys(olderNotes(message)).length === 0 ? metadata! : Object.freeze(noted) }),
  }
  return splitAtSteering(draft, path)
}

/** What the AI SDK 4 kept beside the content has its place in the metadata today. */
function olderNotes({ annotations, data }: Given): Given {
  return { ...(annotations === undefined ? {} : { annotations }), ...(data === undefined ? {} : { data }) }
}

function partsOf(message: Given, path: string): readonly unknown[] {
  const given = message['parts'] as readonly Given[] | undefined
  const content = message['content']
  const attachments = listOf(message['experimental_attachments']).map(legacyAttachment)
  if (given !== undefined) {
    refuseContradiction(given, content, path)
    return attachments.length === 0 ? given : (frozenJson([...given, ...attachments], path) as readonly Given[])
  }
  const parts: Given[] = []
  if (typeof message['reasoning'] === 'string') parts.push({ type: 'reasoning', text: message['reasoning'] })
  for (const [index, invocation] of listOf(message['toolInvocations']).entries())
    parts.push(legacyTool({}, invocation, `${path}.toolInvocations[${index}]`))
  if (content !== '' || parts.length + attachments.length === 0) parts.push({ type: 'text', text: content })
  return frozenJson([...parts, ...attachments], path) as readonly Given[]
}

/** In the AI SDK 4, `content` repeats the text of the parts. Where it says something else, nobody can know which is meant. */
function refuseContradiction(parts: readonly Given[], content: unknown, path: string): void {
  if (typeof content !== 'string' || content === '') return
  const texts = parts.filter(part => part['type'] === 'text').map(part => String(part['text']))
  if (texts.join('') === content || texts.at(-1) === content || texts.join('\n') === content) return
  throw new MessageListError(
    'ambiguous-message',
    `${path} has a content that is not the text of its parts. Keep the one that is meant.`,
    { path },
  )
}

function listOf(value: unknown): readonly Given[] {
  return Array.isArray(value) ? (value as readonly Given[]) : []
}
