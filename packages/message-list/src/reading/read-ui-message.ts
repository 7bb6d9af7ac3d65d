// UI messages on their way in: those of the AI SDK 5, 6 and 7, and those of the AI SDK 4 with their older fields.
import { z } from 'zod'
import { MessageListError } from '../errors.ts'
import { frozen, frozenJson } from '../frozen-json.ts'
import type { MessageDraft, Reading } from './message-draft.ts'
import { check } from './part-schema.ts'
import { legacyParts, readParts } from './read-parts.ts'
import { splitAtSteering } from '../steering.ts'

type Given = { readonly [key: string]: unknown }

const envelope = z.object({
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})

/** Reads one UI message. Throws: `invalid-message` and `ambiguous-message`, naming the path. */
export function readUI(message: Given, path: string): readonly Reading[] {
  const { createdAt, metadata } = check(envelope, message, path)
  // What the AI SDK 4 kept beside the content has its place in the metadata today.
  const { annotations, data } = message
  const isOlder = annotations !== undefined || data !== undefined
  const draft: MessageDraft = {
    id: message['id'] as string | undefined,
    role: message['role'] as MessageDraft['role'],
    createdAt: createdAt ?? undefined,
    parts: readParts(partsOf(message, path), `${path}.parts`),
    metadata: isOlder ? frozen({ annotations, data, ...metadata }) : (metadata ?? undefined),
  }
  return splitAtSteering(draft, path)
}

function partsOf(message: Given, path: string): readonly unknown[] {
  const given = message['parts'] as readonly Given[] | undefined
  if (given === undefined) return frozenJson(legacyParts(message), path) as readonly unknown[]
  refuseContradiction(given, message['content'], path)
  const attachments = legacyParts({ experimental_attachments: message['experimental_attachments'] })
  return attachments.length === 0 ? given : (frozenJson([...given, ...attachments], path) as readonly unknown[])
}

/** In the AI SDK 4, `content` repeats the text of the parts. Where it says something else, nobody knows which is meant. */
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
