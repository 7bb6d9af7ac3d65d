// The order of the messages: a frozen sequence in segments of bounded size, so that a change copies one segment and a
// list of segments, however long the conversation is. What is derived from messages is cached by segment.
import type { AgentMessage, MessageSource } from './message.ts'

/** Copying this many pointers costs a tenth of a microsecond; a conversation of 20,000 messages has 160 segments. */
const segmentSize = 128

/** How far a message is looked for around the place where it was last seen, before the whole sequence is searched. */
const driftLimit = 32

/** A run of neighbouring messages that never changes: an edit puts another segment in its place. */
export class Segment {
  readonly messages: readonly AgentMessage[]
  readonly sources: readonly MessageSource[]

  constructor(messages: readonly AgentMessage[], sources: readonly MessageSource[]) {
    this.messages = messages
    this.sources = sources
  }

  has(source: MessageSource): boolean {
    return this.sources.includes(source)
  }
}

/** An immutable sequence of messages with their sources. Every operation returns a new one and shares what it can. */
export class Sequence {
  readonly segments: readonly Segment[]
  readonly length: number
  /** The position of each segment's first message. */
  readonly #starts: readonly number[]
  /** Where each id was last seen, by any sequence of this family. A hint: it is checked on every use. */
  readonly #hints: Map<string, number>

  constructor(segments: readonly Segment[] = [], hints: Map<string, number> = new Map()) {
    const starts: number[] = []
    let length = 0
    for (const segment of segments) {
      starts.push(length)
      length += segment.messages.length
    }
    this.segments = segments
    this.length = length
    this.#starts = starts
    this.#hints = hints
  }

  at(position: number): AgentMessage | undefined {
    const index = this.#segmentAt(position)
    return this.segments[index]?.messages[position - (this.#starts[index] ?? 0)]
  }

  sourceAt(position: number): MessageSource | undefined {
    const index = this.#segmentAt(position)
    return this.segments[index]?.sources[position - (this.#starts[index] ?? 0)]
  }

  /** The position of a message, or -1. Constant for ids never seen and for messages that have not moved far. */
  positionOf(id: string): number {
    const hint = this.#hints.get(id)
    if (hint === undefined) return -1
    if (this.at(hint)?.id === id) return hint
    for (let drift = 1; drift <= driftLimit; drift++) {
      if (this.at(hint + drift)?.id === id) return this.#seen(id, hint + drift)
      if (this.at(hint - drift)?.id === id) return this.#seen(id, hint - drift)
    }
    for (const [index, segment] of this.segments.entries()) {
      const offset = segment.messages.findIndex(message => message.id === id)
      if (offset >= 0) return this.#seen(id, this.#start(index) + offset)
    }
    return -1
  }

  /** The position of the first message with one of the sources, or the length. */
  firstOf(sources: ReadonlySet<MessageSource>): number {
    for (const [index, segment] of this.segments.entries()) {
      const offset = segment.sources.findIndex(source => sources.has(source))
      if (offset >= 0) return this.#start(index) + offset
    }
    return this.length
  }

  /** Takes `deleteCount` messages out at a position and puts others in, all with one source. */
  splice(position: number, deleteCount: number, insert: { readonly messages: readonly AgentMessage[]; readonly source: MessageSource }): Sequence {
    for (const [offset, message] of insert.messages.entries()) this.#hints.set(message.id, position + offset)
    const end = position + deleteCount
    const first = this.#segmentForWriting(position)
    const last = deleteCount > 0 ? this.#segmentAt(end - 1) : first
    const head = this.segments[first]
    const tail = this.segments[last]
    const from = position - this.#start(first)
    const to = end - this.#start(last)
    const messages = [...(head?.messages.slice(0, from) ?? []), ...insert.messages, ...(tail?.messages.slice(to) ?? [])]
    const sources = [...(head?.sources.slice(0, from) ?? []), ...insert.messages.map(() => insert.source), ...(tail?.sources.slice(to) ?? [])]
    return new Sequence([...this.segments.slice(0, first), ...cut(messages, sources), ...this.segments.slice(last + 1)], this.#hints)
  }

  /** Puts another message, another source, or both at a position. */
  set(position: number, message: AgentMessage, source: MessageSource): Sequence {
    this.#hints.set(message.id, position)
    const index = this.#segmentAt(position)
    const segment = this.segments[index]!
    const offset = position - this.#start(index)
    const segments = this.segments.slice()
    segments[index] = new Segment(
      segment.messages.with(offset, message),
      segment.sources[offset] === source ? segment.sources : segment.sources.with(offset, source),
    )
    return new Sequence(segments, this.#hints)
  }

  #start(index: number): number {
    return this.#starts[index] ?? this.length
  }

  /** The last segments are asked for most: the search begins at the end. */
  #segmentAt(position: number): number {
    let index = this.segments.length - 1
    while (index > 0 && this.#starts[index]! > position) index--
    return index
  }

  #segmentForWriting(position: number): number {
    if (position < this.length) return this.#segmentAt(position)
    const last = this.segments.length - 1
    return last >= 0 && this.segments[last]!.messages.length < segmentSize ? last : last + 1
  }

  #seen(id: string, position: number): number {
    this.#hints.set(id, position)
    return position
  }
}

function cut(messages: readonly AgentMessage[], sources: readonly MessageSource[]): Segment[] {
  if (messages.length === 0) return []
  const size = Math.ceil(messages.length / Math.ceil(messages.length / segmentSize))
  if (size === messages.length) return [new Segment(messages, sources)]
  const segments: Segment[] = []
  for (let start = 0; start < messages.length; start += size) {
    segments.push(new Segment(messages.slice(start, start + size), sources.slice(start, start + size)))
  }
  return segments
}
