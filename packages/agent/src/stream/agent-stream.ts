// What `stream` gives: views of the run as it goes, and a promise for each thing that it leaves behind.
import {
  errorText,
  resumeLoop,
  runLoop,
  Steering,
  type Delivery,
  type LoopResult,
  type Resumption,
  type RunLoopOptions,
} from '@lockstep/agent-loop'
import type { MessageInput } from '@lockstep/message-list'
import { planProcessors, type Chunk, type ProcessorArrays } from '@lockstep/processors'
import type { DeepPartial, InferUIMessageChunk, ToolSet, UIMessage } from 'ai'
import { AgentError } from '../errors.ts'
import { objectView } from './object-view.ts'
import { SharedReading } from './shared-reading.ts'
import { streamOnDemand } from './stream-on-demand.ts'
import { textView } from './text-view.ts'
import type { UIMessageStreamOptions, UIResponseInit } from '../ui/ui-message-stream.ts'
import { uiResponse } from '../ui/ui-response.ts'

let preparedOf: (stream: AgentStream) => Promise<RunLoopOptions>

/**
 * A run that starts when somebody reads or awaits.
 *
 * *Views* (`fullStream`, `textStream`, `objectStream`) that are taken before the first read each get everything; one that is taken later
 * throws. Leaving the only reader aborts the run.
 * *Promises* can be awaited at any time, any number of times, or never. They reject when the run failed or was aborted;
 * `result` tells the
 * ending as a value; it rejects only when the call could not be made at all.
 */
export class AgentStream<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> {
  static {
    preparedOf = stream => stream.#prepare()
  }

  readonly #options: () => Promise<RunLoopOptions<TOOLS, OBJECT>>
  readonly #reading: SharedReading<Chunk, LoopResult<TOOLS, OBJECT>>
  readonly #steering = new Steering()
  #prepared: Promise<RunLoopOptions<TOOLS, OBJECT>> | undefined
  #outcome: Promise<LoopResult<TOOLS, OBJECT>> | undefined

  /** With `resumption` the run goes on from there; otherwise it begins. */
  constructor(options: () => Promise<RunLoopOptions<TOOLS, OBJECT>>, resumption?: Resumption) {
    this.#options = options
    this.#reading = new SharedReading(async () => {
      const run = await this.#prepare()
      return resumption ? resumeLoop(resumption, run) : runLoop(run)
    })
  }

  /** Every chunk. A reader honours `step-reset`: what came since the step's start is withdrawn. */
  get fullStream(): AsyncGenerator<Chunk, void, void> {
    return this.#reading.view()
  }

  /** The text alone. Where processors may withdraw a step, its text comes when it is accepted. */
  get textStream(): AsyncGenerator<string, void, void> {
    return textView(this.#reading.view(), async () => ({ holdSteps: canWithdraw(await this.#prepare()) }))
  }

  /** The object as it grows; each value takes the place of the one before, also after a step that was withdrawn. */
  get objectStream(): AsyncGenerator<DeepPartial<OBJECT>, void, void> {
    return objectView(this.#reading.view()) as AsyncGenerator<DeepPartial<OBJECT>, void, void>
  }

  /** What `useChat` reads, as `toUIMessageStream` of `@lockstep/agent/ui` makes it; it knows this run's plan. */
  toUIMessageStream<UI_MESSAGE extends UIMessage = UIMessage>(
    options: UIMessageStreamOptions<UI_MESSAGE> = {},
  ): ReadableStream<InferUIMessageChunk<UI_MESSAGE>> {
    const view = this.#reading.view()
    const open = async () => {
      const { toUIMessageStream } = await import('../ui/ui-message-stream.ts')
      return toUIMessageStream<UI_MESSAGE>(view, { plan: () => this.#prepare(), ...options })
    }
    return streamOnDemand(open, { highWaterMark: 0 })
  }

  /** `toUIMessageStream` as the response of a server, as server-sent events. */
  toUIMessageStreamResponse<UI_MESSAGE extends UIMessage = UIMessage>(
    options: UIMessageStreamOptions<UI_MESSAGE> & UIResponseInit = {},
  ): Response {
    const { status, statusText, headers, keepAliveMs, consumeSseStream, ...view } = options
    const init = { status, statusText, headers, keepAliveMs, consumeSseStream } as UIResponseInit
    return uiResponse(this.toUIMessageStream<UI_MESSAGE>(view), init)
  }

  /** Reads to the end. Resolves whatever way the run ended; `stopReason` says which. Rejects for a call that cannot be made. */
  get result(): Promise<LoopResult<TOOLS, OBJECT>> {
    return this.#reading.result()
  }

  get text(): Promise<LoopResult<TOOLS, OBJECT>['text']> {
    return this.#promise('text')
  }

  get object(): Promise<LoopResult<TOOLS, OBJECT>['object']> {
    return this.#promise('object')
  }

  get reasoning(): Promise<LoopResult<TOOLS, OBJECT>['reasoning']> {
    return this.#promise('reasoning')
  }

  get reasoningText(): Promise<LoopResult<TOOLS, OBJECT>['reasoningText']> {
    return this.#promise('reasoningText')
  }

  get steps(): Promise<LoopResult<TOOLS, OBJECT>['steps']> {
    return this.#promise('steps')
  }

  get toolCalls(): Promise<LoopResult<TOOLS, OBJECT>['toolCalls']> {
    return this.#promise('toolCalls')
  }

  get toolResults(): Promise<LoopResult<TOOLS, OBJECT>['toolResults']> {
    return this.#promise('toolResults')
  }

  get usage(): Promise<LoopResult<TOOLS, OBJECT>['usage']> {
    return this.#promise('usage')
  }

  get totalUsage(): Promise<LoopResult<TOOLS, OBJECT>['totalUsage']> {
    return this.#promise('totalUsage')
  }

  get finishReason(): Promise<LoopResult<TOOLS, OBJECT>['finishReason']> {
    return this.#promise('finishReason')
  }

  get stopReason(): Promise<LoopResult<TOOLS, OBJECT>['stopReason']> {
    return this.#promise('stopReason')
  }

  get tripwire(): Promise<LoopResult<TOOLS, OBJECT>['tripwire']> {
    return this.#promise('tripwire')
  }

  get pendingApprovals(): Promise<LoopResult<TOOLS, OBJECT>['pendingApprovals']> {
    return this.#promise('pendingApprovals')
  }

  get loopState(): Promise<LoopResult<TOOLS, OBJECT>['loopState']> {
    return this.#promise('loopState')
  }

  get response(): Promise<LoopResult<TOOLS, OBJECT>['response']> {
    return this.#promise('response')
  }

  get messages(): Promise<LoopResult<TOOLS, OBJECT>['messages']> {
    return this.#promise('messages')
  }

  get warnings(): Promise<LoopResult<TOOLS, OBJECT>['warnings']> {
    return this.#promise('warnings')
  }

  /** The error of the run, once it has failed; it resolves to undefined for every other ending. */
  get error(): Promise<unknown> {
    const error = this.#reading.result().then(result => result.error)
    error.catch(() => {})
    return error
  }

  get trace(): Promise<LoopResult<TOOLS, OBJECT>['trace']> {
    return this.#promise('trace')
  }

  /**
   * Puts a message in before the next step. A run that was about to end goes on to hear it.
   * Resolves when it has entered, or when the run has ended without it. Rejects for what is no message.
   */
  steer(message: MessageInput): Promise<Delivery> {
    return this.#steering.steer(message)
  }

  /** Puts a message in when the run has its answer, and lets it answer that too. Resolves as `steer` does. */
  followUp(message: MessageInput): Promise<Delivery> {
    return this.#steering.followUp(message)
  }

  async #prepareOnce(): Promise<RunLoopOptions<TOOLS, OBJECT>> {
    try {
      return { ...(await this.#options()), steering: this.#steering }
    } catch (error) {
      this.#steering.end('error')
      throw error
    }
  }

  #prepare(): Promise<RunLoopOptions<TOOLS, OBJECT>> {
    this.#prepared ??= this.#prepareOnce()
    return this.#prepared
  }

  #promise<K extends keyof LoopResult<TOOLS, OBJECT>>(key: K): Promise<LoopResult<TOOLS, OBJECT>[K]> {
    this.#outcome ??= this.#reading.result().then(orThrow)
    const promise = this.#outcome.then(result => result[key])
    promise.catch(() => {})
    return promise
  }
}

/**
 * The result of a run that has an answer to give.
 * Throws: the run's error, with `result` on it; the signal's reason when the run was aborted.
 */
export function orThrow<TOOLS extends ToolSet, OBJECT>(result: LoopResult<TOOLS, OBJECT>): LoopResult<TOOLS, OBJECT> {
  if (result.stopReason === 'aborted') throw result.abortReason
  if (result.stopReason === 'error') throw withResult(result.error, result)
  return result
}

function withResult(error: unknown, result: unknown): unknown {
  const carrier =
    typeof error === 'object' && error !== null && Object.isExtensible(error)
      ? error
      : new AgentError('run-failed', `The run failed with ${errorText(error)}.`, { cause: error })
  return Object.defineProperty(carrier, 'result', { value: result, configurable: true })
}

/** Tells whether views that cannot take anything back have to hold the run's steps. */
export function holdsSteps(stream: AgentStream): Promise<boolean> {
  return preparedOf(stream).then(canWithdraw)
}

/** Tells whether a step that was shown may still be withdrawn. */
function canWithdraw(
  options: Pick<RunLoopOptions, 'maxProcessorRetries' | 'structuredOutput' | keyof ProcessorArrays>,
): boolean {
  const plan = planProcessors(options)
  return (
    options.structuredOutput !== undefined ||
    (options.maxProcessorRetries ?? 0) > 0 ||
    (options.errorProcessors?.length ?? 0) > 0 ||
    plan.processLLMResponse.length + plan.processOutputStep.length + plan.processToolCall.length > 0
  )
}
