// Recognising a client that sends its history again, with or without the ids that the list knows.
import { isToolPart, type AgentMessage, type MessagePart } from '../message.ts'
import type { Reading } from './message-draft.ts'

type MessageReading = Extract<Reading, { type: 'message' }>

/**
 * Gives readings that repeat messages of the list the ids of those messages. What is recognised keeps its order: the
 * longest common sequence counts, so a "yes" said twice stays two messages. Ids that the list knows are left alone.
 */
export function reconciled(readings: readonly Reading[], messages: readonly AgentMessage[]): readonly Reading[] {
  const known = new Set(messages.map(message => message.id))
  const claimed = new Set(readings.map(idOf))
  const fresh = readings.filter(isUnknown)
  const candidates = messages.filter(message => !claimed.has(message.id))
  const ids = matches(
    fresh.map(reading => keyOf(reading.draft.role, reading.draft.parts)),
    candidates,
  )
  let next = 0
  return readings.map(reading => {
    const id = isUnknown(reading) ? ids[next++] : undefined
    return id === undefined ? reading : withId(reading as MessageReading, id)
  })

  function isUnknown(reading: Reading): reading is MessageReading {
    return (
      reading.type === 'message' &&
      reading.continues === undefined &&
      (reading.draft.id === undefined || !known.has(reading.draft.id))
    )
  }
}

function idOf(reading: Reading): string | undefined {
  return reading.type === 'message' ? reading.draft.id : undefined
}

function withId({ stored: _, isStep: _isStep, ...reading }: MessageReading, id: string): Reading {
  return { ...reading, draft: { ...reading.draft, id } }
}

/** The id of the candidate that each key stands for, by the longest sequence that both have in common (Hunt and Szymanski). */
function matches(keys: readonly string[], candidates: readonly AgentMessage[]): readonly (string | undefined)[] {
  const places = new Map<string, number[]>()
  for (const [place, message] of candidates.entries()) {
    const key = keyOf(message.role, message.content.parts)
    const known = places.get(key)
    if (known === undefined) places.set(key, [place])
    else known.push(place)
  }
  interface Link {
    readonly key: number
    readonly place: number
    readonly previous: Link | undefined
  }
  const ends: Link[] = []
  for (const [index, key] of keys.entries()) {
    for (const place of (places.get(key) ?? []).toReversed()) {
      const length = firstNotBefore(ends, place)
      ends[length] = { key: index, place, previous: ends[length - 1] }
    }
  }
  const ids: (string | undefined)[] = keys.map(() => undefined)
  for (let link = ends.at(-1); link !== undefined; link = link.previous) ids[link.key] = candidates[link.place]!.id
  return ids
}

function firstNotBefore(ends: readonly { readonly place: number }[], place: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]!.place < place) low = middle + 1
    else high = middle
  }
  return low
}

/** What a message says, without what changes on the way through a client: ids, states, provider metadata. */
function keyOf(role: string, parts: readonly MessagePart[]): string {
  return JSON.stringify([role, ...parts.map(partKey).filter(key => key !== undefined)])
}

function partKey(part: MessagePart): unknown {
  if (isToolPart(part)) return ['tool', part.toolCallId]
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [part.type, part.text]
    case 'file':
    case 'reasoning-file':
      return [part.type, part.url, 'providerReference' in part ? part.providerReference : undefined]
    default:
      return undefined
  }
}
