// Edits that never enter a list: they shape what is read from it, for one step.
import type { Edit } from '../editing/change.ts'
import { MessageListError } from '../errors.ts'
import type { AgentMessage } from '../message.ts'
import type { Sequence } from '../segments.ts'

/** An edit that can be laid over a list. */
export type OverlayEdit = Extract<Edit, { type: 'insert' | 'replace' | 'remove' | 'order' }>

/** Edits laid over a list without entering it: a frozen value, and plain data. Extending it makes another one. */
export interface Overlay {
  /** What was replaced, then what was put in and moved, in the order in which it happened, then what was hidden. */
  readonly edits: readonly OverlayEdit[]
}

type Placement = Extract<OverlayEdit, { type: 'insert' | 'order' }>

interface Layers {
  readonly replaced: Map<string, AgentMessage>
  readonly placed: Placement[]
  /** Where in `placed` a message was put in. */
  readonly added: Map<string, number>
  readonly hidden: Set<string>
}

const empty: Overlay = Object.freeze({ edits: Object.freeze([]) })

const layersOfOverlay = new WeakMap<Overlay, Layers>()

/**
 * Lays edits over a list, on top of those of another overlay. Messages in the edits are stored ones, as
 * `returnedEdits` makes them.
 *
 * Throws: `invalid-edit` for patches and system messages, which an overlay cannot hold.
 */
export function overlayOf(edits: readonly Edit[], previous: Overlay = empty): Overlay {
  if (edits.length === 0) return previous
  const layers = layersOf(previous)
  const next: Layers = {
    replaced: new Map(layers.replaced),
    placed: [...layers.placed],
    added: new Map(layers.added),
    hidden: new Set(layers.hidden),
  }
  for (const edit of edits) lay(next, edit)
  const replacements = [...next.replaced.values()].map(message => Object.freeze({ type: 'replace' as const, message }))
  const removals = [...next.hidden].map(id => Object.freeze({ type: 'remove' as const, id }))
  const overlay: Overlay = Object.freeze({ edits: Object.freeze([...replacements, ...next.placed, ...removals]) })
  layersOfOverlay.set(overlay, next)
  return overlay
}

/** The edits of an overlay, sorted for applying them. An overlay that came as data is sorted when it is first used. */
function layersOf(overlay: Overlay): Layers {
  let layers = layersOfOverlay.get(overlay)
  if (layers === undefined) {
    layers = { replaced: new Map(), placed: [], added: new Map(), hidden: new Set() }
    for (const edit of overlay.edits) lay(layers, edit)
    layersOfOverlay.set(overlay, layers)
  }
  return layers
}

function lay(layers: Layers, edit: Edit): void {
  switch (edit.type) {
    case 'insert':
      return insert(layers, edit)
    case 'replace':
      return put(layers, edit.message)
    case 'remove':
      // An addition that is hidden keeps its place: others may have been put next to it.
      layers.hidden.add(edit.id)
      layers.replaced.delete(edit.id)
      return
    case 'order':
      return order(layers, edit)
    default:
      throw new MessageListError(
        'invalid-edit',
        `An overlay cannot hold an edit of the type "${edit.type}". Replace the message instead of patching it, and pass system messages to the prompt.`,
      )
  }
}

/** A message that comes back stands where it stood. */
function insert(layers: Layers, edit: Extract<OverlayEdit, { type: 'insert' }>): void {
  const { id } = edit.message
  if (layers.hidden.has(id) || layers.added.has(id)) return put(layers, edit.message)
  layers.added.set(id, layers.placed.length)
  layers.placed.push(Object.freeze(edit))
}

function put({ replaced, placed, added, hidden }: Layers, message: AgentMessage): void {
  hidden.delete(message.id)
  const place = added.get(message.id)
  if (place === undefined) replaced.set(message.id, message)
  else placed[place] = Object.freeze({ ...(placed[place] as Extract<OverlayEdit, { type: 'insert' }>), message })
}

/** A later order of the same messages, or of more, is all that counts. */
function order(layers: Layers, edit: Extract<OverlayEdit, { type: 'order' }>): void {
  const earlier = layers.placed.at(-1)
  const names = new Set(edit.ids)
  if (earlier?.type === 'order' && earlier.ids.every(id => names.has(id))) layers.placed.pop()
  layers.placed.push(Object.freeze({ type: 'order', ids: Object.freeze([...edit.ids]) }))
}

/**
 * The messages with the overlay on them; the same array when the overlay is empty. What the overlay replaced or hid
 * stays so, whatever the list does to it; what it added stays where it was put; what the list gains comes at the end.
 *
 * Cost: pointers.
 */
export function applyOverlay(messages: readonly AgentMessage[], overlay: Overlay): readonly AgentMessage[] {
  if (overlay.edits.length === 0) return messages
  const { replaced, placed, hidden } = layersOf(overlay)
  let result = [...messages]
  if (replaced.size > 0) result = result.map(message => replaced.get(message.id) ?? message)
  let last = -1
  for (const placement of placed) {
    if (placement.type === 'order') {
      result = ordered(result, placement.ids)
      continue
    }
    // A run of additions stands one after the other: the last place is where the next one is looked for first.
    const positionOf = (id: string): number =>
      result[last]?.id === id ? last : result.findIndex(message => message.id === id)
    last = placeOf(placement, positionOf, result.length)
    result.splice(last, 0, placement.message)
  }
  return Object.freeze(hidden.size === 0 ? result : result.filter(message => !hidden.has(message.id)))
}

function placeOf(
  { after, before }: Extract<Placement, { type: 'insert' }>,
  positionOf: (id: string) => number,
  length: number,
): number {
  const left = after === undefined ? -1 : positionOf(after)
  if (left >= 0) return left + 1
  const right = before === undefined ? -1 : positionOf(before)
  return right >= 0 ? right : length
}

function ordered(messages: readonly AgentMessage[], ids: readonly string[]): AgentMessage[] {
  const names = new Set(ids)
  const named = new Map(messages.filter(message => names.has(message.id)).map(message => [message.id, message]))
  const inOrder = ids.flatMap(id => named.get(id) ?? [])
  let next = 0
  return messages.map(message => (named.has(message.id) ? inOrder[next++]! : message))
}

/** Editing more messages than this one by one costs more than converting all of them anew. */
const fewEdits = 64

/**
 * A sequence with the overlay on it, which shares the segments that the overlay does not touch. Undefined where laying
 * the overlay over the array is cheaper.
 */
export function overlaidSequence(sequence: Sequence, overlay: Overlay): Sequence | undefined {
  const { replaced, placed, hidden } = layersOf(overlay)
  const additions = placed.filter(placement => placement.type === 'insert')
  if (overlay.edits.length > fewEdits || additions.length < placed.length) return undefined
  let result = sequence
  for (const message of replaced.values()) {
    const position = result.positionOf(message.id)
    if (position >= 0) result = result.set(position, message, result.sourceAt(position)!)
  }
  for (const addition of additions) {
    const { message, source } = addition
    const position = placeOf(addition, id => result.positionOf(id), result.length)
    result = result.splice(position, 0, { messages: [message], source })
  }
  for (const id of hidden) {
    const position = result.positionOf(id)
    if (position >= 0) result = result.splice(position, 1, { messages: [], source: 'context' })
  }
  return result
}
