// A change is a value: who wrote, what the edits were, and the edits that take them back.
import type { AgentMessage, MessageSource } from '../message.ts'
import type { SystemMessage } from '../system-message.ts'

/** Who wrote: the id of a processor, `caller`, `model`, and where in the run. */
export interface Author {
  readonly id: string
  readonly hook?: string
  readonly step?: number
}

/** A change inside one message, in immer's form. Paths begin at the message. */
export interface Patch {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: readonly (string | number)[]
  readonly value?: unknown
}

/** One thing to do to a list. Messages are addressed by id, so an edit means the same wherever the message has moved to. */
export type Edit =
  /** Puts a new message after one, or else before one; where neither is there, at the place of its source. */
  | {
      readonly type: 'insert'
      readonly message: AgentMessage
      readonly source: MessageSource
      readonly before?: string
      readonly after?: string
    }
  /** Puts a message in the place of the one with its id. */
  | { readonly type: 'replace'; readonly message: AgentMessage; readonly source?: MessageSource }
  /** Changes something inside a message. */
  | { readonly type: 'patch'; readonly id: string; readonly patches: readonly Patch[]; readonly source?: MessageSource }
  | { readonly type: 'remove'; readonly id: string }
  /** Gives the places that these messages hold to the same messages in this order. Ids that are not there hold none. */
  | { readonly type: 'order'; readonly ids: readonly string[] }
  /** Replaces all system messages. */
  | { readonly type: 'system'; readonly messages: readonly SystemMessage[] }

/** What one author did in one commit. */
export interface Change {
  /** Counts up from 1 within a list. */
  readonly sequence: number
  readonly author: Author
  readonly edits: readonly Edit[]
  /** The edits that take this change back, in the order in which they apply. */
  readonly inverse: readonly Edit[]
  /** The sequence number of the change that this one took back. */
  readonly undoes?: number
}

/** The changes behind a snapshot, newest first. Being linked, they cost nothing to keep and are given back by restoring. */
export interface ChangeLog {
  readonly change: Change
  readonly previous: ChangeLog | undefined
}

/** The ids of the messages that an edit is about. */
export function idsOf(edit: Edit): readonly string[] {
  switch (edit.type) {
    case 'insert':
    case 'replace':
      return [edit.message.id]
    case 'patch':
    case 'remove':
      return [edit.id]
    case 'order':
      return edit.ids
    case 'system':
      return []
  }
}

/** The changes of a log, oldest first, as far back as `until` (which is not included). */
export function changesOf(log: ChangeLog | undefined, until?: ChangeLog): readonly Change[] {
  const changes: Change[] = []
  for (let entry = log; entry !== undefined && entry !== until; entry = entry.previous)
    changes.push(settled(entry.change))
  return changes.reverse()
}

/** Freezes a change for who asks for it. Most are never asked for, and before that nobody has them to write to. */
function settled(change: Change): Change {
  if (Object.isFrozen(change)) return change
  for (const edits of [change.edits, change.inverse]) {
    for (const edit of edits) {
      if (edit.type === 'patch') settlePatches(edit.patches)
      Object.freeze(edit)
    }
    Object.freeze(edits)
  }
  return Object.freeze(change)
}

function settlePatches(patches: readonly Patch[]): void {
  for (const patch of patches) {
    Object.freeze(patch.path)
    Object.freeze(patch)
  }
  Object.freeze(patches)
}
