// One frozen state of a list, and the difference of two.
import type { ChangeLog } from './editing/change.ts'
import { MessageListError } from './errors.ts'
import type { AgentMessage, MessageSource } from './message.ts'
import { Sequence } from './segments.ts'
import type { SystemMessage } from './system-message.ts'

/** One frozen state of a list. It costs nothing to take, to keep and to go back to. */
export interface Snapshot {
  readonly messages: readonly AgentMessage[]
  readonly systemMessages: readonly SystemMessage[]
}

/** A snapshot as the package sees it. */
export class ListSnapshot implements Snapshot {
  readonly sequence: Sequence
  readonly systemMessages: readonly SystemMessage[]
  readonly log: ChangeLog | undefined
  /** What was derived from this snapshot, by name. Derived values are frozen, so they cannot go stale. */
  #derived: Map<string, unknown> | undefined

  constructor(sequence: Sequence, systemMessages: readonly SystemMessage[], log: ChangeLog | undefined) {
    this.sequence = sequence
    this.systemMessages = systemMessages
    this.log = log
    Object.freeze(this)
  }

  /** The state of a new list. Each list begins its own family of snapshots, which shares what it learns about places. */
  static begin(): ListSnapshot {
    return new ListSnapshot(new Sequence(), Object.freeze([]), undefined)
  }

  get messages(): readonly AgentMessage[] {
    return this.derive('messages', () => {
      const messages: AgentMessage[] = []
      return Object.freeze(
        messages.concat(...(this.sequence.segments.map(segment => segment.messages) as AgentMessage[][])),
      )
    })
  }

  /** The messages of one source. */
  messagesOf(source: MessageSource): readonly AgentMessage[] {
    return this.derive(source, () => {
      const messages: AgentMessage[] = []
      for (const segment of this.sequence.segments) {
        messages.push(
          ...segment.derive(source, ({ sources }) => segment.messages.filter((_, index) => sources[index] === source)),
        )
      }
      return Object.freeze(messages)
    })
  }

  derive<T>(name: string, make: () => T): T {
    const derived = (this.#derived ??= new Map())
    if (!derived.has(name)) derived.set(name, make())
    return derived.get(name) as T
  }
}

/** The snapshot behind the public face. Throws: `unknown-snapshot` for anything else. */
export function listSnapshot(snapshot: Snapshot): ListSnapshot {
  if (snapshot instanceof ListSnapshot) return snapshot
  throw new MessageListError(
    'unknown-snapshot',
    'This is not a snapshot of this copy of the package. Take one with list.snapshot(), or use MessageList.fromJSON() across processes.',
  )
}

/** What is different between two snapshots. Messages that moved are in none of the lists. */
export interface SnapshotDiff {
  readonly added: readonly AgentMessage[]
  readonly removed: readonly AgentMessage[]
  readonly replaced: readonly { readonly before: AgentMessage; readonly after: AgentMessage }[]
  /** Whether messages that both have stand in another order. */
  readonly reordered: boolean
  readonly systemMessages: boolean
}

/**
 * Compares two snapshots by identity.
 *
 * Cost: pointers; the ends that both share are skipped, and nothing inside a message is looked at.
 */
export function diff(before: Snapshot, after: Snapshot): SnapshotDiff {
  const { start, end } = sharedEnds(before.messages, after.messages)
  const from = before.messages.slice(start, before.messages.length - end)
  const to = after.messages.slice(start, after.messages.length - end)
  const left = new Map(from.map(message => [message.id, message]))
  const right = new Set(to.map(message => message.id))
  const kept = to.filter(message => left.has(message.id))
  const order = from.filter(message => right.has(message.id))
  return Object.freeze({
    added: Object.freeze(to.filter(message => !left.has(message.id))),
    removed: Object.freeze(from.filter(message => !right.has(message.id))),
    replaced: Object.freeze(
      kept
        .filter(message => left.get(message.id) !== message)
        .map(message => Object.freeze({ before: left.get(message.id)!, after: message })),
    ),
    reordered: kept.some((message, index) => message.id !== order[index]?.id),
    systemMessages: before.systemMessages !== after.systemMessages,
  })
}

/** How many elements two arrays have in common at the beginning, and after that at the end. */
export function sharedEnds(
  before: readonly unknown[],
  after: readonly unknown[],
): { readonly start: number; readonly end: number } {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const [left, right] = [[...before], [...after]]
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++
  return { start, end }
}
