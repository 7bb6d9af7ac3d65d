// A message on its way in: what a format said, before the list decides about id, time and thread.
import type { ProviderMetadata } from 'ai'
import type { Frozen } from '../frozen-json.ts'
import { storedMessage, type AgentMessage, type MessagePart } from '../message.ts'
import type { SystemMessage } from '../system-message.ts'
import type { ToolAddress } from '../editing/tool-place.ts'
import type { ToolChange } from '../editing/tool-state.ts'

/** A message as a format told it. What it did not say is undefined: an update keeps what is stored there. */
export interface MessageDraft {
  readonly id?: string
  readonly role: 'user' | 'assistant'
  readonly createdAt?: string
  readonly threadId?: string
  readonly resourceId?: string
  readonly parts: readonly MessagePart[]
  readonly metadata?: { readonly [key: string]: unknown }
  readonly providerMetadata?: Frozen<ProviderMetadata>
}

/** What one input, or several that belong together, mean for the list. */
export type Reading =
  | {
      readonly type: 'message'
      readonly draft: MessageDraft
      readonly path: string
      /** The message itself, when it is one of ours already. */
      readonly stored?: AgentMessage
      /** It is a further step of the assistant message at the end of the list, if there is one. */
      readonly isStep?: boolean
      /** It is what an assistant message went on to say after a message that was put in between. */
      readonly continues?: { readonly id: string; readonly after: string }
    }
  | { readonly type: 'system'; readonly message: SystemMessage }
  | { readonly type: 'outcome'; readonly of: ToolAddress; readonly change: ToolChange; readonly path: string }

/** What a list contributes to the messages that enter it. */
export interface Home {
  readonly threadId: string | undefined
  readonly resourceId: string | undefined
  readonly generateId: () => string
  readonly now: () => Date
}

/** Makes a stored message of a draft. What the draft does not say, its home adds. */
export function settle(draft: MessageDraft, id: string, home: Home): AgentMessage {
  const envelope = {
    id,
    role: draft.role,
    createdAt: draft.createdAt ?? timeText(home.now()),
    threadId: draft.threadId ?? home.threadId,
    resourceId: draft.resourceId ?? home.resourceId,
  }
  return storedMessage(envelope, draft)
}

let latest = { ms: Number.NaN, text: '' }

/** The text of a time. Messages that come together share it. */
function timeText(time: Date): string {
  const ms = time.getTime()
  if (ms !== latest.ms) latest = { ms, text: time.toISOString() }
  return latest.text
}

/** What a message becomes by a draft. What the draft does not say stays as it is. */
export function updated(base: AgentMessage, draft: MessageDraft): MessageDraft {
  return {
    id: base.id,
    role: draft.role,
    createdAt: draft.createdAt ?? base.createdAt,
    threadId: draft.threadId ?? base.threadId,
    resourceId: draft.resourceId ?? base.resourceId,
    parts: draft.parts,
    metadata: draft.metadata ?? base.content.metadata,
    providerMetadata: draft.providerMetadata ?? base.content.providerMetadata,
  }
}
