// The executor: a turn and each of its phases under the same options, with listeners. It keeps nothing of a session,
// so one instance serves any number of them at once.
import type { ToolSet } from 'ai'
import { debugLines, Told, type BatchEvent, type BatchNews } from './turn/batch-event.ts'
import { BatchPromptBuilder, type PromptBudget } from './prompt/batch-prompt-builder.ts'
import type { BatchResponse, ExecutedStep, TurnChunk } from './turn/batch-response.ts'
import { BatchTurn, type BatchTurnOptions } from './turn/batch-turn.ts'
import { collectValues, type CollectedData, type CollectOptions } from './reply/collect-values.ts'
import { enterBatch } from './turn/enter-batch.ts'
import { BatchError, reasonOf } from './errors.ts'
import { finalizeSteps } from './turn/finalize-steps.ts'
import type { HookTurn } from './route/hook.ts'
import type { Issue } from './issue.ts'
import { plan, type Plan, type PlanOptions } from './turn/plan.ts'
import type { Route } from './route/route.ts'
import { respondWith, type ConversationResponse, type RespondInput, type RespondOptions } from './turn/respond.ts'
import type { Session } from './session/session.ts'

/** How an executor plans, what a prompt may hold, and who is told. */
export interface BatchExecutorOptions extends PlanOptions, PromptBudget {
  /** Writes the debug lines to the console, or to a function. */
  readonly debug?: boolean | ((line: string) => void)
  /** Replies in the call that reads the message, before the plan is certain. `false` makes two calls of it. */
  readonly speculate?: boolean
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

/** Gets every event, in order, before the turn goes on. */
export type BatchEventListener = (event: BatchEvent) => void

/** What became of the prepare hooks of a batch. */
export interface PreparedBatch<TData> {
  /** With the visits marked and the hooks' data; the session given when one of them failed. */
  readonly session: Session<TData>
  readonly plan: Plan
  readonly executedSteps: readonly ExecutedStep[]
  readonly error?: BatchError
}

/** Runs many steps of a route in one model call, and says at every phase what it does. */
export class BatchExecutor {
  readonly #options: PlanOptions
  readonly #maxPromptTokens: number
  readonly #speculate: boolean
  readonly #builder: BatchPromptBuilder
  readonly #now: () => number
  readonly #listeners = new Set<BatchEventListener>()

  constructor(options: BatchExecutorOptions = {}) {
    const { debug = false, now = Date.now, maxPromptTokens = Infinity, countTokens, speculate = true } = options
    const { maxSteps, maxAsks, satisfiedBy } = options
    if (maxSteps !== undefined && !(maxSteps >= 1)) {
      throw new BatchError('invalid-option', `maxSteps is ${maxSteps}. Give a number from 1, or leave it out.`)
    }
    this.#options = { maxSteps, maxAsks, satisfiedBy }
    this.#maxPromptTokens = maxPromptTokens
    this.#speculate = speculate
    this.#builder = new BatchPromptBuilder({ maxSteps, maxPromptTokens, countTokens })
    this.#now = now
    if (debug === false) return
    // oxlint-disable-next-line no-console -- the caller asks for it with `debug: true`
    const write = debug === true ? console.debug : debug
    this.addEventListener(event => debugLines(event).forEach(line => write(line)))
  }

  /** Adds a listener and returns the function that removes it. One that throws is reported and changes nothing. */
  addEventListener(listener: BatchEventListener): () => void {
    // The same function added twice is two listeners, each with its own end.
    const entry: BatchEventListener = event => listener(event)
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  /** Determines which steps run now, which question comes next and why it stops there. Emits the events of that. */
  determineBatch<TData>({
    session,
    route,
  }: {
    readonly session: Session<TData>
    readonly route: Route<TData, never>
  }): Plan {
    const due = plan(session, route, this.#options)
    const failures = new Told().newsOf(due).flatMap(news => this.#emit(news))
    return failures.length === 0 ? due : { ...due, issues: [...due.issues, ...failures] }
  }

  /**
   * Runs the prepare hooks of a plan's batch in order and marks the visits.
   *
   * The first failure stops it: it is in `error`, with the session as it was given and the steps that had been entered.
   */
  async executePrepareHooks<TData, TContext>(
    turn: HookTurn<TData, TContext> & { readonly plan: Plan },
  ): Promise<PreparedBatch<TData>> {
    const { route, session } = turn
    const executedSteps: ExecutedStep[] = []
    const onEntered = (id: string) => void executedSteps.push({ id, routeId: route.id })
    try {
      const entry = { plan: turn.plan, options: this.#options, before: [], onEntered }
      const batch = await enterBatch<TData, TContext>(turn, entry)
      return { session: batch.session, plan: batch.plan, executedSteps }
    } catch (thrown) {
      if (!BatchError.isInstance(thrown) || !['prepare-failed', 'aborted'].includes(thrown.code)) throw thrown
      return { session, plan: turn.plan, executedSteps, error: thrown }
    }
  }

  /**
   * Runs the finalize hooks of executed steps in order. All of them run; the failures are returned.
   *
   * *Throws* `aborted` when the turn's signal ends it.
   */
  async executeFinalizeHooks<TData, TContext>(
    turn: HookTurn<TData, TContext> & { readonly executedSteps: readonly ExecutedStep[] },
  ): Promise<readonly BatchError[]> {
    return finalizeSteps<TData, TContext>(
      turn,
      turn.executedSteps.map(({ id }) => id),
    )
  }

  /** Writes what a message gave into the session, value by value: good ones are kept, bad ones are reported. */
  collectBatchData<TData>(options: CollectOptions<TData>): CollectedData<TData> {
    return collectValues(options)
  }

  /**
   * Makes one turn.
   *
   * *Order:* read the message and reply in one call, write the values, enter the steps that are satisfied, speak,
   * finalize, settle. A second call is made only when the reply does not say what the steps then ask for; none at all
   * when there is nothing to read and only fixed words to say. With several routes the same call chooses one.
   *
   * *Throws* only for mistakes in the route or its schema; a failing prepare hook or model and an abort are in `error`,
   * with the session as it was given, so that the same turn can be made again.
   */
  async executeBatch<TData, TContext>(turn: BatchTurnOptions<TData, TContext>): Promise<BatchResponse<TData>> {
    return drained(this.streamBatch(turn))
  }

  /**
   * Makes one turn, yields its message as it is written, and returns what `executeBatch` returns.
   *
   * *Order:* nothing happens before the first read. The first word comes after the values were read and the prepare
   * hooks ran. `text-reset` takes back what was shown; the text after the last one is the message. Leaving the stream
   * ends the model call, and the turn.
   */
  streamBatch<TData, TContext>(
    turn: BatchTurnOptions<TData, TContext>,
  ): AsyncGenerator<TurnChunk, BatchResponse<TData>, void> {
    return new BatchTurn(turn, {
      options: this.#options,
      maxPromptTokens: this.#maxPromptTokens,
      speculate: this.#speculate,
      builder: this.#builder,
      countTokens: text => this.#builder.countTokens(text),
      now: this.#now,
      emit: news => this.#emit(news),
    }).stream()
  }

  /**
   * Makes one turn of a conversation through the agent loop.
   *
   * *Shape:* `input` is text, or messages in any format. The response has the conversation after the turn in
   * `messageList`; the one given is not written to.
   */
  async respond<TData, TContext, TOOLS extends ToolSet = ToolSet>(
    input: RespondInput,
    options: RespondOptions<TData, TContext, TOOLS>,
  ): Promise<ConversationResponse<TData>> {
    return drained(this.streamResponse(input, options))
  }

  /** The same, with the message as it is written. */
  streamResponse<TData, TContext, TOOLS extends ToolSet = ToolSet>(
    input: RespondInput,
    options: RespondOptions<TData, TContext, TOOLS>,
  ): AsyncGenerator<TurnChunk, ConversationResponse<TData>, void> {
    return respondWith(input, options, turn => this.streamBatch(turn))
  }

  #emit(news: BatchNews): readonly Issue[] {
    const event: BatchEvent = { ...news, timestamp: new Date(this.#now()).toISOString() }
    return [...this.#listeners].flatMap((listener): readonly Issue[] => {
      try {
        listener(event)
        return []
      } catch (thrown) {
        return [{ code: 'listener-failed', message: `A listener threw at ${event.type}: ${reasonOf(thrown)}` }]
      }
    })
  }
}

async function drained<T>(stream: AsyncGenerator<unknown, T, void>): Promise<T> {
  for (;;) {
    const next = await stream.next()
    if (next.done) return next.value
  }
}
