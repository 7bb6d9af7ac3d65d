// Edits that never enter a list: they shape what is read from it, for one step.
import type { Edit } from './change.ts'
import { MessageListError } from './errors.ts'
import type { AgentMessage } from './message.ts'

type Placement = Extract<Edit, { type: 'insert' | 'order' }>

/** Edits laid over a list without entering it. A frozen value: extending it makes another one. */
export interface Overlay {
  readonly hidden: ReadonlySet<string>
  readonly replaced: ReadonlyMap<string, AgentMessage>
  /** What was put in and what was moved, in the order in which it happened. */
  readonly placed: readonly Placement[]
}

const empty: Overlay = Object.freeze({ hidden: new Set<string>(), replaced: new Map<string, AgentMessage>(), placed: Object.freeze([]) })

/**
 * Lays edits over a list, on top of those of another overlay. Messages in the edits are stored ones, as
 * `returnedEdits` makes them.
 *
 * Throws: `invalid-edit` for patches and system messages, which an overlay cannot hold.
 */
export function overlayOf(edits: readonly Edit[], previous: Overlay = empty): Overlay {
  if (edits.length === 0) return previous
  const draft = { hidden: new Set(previous.hidden), replaced: new Map(previous.replaced), placed: [...previous.placed] }
  for (const edit of edits) lay(draft, edit)
  return Object.freeze({ ...draft, placed: Object.freeze(draft.placed) })
}

interface OverlayDraft {
  readonly hidden: Set<string>
  readonly replaced: Map<string, AgentMessage>
  readonly placed: Placement[]
}

function lay(overlay: OverlayDraft, edit: Edit): void {
  switch (edit.type) {
    case 'insert':
      if (overlay.hidden.has(edit.message.id)) replace(overlay, edit.message)
      else if (!replaceAdded(overlay, edit.message)) overlay.placed.push(Object.freeze(edit))
      return
    case 'replace':
      if (!replaceAdded(overlay, edit.message)) replace(overlay, edit.message)
      return
    case 'remove':
      return hide(overlay, edit.id)
    case 'order':
      if (overlay.placed.at(-1)?.type === 'order') overlay.placed.splice(-1, 1, ...merged(overlay.placed.at(-1) as Placement, edit))
      else overlay.placed.push(Object.freeze(edit))
      return
    default:
      throw new MessageListError('invalid-edit', `An overlay cannot hold an edit of the type "${edit.type}". Replace the message instead of patching it, and pass system messages to the prompt.`)
  }
}

function replace(overlay: OverlayDraft, message: AgentMessage): void {
  overlay.replaced.set(message.id, message)
  overlay.hidden.delete(message.id)
}

/** A later order of the same messages, or of more, is all that counts. */
function merged(earlier: Placement, order: Placement & { readonly type: 'order' }): readonly Placement[] {
  const names = new Set(order.ids)
  return earlier.type === 'order' && earlier.ids.every(id => names.has(id)) ? [Object.freeze(order)] : [earlier, Object.freeze(order)]
}

function addedAt(overlay: OverlayDraft, id: string): number {
  return overlay.placed.findIndex(placement => placement.type === 'insert' && placement.message.id === id)
}

function replaceAdded(overlay: OverlayDraft, message: AgentMessage): boolean {
  const index = addedAt(overlay, message.id)
  const placement = overlay.placed[index]
  if (placement?.type !== 'insert') return false
  overlay.placed[index] = Object.freeze({ ...placement, message })
  return true
}

/** What stood next to an addition that goes away stands next to its neighbour. */
function hide(overlay: OverlayDraft, id: string): void {
  const index = addedAt(overlay, id)
  const gone = overlay.placed[index]
  if (gone?.type !== 'insert') {
    overlay.hidden.add(id)
    overlay.replaced.delete(id)
    return
  }
  overlay.placed.splice(index, 1)
  for (const [position, placement] of overlay.placed.entries()) {
    if (placement.type !== 'insert' || placement.after !== id) continue
    const { after: _, ...rest } = placement
    overlay.placed[position] = Object.freeze({ ...rest, ...(gone.after === undefined ? {} : { after: gone.after }), ...(gone.before === undefined ? {} : { before: gone.before }) })
  }
}

/**
 * The messages with the overlay on them; the same array when the overlay is empty. What the overlay replaced or hid
 * stays so, whatever the list does to it; what it added stays where it was put; what the list gains comes at the end.
 *
 * Cost: pointers.
 */
export function applyOverlay(messages: readonly AgentMessage[], overlay: Overlay): readonly AgentMessage[] {
  const { hidden, replaced, placed } = overlay
  if (hidden.size + replaced.size + placed.length === 0) return messages
  let result = replaced.size === 0 ? [...messages] : messages.map(message => replaced.get(message.id) ?? message)
  for (const placement of placed) {
    if (placement.type === 'order') result = ordered(result, placement.ids)
    else result.splice(placeOf(result, placement), 0, placement.message)
  }
  return Object.freeze(hidden.size === 0 ? result : result.filter(message => !hidden.has(message.id)))
}

function placeOf(messages: readonly AgentMessage[], { after, before }: { readonly after?: string; readonly before?: string }): number {
  const left = after === undefined ? -1 : messages.findLastIndex(message => message.id === after)
  if (left >= 0) return left + 1
  const right = before === undefined ? -1 : messages.findIndex(message => message.id === before)
  return right >= 0 ? right : messages.length
}

function ordered(messages: readonly AgentMessage[], ids: readonly string[]): AgentMessage[] {
  const names = new Set(ids)
  const named = new Map(messages.filter(message => names.has(message.id)).map(message => [message.id, message]))
  const inOrder = ids.flatMap(id => named.get(id) ?? [])
  let next = 0
  return messages.map(message => (named.has(message.id) ? inOrder[next++]! : message))
}
