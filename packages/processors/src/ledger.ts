// The account of a run: what each processor did, how often it was called, and what it cost.
import type { HookName } from './processor.ts'

/** What one hook call did, when it did something. */
export type ProcessorEffect =
  /** `what` names settings of the step, `messages`, `systemMessages`, `prompt`, `response`, `input`, `output`. */
  | { readonly type: 'changed'; readonly what: readonly string[] }
  /** `text` says what became of the text as a whole; the counts are of all other chunks. */
  | {
      readonly type: 'chunks'
      readonly text: 'same' | 'regrouped' | 'changed'
      /** Text chunks for which nothing left at once. */
      readonly held: number
      readonly changed: number
      readonly dropped: number
      readonly added: number
    }
  | { readonly type: 'tripwire'; readonly reason: string; readonly retry: boolean }
  | { readonly type: 'decided'; readonly decision: 'deny' | 'output' | 'ask' | 'retry' }
  | { readonly type: 'skipped'; readonly error: unknown }
  /** A run-scoped edit of a message that is only in this step's prompt stayed in the prompt. */
  | { readonly type: 'kept-step-only'; readonly messageIds: readonly string[] }

/** An effect, with its author and its place in the run. */
export interface LedgerEvent {
  readonly stepNumber: number
  readonly attemptNumber: number
  readonly processorId: string
  readonly hook: HookName
  readonly effect: ProcessorEffect
}

/** The sums for one hook of one processor. */
export interface LedgerTotal {
  readonly processorId: string
  readonly hook: HookName
  readonly callCount: number
  /** Wall-clock time in the hook. For `processOutputStream` it is estimated from every sixteenth call. */
  readonly timeMs: number
  readonly effectCount: number
  readonly retryCount: number
}

/** Collects events and totals of one run. */
export class Ledger {
  readonly #events: LedgerEvent[]
  readonly #totals = new Map<string, Mutable<LedgerTotal>>()

  /** Goes on from an account that was saved. */
  constructor(saved: { readonly events: readonly LedgerEvent[]; readonly totals: readonly LedgerTotal[] } = nothing) {
    this.#events = [...saved.events]
    for (const total of saved.totals) this.#totals.set(keyOf(total.processorId, total.hook), { ...total })
  }

  get events(): readonly LedgerEvent[] {
    return this.#events
  }

  get totals(): readonly LedgerTotal[] {
    return [...this.#totals.values()]
  }

  count(processorId: string, hook: HookName, calls: { readonly count: number; readonly timeMs: number }): void {
    const total = this.#total(processorId, hook)
    total.callCount += calls.count
    total.timeMs += calls.timeMs
  }

  note(event: LedgerEvent): void {
    this.#events.push(event)
    const total = this.#total(event.processorId, event.hook)
    total.effectCount++
    if (event.effect.type === 'tripwire' && event.effect.retry) total.retryCount++
  }

  #total(processorId: string, hook: HookName): Mutable<LedgerTotal> {
    const key = keyOf(processorId, hook)
    let total = this.#totals.get(key)
    if (!total) {
      total = { processorId, hook, callCount: 0, timeMs: 0, effectCount: 0, retryCount: 0 }
      this.#totals.set(key, total)
    }
    return total
  }
}

const nothing = { events: [], totals: [] }

function keyOf(processorId: string, hook: HookName): string {
  return `${hook}\n${processorId}`
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
