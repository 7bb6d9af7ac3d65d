// The account of a run: what each processor did, how often it was called, and what it cost.
import type { HookName } from './processor.ts'

/** What one hook call did, when it did something. */
export type ProcessorEffect =
  /** `what` names settings of the step, `messages`, `systemMessages`, `prompt`, `response`, `input`, `output`, `error`. */
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

/** The sums of one hook of one processor while a run goes. Hooks count here directly. */
export interface HookTotal {
  callCount: number
  /** The calls that were timed, and how long they took together. */
  timedCount: number
  timedMs: number
  effectCount: number
  retryCount: number
}

/** Collects events and totals of one run. */
export class Ledger {
  readonly #events: LedgerEvent[]
  readonly #totals = new Map<HookName, Map<string, HookTotal>>()

  /** Goes on from an account that was saved. */
  constructor(saved: { readonly events: readonly LedgerEvent[]; readonly totals: readonly LedgerTotal[] } = nothing) {
    this.#events = [...saved.events]
    for (const { processorId, hook, callCount, timeMs, effectCount, retryCount } of saved.totals)
      Object.assign(this.totalOf(processorId, hook), {
        callCount,
        timedCount: callCount,
        timedMs: timeMs,
        effectCount,
        retryCount,
      })
  }

  get events(): readonly LedgerEvent[] {
    return this.#events
  }

  /** Those that were called, or did something. */
  get totals(): readonly LedgerTotal[] {
    return [...this.#totals].flatMap(([hook, ofHook]) =>
      [...ofHook].flatMap(([processorId, total]) => {
        const { callCount, timedCount, timedMs, effectCount, retryCount } = total
        if (callCount + effectCount === 0) return []
        const timeMs = timedCount === 0 ? 0 : (timedMs / timedCount) * callCount
        return [{ processorId, hook, callCount, timeMs, effectCount, retryCount }]
      }),
    )
  }

  note(event: LedgerEvent): void {
    this.#events.push(event)
    const total = this.totalOf(event.processorId, event.hook)
    total.effectCount++
    if (event.effect.type === 'tripwire' && event.effect.retry) total.retryCount++
  }

  /** The sums of one hook of one processor, to count in. */
  totalOf(processorId: string, hook: HookName): HookTotal {
    let ofHook = this.#totals.get(hook)
    if (!ofHook) this.#totals.set(hook, (ofHook = new Map()))
    let total = ofHook.get(processorId)
    if (!total) {
      total = { callCount: 0, timedCount: 0, timedMs: 0, effectCount: 0, retryCount: 0 }
      ofHook.set(processorId, total)
    }
    return total
  }
}

const nothing = { events: [], totals: [] }
