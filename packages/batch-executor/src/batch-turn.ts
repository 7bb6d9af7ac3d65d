// One turn over a route, phase by phase: read and reply in one call, enter what that satisfied, speak, finish, settle.
import { Told, type BatchNews, type BatchTiming, type StoppedReason } from './batch-event.ts'
import type { BatchPrompt, BatchPromptBuilder, PromptSource } from './batch-prompt-builder.ts'
import { collectValues } from './collect-values.ts'
import { enterBatch } from './enter-batch.ts'
import { BatchError, reasonOf, type BatchErrorCode } from './errors.ts'
import { finalizeSteps } from './finalize-steps.ts'
import { abortedBy, untilAborted, type HookTurn } from './hook.ts'
import type { Issue } from './issue.ts'
import { plan, spokenBy, type Plan, type PlanOptions } from './plan.ts'
import { contradictions, fits, type Speech } from './reply-fit.ts'
import { readReply, type Reply } from './reply.ts'
import { stepsOf } from './route.ts'
import type { Session } from './session.ts'
import type { ValueChange } from './set-values.ts'
import { settleTurn } from './settle-turn.ts'

/** Makes one model call: gets the prompt, returns the object that the prompt's schema describes. */
export type CallModel = (prompt: BatchPrompt, options: { readonly abortSignal: AbortSignal | undefined }) => unknown

/** One turn to be made. */
export type BatchTurnOptions<TData, TContext> = HookTurn<TData, TContext> & {
  /** What the user said. Absent: the turn only speaks, for example to begin the conversation. */
  readonly input?: string
  readonly callModel: CallModel
}

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
}

/** What a turn needs from its executor. */
export interface TurnServices {
  readonly options: PlanOptions
  readonly maxPromptTokens: number
  readonly builder: BatchPromptBuilder
  readonly now: () => number
  /** Tells the listeners, and returns the failures of those that threw. */
  readonly emit: (news: BatchNews) => readonly Issue[]
}

/** A reply together with the prompt that it answers. */
interface Heard {
  readonly prompt: BatchPrompt
  readonly reply: Reply
}

const breaks: Partial<Record<BatchErrorCode, StoppedReason>> = {
  'prepare-failed': 'prepare_error',
  'model-failed': 'llm_error',
  'invalid-reply': 'llm_error',
  aborted: 'aborted',
}

/** One turn while it is made. It works on sessions of its own; the one given is untouched whatever happens. */
export class BatchTurn<TData, TContext> {
  readonly #turn: BatchTurnOptions<TData, TContext>
  readonly #services: TurnServices
  readonly #told = new Told()
  readonly #entered: string[] = []
  readonly #changes: ValueChange[] = []
  readonly #issues: Issue[] = []
  readonly #times = { llmCallMs: 0, dataCollectionMs: 0, prepareHooksMs: 0, finalizeHooksMs: 0 }
  readonly #startedAt: number
  #session: Session<TData>
  #callCount = 0

  constructor(turn: BatchTurnOptions<TData, TContext>, services: TurnServices) {
    this.#turn = turn
    this.#services = services
    this.#session = turn.session
    this.#startedAt = services.now()
  }

  /**
   * Makes the turn.
   *
   * A prepare hook, the model or an abort that ends it is a value, with the session as it was given. *Throws* only for
   * mistakes in the route or its schema.
   */
  async run(): Promise<BatchResponse<TData>> {
    const { abortSignal, route } = this.#turn
    try {
      if (abortSignal?.aborted) throw abortedBy(abortSignal)
      const heard = await this.#read()
      const ending = await this.#enter()
      const message = await this.#speak(ending, heard)
      const error = await this.#finalize()
      const executedSteps = this.#entered.map(id => ({ id, routeId: route.id }))
      const session = settleTurn(this.#session, ending)
      return this.#respond(
        { message, executedSteps, stoppedReason: ending.stoppedReason, session, plan: ending },
        error,
      )
    } catch (thrown) {
      const stoppedReason = BatchError.isInstance(thrown) ? breaks[thrown.code] : undefined
      if (stoppedReason === undefined) throw thrown
      this.#changes.length = 0
      const { session } = this.#turn
      const before = { message: '', executedSteps: [], stoppedReason, session, plan: this.#plan(session) }
      return this.#respond(before, thrown as BatchError)
    }
  }

  #plan(session: Session<TData>): Plan {
    return plan(session, this.#turn.route, { ...this.#services.options, maxSteps: Infinity })
  }

  /** Reads the message, in the call that also replies to it. None is made when there is nothing to read. */
  async #read(): Promise<Heard | undefined> {
    const { input, route } = this.#turn
    if (!input) return undefined
    const prompt = this.#services.builder.build({ ...this.#source(), plan: this.#plan(this.#session) })
    if (Object.keys(prompt.names).length === 0) return undefined
    const reply = await this.#call(prompt)
    const { values } = reply
    const from = this.#services.now()
    const collected = collectValues({ session: this.#session, route, values, input })
    this.#times.dataCollectionMs += this.#services.now() - from
    this.#session = collected.session
    this.#changes.push(...collected.changes)
    this.#issues.push(...collected.issues)
    return { prompt, reply }
  }

  /** Enters every step that is satisfied, one batch after the other, and returns the plan that is left. */
  async #enter(): Promise<Plan> {
    const { route } = this.#turn
    const { options } = this.#services
    for (;;) {
      const due = plan(this.#session, route, options)
      this.#tell(due)
      const before = [...this.#entered]
      const onEntered = (stepId: string, next: Plan) => {
        this.#entered.push(stepId)
        this.#tell(next)
      }
      const turn = { ...this.#turn, session: this.#session }
      const batch = await this.#timed('prepareHooksMs', () =>
        enterBatch(turn, { plan: due, options, before, onEntered }),
      )
      this.#session = batch.session
      if (batch.plan.stoppedReason !== 'max_steps_reached') return batch.plan
    }
  }

  /** Finds the message: fixed words if that is all there is, else the reply if it fits, else one more call. */
  async #speak(ending: Plan, heard: Heard | undefined): Promise<string> {
    const { route, input } = this.#turn
    const walk = { session: this.#session, route, options: this.#services.options, issues: this.#issues }
    const steps = stepsOf(route).filter(({ id }) => this.#entered.includes(id))
    const speech: Speech = { says: steps.flatMap(step => spokenBy(walk, step)), ask: ending.ask }
    const lines = speech.ask === undefined ? speech.says : [...speech.says, speech.ask]
    if (lines.every(line => line.verbatim) && (lines.length > 0 || !input))
      return lines.map(line => line.prompt).join('\n')
    const refused = contradictions(this.#issues)
    if (heard !== undefined && refused.length === 0 && fits(heard.reply, heard.prompt, speech))
      return heard.reply.message
    const said: Plan = { ...ending, agenda: lines }
    const prompt = this.#services.builder.build({ ...this.#source(), plan: said, replyOnly: true })
    return (await this.#call(prompt)).message
  }

  async #finalize(): Promise<BatchError | undefined> {
    const turn = { ...this.#turn, session: this.#session }
    const errors = await this.#timed('finalizeHooksMs', () => finalizeSteps(turn, this.#entered))
    if (errors.length < 2) return errors[0]
    const message = errors.map(error => error.message).join(' ')
    return new BatchError('finalize-failed', message, { cause: new AggregateError(errors, message) })
  }

  #source(): Omit<PromptSource<TData>, 'plan'> {
    const { route, input } = this.#turn
    const refused = contradictions(this.#issues)
    return { session: this.#session, route, ...(input && { input }), changes: this.#changes, refused }
  }

  async #call(prompt: BatchPrompt): Promise<Reply> {
    const { abortSignal, callModel, route } = this.#turn
    const { maxPromptTokens } = this.#services
    if (prompt.tokenCount > maxPromptTokens) {
      const message = `The prompt has ${prompt.tokenCount} tokens with one question, and maxPromptTokens is ${maxPromptTokens}.`
      this.#issues.push({ code: 'over-budget', message })
    }
    if (abortSignal?.aborted) throw abortedBy(abortSignal)
    this.#callCount += 1
    const output = await this.#timed('llmCallMs', async () => {
      try {
        return await untilAborted(callModel(prompt, { abortSignal }), abortSignal)
      } catch (cause) {
        if (abortSignal?.aborted) throw abortedBy(abortSignal)
        throw new BatchError('model-failed', `The model call failed: ${reasonOf(cause)}`, { routeId: route.id, cause })
      }
    })
    return readReply(output, prompt.names, route.fields)
  }

  #tell(due: Plan): void {
    const known = new Set(this.#issues.map(issue => JSON.stringify(issue)))
    this.#issues.push(...due.issues.filter(issue => !known.has(JSON.stringify(issue))))
    for (const news of this.#told.newsOf(due, this.#entered.length)) this.#issues.push(...this.#services.emit(news))
  }

  async #timed<T>(phase: Exclude<keyof BatchTiming, 'totalMs'>, work: () => Promise<T>): Promise<T> {
    const from = this.#services.now()
    try {
      return await work()
    } finally {
      this.#times[phase] += this.#services.now() - from
    }
  }

  #respond(
    outcome: Pick<BatchResponse<TData>, 'message' | 'executedSteps' | 'stoppedReason' | 'session' | 'plan'>,
    error: BatchError | undefined,
  ): BatchResponse<TData> {
    const { session, route } = this.#turn
    const { stoppedReason, executedSteps } = outcome
    const timing: BatchTiming = { totalMs: this.#services.now() - this.#startedAt, ...this.#times }
    const failures = this.#services.emit({
      type: 'batch_complete',
      details: {
        sessionId: session.id,
        routeId: route.id,
        reason: error?.message ?? 'the turn is settled',
        batchSize: executedSteps.length,
        stoppedReason,
        callCount: this.#callCount,
        timing,
        ...(error && { error: error.message }),
      },
    })
    const issues = [...this.#issues, ...failures]
    return { ...outcome, ...(error && { error }), changes: [...this.#changes], issues, callCount: this.#callCount }
  }
}
