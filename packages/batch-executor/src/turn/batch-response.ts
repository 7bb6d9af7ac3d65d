// What came of a turn, whole or as it is written.
import type { StoppedReason } from './batch-event.ts'
import type { BatchError } from '../errors.ts'
import type { Issue } from '../issue.ts'
import type { Plan } from './plan.ts'
import type { Savings, Usage } from './savings.ts'
import type { Session } from '../session/session.ts'
import type { ValueChange } from '../session/set-values.ts'

/** A step that a turn executed. */
export interface ExecutedStep {
  readonly id: string
  readonly routeId: string
}

/** What came of a turn. */
export interface BatchResponse<TData> {
  /** What to tell the user; `''` when there is nothing to say. */
  readonly message: string
  /** The steps that this turn satisfied, in order; not the one it asks. */
  readonly executedSteps: readonly ExecutedStep[]
  readonly stoppedReason: StoppedReason
  /** The session after the turn; the one given when the turn was broken off. */
  readonly session: Session<TData>
  /** What broke the turn off, or the finalize hooks that failed after it held. */
  readonly error?: BatchError
  /** Where the route stands after the turn. */
  readonly plan: Plan
  readonly changes: readonly ValueChange[]
  readonly issues: readonly Issue[]
  /** How many model calls were made. */
  readonly callCount: number
  /** What they took. */
  readonly usage: Usage
  /** What one call for each step would have cost more. */
  readonly savings: Savings
}

/** A piece of a message while it is written, or that what was shown of it does not hold. */
export type TurnChunk = { readonly type: 'text-delta'; readonly text: string } | { readonly type: 'text-reset' }

/** A message as a reader sees it grow: each longer one is a delta, any other takes back what was shown. */
export class ShownMessage {
  #text = ''

  get text(): string {
    return this.#text
  }

  /** Shows each of these messages as it comes, and returns what they end with. */
  async *follow<T>(messages: AsyncGenerator<string, T, void>): AsyncGenerator<TurnChunk, T, void> {
    let isOver = false
    try {
      for (;;) {
        const next = await messages.next()
        isOver = next.done === true
        if (next.done) return next.value
        yield* this.become(next.value)
      }
    } finally {
      // A reader that left is of no interest to the messages, except that they end.
      if (!isOver) await messages.return(undefined as T)
    }
  }

  /** The chunks that turn what was shown into this message. */
  become(message: string): readonly TurnChunk[] {
    const isMore = message.startsWith(this.#text)
    const text = isMore ? message.slice(this.#text.length) : message
    this.#text = message
    const delta: readonly TurnChunk[] = text === '' ? [] : [{ type: 'text-delta', text }]
    return isMore ? delta : [{ type: 'text-reset' }, ...delta]
  }
}
