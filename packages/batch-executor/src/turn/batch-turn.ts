// One turn, phase by phase: read and reply in one call, enter what that satisfied, speak, finish, settle.
import type { StoppedReason } from './batch-event.ts'
import type { BatchPrompt, BatchPromptBuilder, PromptSource } from '../prompt/batch-prompt-builder.ts'
import { ShownMessage, type BatchResponse, type TurnChunk } from './batch-response.ts'
import { BatchError, type BatchErrorCode } from '../errors.ts'
import { finalizeSteps } from './finalize-steps.ts'
import { abortedBy, type HookTurn, type TurnContext } from '../route/hook.ts'
import type { Line } from './line.ts'
import { matchAnswer } from '../reply/match-answer.ts'
import { answerOf, isAnswer, type AnswerPiece, type CallModel, type ModelAnswer } from '../model/model-call.ts'
import { planWithoutRoute, type Plan, type PlanOptions } from './plan.ts'
import { contradictions, fits } from '../reply/reply-fit.ts'
import { ReplyReader } from '../reply/reply-reader.ts'
import type { Reply } from '../reply/reply.ts'
import { stepsOf, type Route } from '../route/route.ts'
import { savingsOf } from './savings.ts'
import { isFixed, linesOf, type Speech } from './speech.ts'
import type { RawValues } from '../session/set-values.ts'
import { settleTurn } from './settle-turn.ts'
import { TurnDraft } from './turn-draft.ts'
import { TurnRoutes } from './turn-routes.ts'
import { TurnLog, type LogServices } from './turn-log.ts'

/** One turn to be made, over one route or over several of which the message chooses one. */
export type BatchTurnOptions<TData, TContext> = TurnContext<TData, TContext> &
  (
    | { readonly route: Route<TData, TContext>; readonly routes?: undefined }
    | { readonly routes: readonly Route<TData, TContext>[]; readonly route?: undefined }
  ) & {
    /** What the user said. Absent: the turn only speaks, for example to begin the conversation. */
    readonly input?: string
    /** What the user gave in another way than words, for example with a button or a form: no model has to read it. */
    readonly values?: RawValues<NoInfer<TData>>
    readonly callModel: CallModel
  }

/** What a turn needs from its executor. */
export interface TurnServices extends LogServices {
  readonly options: PlanOptions
  readonly maxPromptTokens: number
  /** The call that reads the message also replies to it. */
  readonly speculate: boolean
  readonly builder: BatchPromptBuilder
}

/** A turn whose steps are entered: where it stands, and what is to be said. */
interface Entered<TData, TContext> {
  readonly route: Route<TData, TContext> | undefined
  readonly ending: Plan
  readonly speech: Speech
  /** The reply that was read, when there was one and it says what is to be said. */
  readonly reply: Reply | undefined
}

const breaks: Partial<Record<BatchErrorCode, StoppedReason>> = {
  'prepare-failed': 'prepare_error',
  'model-failed': 'llm_error',
  'invalid-reply': 'llm_error',
  refused: 'tripwire',
  aborted: 'aborted',
}

/** One turn while it is made. It works on sessions of its own; the one given is untouched whatever happens. */
export class BatchTurn<TData, TContext> {
  readonly #turn: BatchTurnOptions<TData, TContext>
  readonly #services: TurnServices
  readonly #routes: TurnRoutes<TData, TContext>
  readonly #log: TurnLog
  #draft: TurnDraft<TData, TContext>

  /** *Throws* `duplicate-route` and `empty-route`. */
  constructor(turn: BatchTurnOptions<TData, TContext>, services: TurnServices) {
    this.#turn = turn
    this.#services = services
    this.#routes = new TurnRoutes(turn.routes ?? [turn.route], turn.session, services.options)
    this.#log = new TurnLog(services)
    this.#draft = new TurnDraft(turn.session, services.options)
  }

  /**
   * Makes the turn, and yields its message as it is written.
   *
   * A prepare hook, the model or an abort that ends it is a value, with the session as it was given. *Throws* only for
   * mistakes in a route or its schema.
   */
  async *stream(): AsyncGenerator<TurnChunk, BatchResponse<TData>, void> {
    const { abortSignal } = this.#turn
    const shown = new ShownMessage()
    try {
      if (abortSignal?.aborted) throw abortedBy(abortSignal)
      const entered = yield* shown.follow(this.#speak())
      const error = await this.#finalize(entered.route)
      return this.#settled(entered, { message: shown.text, error })
    } catch (thrown) {
      yield* shown.become('')
      const stoppedReason = BatchError.isInstance(thrown) ? breaks[thrown.code] : undefined
      if (stoppedReason === undefined) throw thrown
      return this.#brokenOff(stoppedReason, thrown as BatchError)
    }
  }

  /** Yields the message as far as it is known; a shorter one takes back what was yielded before. */
  async *#speak(): AsyncGenerator<string, Entered<TData, TContext>, void> {
    const entered = yield* this.#read()
    const { speech, reply, ending } = entered
    const lines = linesOf(speech)
    const isSilent = lines.length === 0 && !this.#turn.input && entered.route !== undefined
    if (isFixed(speech) || isSilent) {
      yield this.#acknowledgement(lines, reply) ?? lines.map(line => line.prompt).join('\n')
    } else if (reply?.message !== undefined) yield reply.message
    else {
      const source = { ...this.#source(entered.route), plan: { ...ending, agenda: lines } }
      yield* this.#reply(this.#services.builder.build({ ...source, task: 'reply' }))
    }
    return entered
  }

  /**
   * Reads the message and enters the steps that it satisfies. No call is made when there is nothing to read.
   *
   * *Order:* what was read is complete before the message begins; the steps are entered, and the plan made again, before
   * the first word of it is yielded. When the model withdraws what was read, all of that begins again.
   */
  async *#read(): AsyncGenerator<string, Entered<TData, TContext>, void> {
    this.#begin()
    const prompt = this.#readsCertainAnswer() ? undefined : this.#readingPrompt()
    if (prompt === undefined) return this.#enter(this.#routes.current)
    const reader = new ReplyReader(prompt, this.#routes.fields)
    let entered: Entered<TData, TContext> | undefined
    let answer: ModelAnswer | undefined
    for await (const piece of this.#call(prompt)) {
      if (isAnswer(piece)) answer = piece
      else reader.hear(piece)
      if (reader.head === undefined && entered !== undefined) {
        entered = undefined
        this.#begin()
        yield ''
      }
      if (reader.head !== undefined) entered ??= await this.#enterRead(reader.head, prompt)
      if (entered?.reply !== undefined && !isFixed(entered.speech)) yield reader.message
    }
    const reply = reader.finish(answer?.object)
    if (entered !== undefined && reader.head !== undefined) return { ...entered, reply: entered.reply && reply }
    if (entered !== undefined) this.#begin()
    yield ''
    return this.#enterRead(reply, prompt)
  }

  /** Starts from the session as it was given, with the values that need no reading. */
  #begin(): void {
    const { session, values } = this.#turn
    this.#draft = new TurnDraft(session, this.#services.options)
    if (values !== undefined) this.#draft.collect({ routes: this.#routes.inOrder(this.#routes.current), values })
  }

  /** Takes an answer that needs no model to be read, if the message is one. */
  #readsCertainAnswer(): boolean {
    const { session, input } = this.#turn
    const values = input && this.#routes.current ? matchAnswer(session, this.#routes.current, input) : undefined
    if (values === undefined) return false
    this.#draft.collect({ routes: this.#routes.inOrder(this.#routes.current), values, ...(input && { input }) })
    return true
  }

  /** The prompt of the call that reads the message; none when there is nothing to read or to choose. */
  #readingPrompt(): BatchPrompt | undefined {
    if (!this.#turn.input) return undefined
    const task = this.#services.speculate ? 'both' : 'read'
    const prompt = this.#services.builder.build({
      ...this.#source(this.#routes.current),
      plan: this.#routes.planOf(this.#draft.session, this.#routes.current),
      task,
    })
    return Object.keys(prompt.names).length === 0 && prompt.others.length === 0 ? undefined : prompt
  }

  async #enterRead(reply: Reply, prompt: BatchPrompt): Promise<Entered<TData, TContext>> {
    const { input } = this.#turn
    const route = this.#routes.named(reply.route) ?? this.#routes.current
    await this.#log.timed('dataCollectionMs', () => {
      const routes = this.#routes.inOrder(route)
      this.#draft.collect({ routes, values: reply.values, ...(input !== undefined && { input }) })
    })
    const entered = await this.#enter(route)
    const isTrue = contradictions(this.#draft.issues).length === 0 && fits(reply, prompt, entered.speech)
    return { ...entered, reply: isTrue && this.#services.speculate ? reply : undefined }
  }

  async #enter(route: Route<TData, TContext> | undefined): Promise<Entered<TData, TContext>> {
    const draft = this.#draft
    const tell = (due: Plan) => this.#log.tell(due, draft.entered.length)
    const ending = await this.#log.timed('prepareHooksMs', async () => {
      if (route !== undefined) return draft.enter(this.#hookTurn(route), tell)
      const nothing = planWithoutRoute(draft.session)
      tell(nothing)
      return nothing
    })
    return { route, ending, speech: draft.speechOf(route, ending), reply: undefined }
  }

  /** The reply instead of fixed words, when something was corrected that it acknowledges and all those words are in it. */
  #acknowledgement(lines: readonly Line[], reply: Reply | undefined): string | undefined {
    const isCorrected = this.#draft.changes.some(({ type }) => type !== 'set')
    const message = reply?.message ?? ''
    return isCorrected && lines.length > 0 && lines.every(line => message.includes(line.prompt)) ? message : undefined
  }

  /** Asks for the words alone, once it is known what they have to say. */
  async *#reply(prompt: BatchPrompt): AsyncGenerator<string, void, void> {
    const reader = new ReplyReader(prompt, { get: () => undefined })
    for await (const piece of this.#call(prompt)) {
      if (!isAnswer(piece)) reader.hear(piece)
      yield isAnswer(piece) ? (reader.finish(piece.object).message ?? '') : reader.message
    }
  }

  /** Makes a call; its answer comes last. */
  async *#call(prompt: BatchPrompt): AsyncGenerator<AnswerPiece | ModelAnswer, void, void> {
    const { abortSignal, callModel } = this.#turn
    const { maxPromptTokens } = this.#services
    if (prompt.tokenCount > maxPromptTokens) {
      const message = `The prompt has ${prompt.tokenCount} tokens with one question, and maxPromptTokens is ${maxPromptTokens}.`
      this.#log.note({ code: 'over-budget', message })
    }
    if (abortSignal?.aborted) throw abortedBy(abortSignal)
    this.#log.beginCall()
    const answers = answerOf({ callModel, prompt, routeId: prompt.routeId, abortSignal })
    try {
      for (;;) {
        const next = await this.#log.timed('llmCallMs', () => answers.next())
        if (next.done) this.#log.endCall(prompt, next.value)
        yield next.value
        if (next.done) return
      }
    } finally {
      await answers.return({ object: undefined })
    }
  }

  async #finalize(route: Route<TData, TContext> | undefined): Promise<BatchError | undefined> {
    if (route === undefined) return undefined
    const turn = { ...this.#hookTurn(route), session: this.#draft.session }
    const errors = await this.#log.timed('finalizeHooksMs', () => finalizeSteps(turn, this.#draft.entered))
    if (errors.length < 2) return errors[0]
    const message = errors.map(error => error.message).join(' ')
    return new BatchError('finalize-failed', message, { cause: new AggregateError(errors, message) })
  }

  #settled(
    { ending }: Entered<TData, TContext>,
    { message, error }: { readonly message: string; readonly error: BatchError | undefined },
  ): BatchResponse<TData> {
    const { routeId } = ending
    const session = settleTurn(this.#draft.session, ending)
    const executedSteps = routeId === null ? [] : this.#draft.entered.map(id => ({ id, routeId }))
    const source = { ...this.#source(this.#routes.named(routeId)), plan: ending }
    const savings = savingsOf({
      callCount: this.#log.callCount,
      usage: this.#log.usage,
      spokenStepCount: this.#spokenStepCount(routeId),
      needsCall: message !== '',
      prompt: () => this.#services.builder.build({ ...source, task: 'reply' }),
    })
    const outcome = { message, executedSteps, stoppedReason: ending.stoppedReason, session, plan: ending }
    return this.#respond({ ...outcome, savings, changes: this.#draft.changes }, error)
  }

  #brokenOff(stoppedReason: StoppedReason, error: BatchError): BatchResponse<TData> {
    const { session } = this.#turn
    const before = {
      message: '',
      executedSteps: [],
      stoppedReason,
      session,
      plan: this.#routes.planOf(session, this.#routes.current),
    }
    return this.#respond({ ...before, savings: { callCount: 0, tokenCount: 0 }, changes: [] }, error)
  }

  #respond(
    outcome: Omit<BatchResponse<TData>, 'error' | 'issues' | 'callCount' | 'usage'>,
    error: BatchError | undefined,
  ): BatchResponse<TData> {
    const { stoppedReason, executedSteps, savings } = outcome
    const { routeId, sessionId } = outcome.plan
    const batchSize = executedSteps.length
    this.#log.end({ sessionId, routeId, stoppedReason, batchSize, savings, error: error?.message })
    const { callCount, usage, notes } = this.#log
    const issues = [...this.#draft.issues, ...notes]
    return { ...outcome, ...(error && { error }), issues, callCount, usage }
  }

  #spokenStepCount(routeId: string | null): number {
    const route = this.#routes.named(routeId)
    const steps = route === undefined ? [] : stepsOf(route)
    return steps.filter(({ id, prompt }) => prompt !== undefined && this.#draft.entered.includes(id)).length
  }

  #hookTurn(route: Route<TData, TContext>): HookTurn<TData, TContext> {
    const { abortSignal, context, session } = this.#turn as TurnContext<TData, unknown>
    const turn = { session, route, context, ...(abortSignal !== undefined && { abortSignal }) }
    return turn as unknown as HookTurn<TData, TContext>
  }

  #source(route: Route<TData, TContext> | undefined): Omit<PromptSource<TData>, 'plan'> {
    const { input } = this.#turn
    const others = this.#routes.except(route)
    return {
      session: this.#draft.session,
      ...(route !== undefined && { route }),
      others: others.map(other => ({ route: other, plan: this.#routes.planOf(this.#draft.session, other) })),
      ...(input && { input }),
      changes: this.#draft.changes,
      refused: contradictions(this.#draft.issues),
    }
  }
}
