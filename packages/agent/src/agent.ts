// The front door: holds an agent's defaults and starts its runs.
import type { ApprovalDecision, LoopResult, LoopState } from '@lockstep/agent-loop'
import {
  BatchExecutor,
  createRoute,
  type ConversationResponse,
  type PlainData,
  type RespondInput,
  type Route,
  type RouteOptions,
  type TurnChunk,
} from '@lockstep/batch-executor'
import type { ToolSet } from 'ai'
import type { AgentConfig, AgentInput, CallOptions } from './agent-options.ts'
import { AgentStream, orThrow } from './stream/agent-stream.ts'
import { checkList } from './check-options.ts'
import { respondOptionsFor, type RespondCallOptions } from './respond.ts'
import { readCall, runOptionsFor } from './run-options.ts'

/**
 * An agent: instructions, a model, tools, and processors that see and may change every step. It holds no state of a run,
 * so one instance serves any number of runs at once.
 *
 * @example
 * const agent = new Agent({ name: 'helper', model: 'openai/gpt-5', instructions: 'Be brief.' })
 * const { text } = await agent.generate('Why is the sky blue?')
 */
export class Agent<TOOLS extends ToolSet = ToolSet, OBJECT = undefined> {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
  /** Without its type parameter, so that an agent with tools is an `Agent`. */
  readonly #config: object
  readonly #routes: Route<never, never>[] = []
  #executor: BatchExecutor | undefined

  constructor(config: AgentConfig<TOOLS, OBJECT>) {
    this.id = config.id ?? config.name
    this.name = config.name
    this.description = config.description
    this.#config = Object.freeze({ ...config })
  }

  /**
   * Runs to the end. It is `stream`, drained.
   *
   * Throws: the run's error, with what there was in its `result`; the signal's reason when aborted. A tripwire is no
   * error: look at `result.tripwire`.
   */
  async generate<OUTPUT = OBJECT>(
    input: AgentInput<TOOLS, OUTPUT>,
    options?: CallOptions<TOOLS, OUTPUT>,
  ): Promise<LoopResult<TOOLS, OUTPUT>> {
    return orThrow(await this.stream(input, options).result)
  }

  /** Gives the run as it goes. Nothing happens before somebody reads or awaits. */
  stream<OUTPUT = OBJECT>(
    input: AgentInput<TOOLS, OUTPUT>,
    options?: CallOptions<TOOLS, OUTPUT>,
  ): AgentStream<TOOLS, OUTPUT> {
    const call = readCall(input, options)
    return new AgentStream(() => runOptionsFor(this.#config as AgentConfig<TOOLS, OUTPUT>, call))
  }

  /**
   * Goes on with a run that was suspended, in this process or another. It is the same run: give the options again that the
   * call was made with. `decisions` answer the run's `pendingApprovals`; what is left open suspends it once more.
   *
   * *Throws*, from every promise and view: an error that says why the state or a decision cannot be used. Nothing has
   * happened then.
   */
  resume<OUTPUT = OBJECT>(
    state: LoopState,
    decisions: readonly ApprovalDecision[] = [],
    options: CallOptions<TOOLS, OUTPUT> = {},
  ): AgentStream<TOOLS, OUTPUT> {
    const call = { messages: [], options }
    const prepare = async () => {
      checkList('decisions', decisions, '{ approvalId, approved }')
      return runOptionsFor(this.#config as AgentConfig<TOOLS, OUTPUT>, call)
    }
    return new AgentStream(prepare, { state, decisions })
  }

  /** Makes a route and adds it to those that `respond` goes over. Throws: a `BatchError` that names the step and the cure. */
  createRoute<TData = PlainData, TContext = unknown>(options: RouteOptions<TData, TContext>): Route<TData, TContext> {
    const route = createRoute(options)
    this.#routes.push(route as unknown as Route<never, never>)
    return route
  }

  /** Who makes the turns: add listeners to it, or plan with it. */
  get batchExecutor(): BatchExecutor {
    const { batch, debug } = this.#config as AgentConfig
    this.#executor ??= new BatchExecutor({ ...batch, ...(debug === undefined ? {} : { debug }) })
    return this.#executor
  }

  /**
   * Makes one turn of a conversation over routes: what the user said is read, the steps that it satisfies are run, and
   * the message asks what is still open, in one model call as a rule. Processors, tools and retries are the agent's.
   *
   * *Shape*: give the `session` and the `messageList` of the response to the next turn.
   * *Throws*: what makes no turn at all; a model, a hook or an abort that breaks one off is in `error`, with the session as
   * it was.
   */
  async respond<TData = PlainData, TContext = unknown>(
    input: RespondInput,
    options: RespondCallOptions<TData, TContext, TOOLS> = {} as RespondCallOptions<TData, TContext, TOOLS>,
  ): Promise<ConversationResponse<TData>> {
    const turn = this.streamResponse(input, options)
    for (;;) {
      const next = await turn.next()
      if (next.done) return next.value
    }
  }

  /** The same, with the message as it is written. */
  async *streamResponse<TData = PlainData, TContext = unknown>(
    input: RespondInput,
    options: RespondCallOptions<TData, TContext, TOOLS> = {} as RespondCallOptions<TData, TContext, TOOLS>,
  ): AsyncGenerator<TurnChunk, ConversationResponse<TData>, void> {
    const routes = options.routes ?? (this.#routes as unknown as readonly Route<TData, TContext>[])
    const call = { routes, options }
    const turn = await respondOptionsFor(this.#config as AgentConfig<TOOLS, never>, call)
    return yield* this.batchExecutor.streamResponse(input, turn)
  }
}
