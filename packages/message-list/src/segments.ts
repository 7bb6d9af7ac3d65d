// The order of the messages: a frozen sequence in segments of bounded size, so that a change copies one segment and a
// list of segments, however long the conversation is. What is derived from messages is kept with their segment.
import type { AgentMessage, MessageSource } from './message.ts'

/** Copying this many pointers costs a tenth of a microsecond; a conversation of 20,000 messages has 160 segments. */
const segmentSize = 128

/** A run of neighbouring messages that never changes: an edit puts another segment in its place. */
export class Segment {
  readonly messages: readonly AgentMessage[]
  readonly sources: readonly MessageSource[]
  #derived: Map<unknown, unknown> | undefined
  #offsets: Map<string, number> | undefined
  #firstSaid: number | undefined

  constructor(messages: readonly AgentMessage[], sources: readonly MessageSource[]) {
    this.messages = messages
    this.sources = sources
  }

  /** The place of a message in the segment, or -1. */
  offsetOf(id: string): number {
    this.#offsets ??= new Map(this.messages.map((message, offset) => [message.id, offset]))
    return this.#offsets.get(id) ?? -1
  }

  /** The place of the first message that this run has said or was told, or -1. */
  get firstSaid(): number {
    return (this.#firstSaid ??= this.sources.findIndex(source => source === 'input' || source === 'response'))
  }

  /** A value that is made of these messages, and made once. */
  derive<T>(key: unknown, make: (segment: Segment) => T): T {
    const derived = (this.#derived ??= new Map())
    const known = derived.get(key)
    if (known !== undefined || derived.has(key)) return known as T
    const value = make(this)
    derived.set(key, value)
    return value
  }
}

/** Messages to put into a sequence, all of one source. */
export interface Insertion {
  readonly messages: readonly AgentMessage[]
  readonly source: MessageSource
}

/** An immutable sequence of messages with their sources. Every operation returns a new one and shares what it can. */
export class Sequence {
  readonly segments: readonly Segment[]
  readonly length: number
  /** The position of each segment's first message. */
  readonly #starts: readonly number[]
  /** Where each id was last seen, by any sequence of this family. It is checked on every use; an id not in it is new. */
  readonly #hints: Map<string, number>

  constructor(
    segments: readonly Segment[] = [],
    hints: Map<string, number> = new Map(),
    starts: readonly number[] = startsOf(segments),
  ) {
    this.segments = segments
    this.length = segments.length === 0 ? 0 : starts.at(-1)! + segments.at(-1)!.messages.length
    this.#starts = starts
    this.#hints = hints
  }

  at(position: number): AgentMessage | undefined {
    const index = this.#segmentAt(position)
    return this.segments[index]?.messages[position - this.#start(index)]
  }

  sourceAt(position: number): MessageSource | undefined {
    const index = this.#segmentAt(position)
    return this.segments[index]?.sources[position - this.#start(index)]
  }

  /** The position of a message, or -1. Constant for new ids and where nothing moved, else a look into each segment. */
  positionOf(id: string): number {
    const hint = this.#hints.get(id)
    if (hint === undefined) return -1
    if (this.at(hint)?.id === id) return hint
    for (const [index, segment] of this.segments.entries()) {
      const offset = segment.offsetOf(id)
      if (offset < 0) continue
      this.#hints.set(id, this.#start(index) + offset)
      return this.#start(index) + offset
    }
    return -1
  }

  /** The position of the first message that this run has said or was told, or the length: memory stands before it. */
  firstSaid(): number {
    for (let index = 0; index < this.segments.length; index++) {
      const offset = this.segments[index]!.firstSaid
      if (offset >= 0) return this.#start(index) + offset
    }
    return this.length
  }

  /** Takes messages out at a position and puts others in. */
  splice(position: number, deleteCount: number, { messages, source }: Insertion): Sequence {
    for (let offset = 0; offset < messages.length; offset++) this.#hints.set(messages[offset]!.id, position + offset)
    const end = position + deleteCount
    const first = this.#segmentForWriting(position)
    const last = deleteCount > 0 ? this.#segmentAt(end - 1) : first
    const [head, tail] = [this.segments[first], this.segments[last]]
    const from = position - this.#start(first)
    const to = end - this.#start(last)
    const between = (head?.messages.slice(0, from) ?? []).concat(messages, tail?.messages.slice(to) ?? [])
    const given = messages.map(() => source)
    const sources = (head?.sources.slice(0, from) ?? []).concat(given, tail?.sources.slice(to) ?? [])
    const segments = this.segments.toSpliced(first, last - first + 1, ...cut(between, sources))
    // Messages at the end move no segment, unless they begin one.
    const isSettled = first === this.segments.length - 1 && segments.length === this.segments.length
    return new Sequence(segments, this.#hints, isSettled ? this.#starts : undefined)
  }

  /** Puts another message, another source, or both at a position. */
  set(position: number, message: AgentMessage, source: MessageSource): Sequence {
    this.#hints.set(message.id, position)
    const index = this.#segmentAt(position)
    const { messages, sources } = this.segments[index]!
    const offset = position - this.#start(index)
    if (position === this.length - 1 && offset > 0) return this.#apart(message, source)
    const segment = new Segment(
      messages.with(offset, message),
      sources[offset] === source ? sources : sources.with(offset, source),
    )
    return new Sequence(this.segments.with(index, segment), this.#hints, this.#starts)
  }

  /**
   * Puts another message at the end, in a segment of its own: the message that changes is most often the one that goes on
   * growing. What was before it fills up the segment before.
   */
  #apart(message: AgentMessage, source: MessageSource): Sequence {
    const segments = [...this.segments]
    const { messages, sources } = segments.pop()!
    const before = segments.at(-1)
    const isRoom = before !== undefined && before.messages.length + messages.length - 1 <= segmentSize
    if (isRoom) segments.pop()
    segments.push(
      new Segment(
        [...(isRoom ? before.messages : []), ...messages.slice(0, -1)],
        [...(isRoom ? before.sources : []), ...sources.slice(0, -1)],
      ),
      new Segment([message], [source]),
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
}

function startsOf(segments: readonly Segment[]): readonly number[] {
  let start = 0
  return segments.map(segment => {
    const from = start
    start += segment.messages.length
    return from
  })
}

function cut(messages: readonly AgentMessage[], sources: readonly MessageSource[]): Segment[] {
  if (messages.length === 0) return []
  if (messages.length <= segmentSize) return [new Segment(messages, sources)]
  const size = Math.ceil(messages.length / Math.ceil(messages.length / segmentSize))
  const segments: Segment[] = []
  for (let start = 0; start < messages.length; start += size) {
    segments.push(new Segment(messages.slice(start, start + size), sources.slice(start, start + size)))
  }
  return segments
}
