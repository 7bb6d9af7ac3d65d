// What the versions of a message have in common: the newest of what was made of them. It is kept with the messages
// themselves, where nobody else sees it, and tells which messages are ours.
import type { AgentMessage } from './message.ts'

/** What a message can be made into. */
export type Purpose = 'prompt' | 'model' | 'ui'

/** Something made of one version of a message. */
export interface Made<T> {
  readonly of: AgentMessage
  readonly value: T
  /** The version that has come of that one since, and the number of parts that both begin with. */
  readonly current: AgentMessage
  readonly sharedCount: number
}

interface Newest extends Made<unknown> {
  current: AgentMessage
  sharedCount: number
}

type Lineage = { [purpose in Purpose]: Newest | undefined }

class Anything {
  constructor(object: object) {
    return object
  }
}

/**
 * Puts a private field on an object that is not frozen yet, and nothing that could be seen or copied. Unlike a WeakMap,
 * it costs the garbage collector nothing, however long the conversation is.
 */
class Marked extends Anything {
  readonly #lineage: Lineage

  constructor(message: AgentMessage, lineage: Lineage) {
    super(message)
    this.#lineage = lineage
  }

  static lineageOf(value: object): Lineage | undefined {
    return #lineage in value ? value.#lineage : undefined
  }
}

/** Another version of a message: what it comes from, and how many parts both begin with, if that is known. */
export interface Descent {
  readonly base: AgentMessage
  readonly sharedCount?: number | undefined
}

/** Marks a message as one of ours: as another version of one, or as the first one. */
export function mark(message: AgentMessage, descent?: Descent): void {
  const lineage = descent && Marked.lineageOf(descent.base)
  void new Marked(message, lineage ?? { prompt: undefined, model: undefined, ui: undefined })
  if (lineage === undefined || descent?.sharedCount === undefined) return
  advance(lineage.prompt, message, descent as Required<Descent>)
  advance(lineage.model, message, descent as Required<Descent>)
}

function advance(newest: Newest | undefined, message: AgentMessage, { base, sharedCount }: Required<Descent>): void {
  if (newest?.current !== base) return
  newest.current = message
  newest.sharedCount = Math.min(newest.sharedCount, sharedCount)
}

/** Tells whether a value was marked. */
export function isMarked(value: object): boolean {
  return Marked.lineageOf(value) !== undefined
}

/** What was made last of any version of a message. Its kind is for the one who keeps it there to know. */
export function newestOf<T>(message: AgentMessage, purpose: Purpose): Made<T> | undefined {
  return Marked.lineageOf(message)?.[purpose] as Made<T> | undefined
}

/** How many parts a message begins with as the version does of which that was made. Undefined if that is not known. */
export function sharedCountOf(message: AgentMessage, { current, sharedCount }: Made<unknown>): number | undefined {
  return current === message ? sharedCount : undefined
}

/** Keeps what was made of a message in the place of what was made before. */
export function keepNewest(message: AgentMessage, purpose: Purpose, value: unknown): void {
  const lineage = Marked.lineageOf(message)
  const sharedCount = message.content.parts.length
  if (lineage !== undefined) lineage[purpose] = { of: message, value, current: message, sharedCount }
}
