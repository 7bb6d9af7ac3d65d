// What a turn tells and counts while it is made: events, issues, the time of each phase, calls and their tokens.
import { Told, type BatchNews, type BatchTiming, type StoppedReason } from './batch-event.ts'
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'
import type { Issue } from '../issue.ts'
import type { ModelAnswer } from '../model/model-call.ts'
import type { Plan } from './plan.ts'
import type { Savings, Usage } from './savings.ts'

/** The phases of a turn that are timed. */
export type Phase = Exclude<keyof BatchTiming, 'totalMs'>

/** What a log needs from the executor. */
export interface LogServices {
  readonly now: () => number
  /** Tells the listeners, and returns the failures of those that threw. */
  readonly emit: (news: BatchNews) => readonly Issue[]
  readonly countTokens: (text: string) => number
}

/** How a turn ended, for the last event. */
export interface TurnEnd {
  readonly sessionId: string
  readonly routeId: string | null
  readonly stoppedReason: StoppedReason
  readonly batchSize: number
  readonly savings: Savings
  readonly error: string | undefined
}

/** The log of one turn. */
export class TurnLog {
  readonly #services: LogServices
  readonly #told = new Told()
  readonly #times: Record<Phase, number> = {
    llmCallMs: 0,
    dataCollectionMs: 0,
    prepareHooksMs: 0,
    finalizeHooksMs: 0,
  }
  readonly #startedAt: number
  readonly #notes: Issue[] = []
  #callCount = 0
  #usage: Usage = { inputTokens: 0, outputTokens: 0 }

  constructor(services: LogServices) {
    this.#services = services
    this.#startedAt = services.now()
  }

  /** How many model calls were begun. */
  get callCount(): number {
    return this.#callCount
  }

  /** What the calls took so far. */
  get usage(): Usage {
    return this.#usage
  }

  /** What is to be reported of the turn itself: listeners that threw, prompts beyond the budget. */
  get notes(): readonly Issue[] {
    return this.#notes
  }

  note(issue: Issue): void {
    this.#notes.push(issue)
  }

  /** Tells what is new in a plan. */
  tell(plan: Plan, enteredCount: number): void {
    for (const news of this.#told.newsOf(plan, enteredCount)) this.#notes.push(...this.#services.emit(news))
  }

  /** Counts a call that begins. */
  beginCall(): void {
    this.#callCount += 1
  }

  /** Counts what a call took. */
  endCall(prompt: BatchPrompt, { object, usage }: ModelAnswer): void {
    const written = () => this.#services.countTokens(JSON.stringify(object) ?? '')
    this.#usage = {
      inputTokens: this.#usage.inputTokens + (usage?.inputTokens ?? prompt.tokenCount),
      outputTokens: this.#usage.outputTokens + (usage?.outputTokens ?? written()),
    }
  }

  /** Does a piece of a phase and adds its time. */
  async timed<T>(phase: Phase, work: () => T | Promise<T>): Promise<T> {
    const from = this.#services.now()
    try {
      return await work()
    } finally {
      this.#times[phase] += this.#services.now() - from
    }
  }

  /** Tells that the turn is over. */
  end({ error, ...end }: TurnEnd): void {
    const timing: BatchTiming = { totalMs: this.#services.now() - this.#startedAt, ...this.#times }
    const details = {
      ...end,
      reason: error ?? 'the turn is settled',
      callCount: this.#callCount,
      usage: this.#usage,
      timing,
      ...(error !== undefined && { error }),
    }
    this.#notes.push(...this.#services.emit({ type: 'batch_complete', details }))
  }
}
