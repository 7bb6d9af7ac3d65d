// One call of one hook: its context, its errors, its tripwire. Every hook of every processor is called through here.
import { frozenWriteError, type MessageList, type Snapshot } from '@lockstep/message-list'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { CallModel, ModelChoice } from '../call-model.ts'
import { noUsage, type ProcessorContext, type RunHost, type StepPosition } from '../context.ts'
import { ProcessorError } from '../errors.ts'
import type { HookTotal, Ledger, ProcessorEffect } from '../ledger.ts'
import { messageOf } from '../in-words.ts'
import { isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import type { HookName, Processor } from '../processor.ts'
import { TripWire, type AbortOptions } from '../trip-wire.ts'
import { untilAborted } from '../until-aborted.ts'
import { createWriter } from '../writer.ts'

/** What all hook calls of a run share. */
export interface HookScope {
  readonly host: RunHost
  readonly ledger: Ledger
  stateOf(processorId: string): object
}

const timedEvery = 16

/** The hooks that may only look: a refusal in them is a mistake. */
const observers: ReadonlySet<HookName> = new Set<HookName>(['processStepEnd', 'processRunEnd'])

/** The hooks that also run when the run was aborted, so that an abort does not cut them short. */
const cleanups: ReadonlySet<HookName> = new Set<HookName>(['processRunEnd', 'flush'])

/** The hooks beside which others write: going back would take their edits too. */
const concurrent: ReadonlySet<HookName> = new Set<HookName>(['processToolResult', 'processOutputStream'])

/** Where a hook is called. */
interface HookPlace<THook extends HookName> {
  readonly hook: THook
  readonly position: StepPosition
  readonly toolCallId?: string
  /** The call is made in the midst of a run, though the hook is one that cleans up: an abort ends it. */
  readonly isMidway?: boolean
}

type Hook<THook extends HookName> = NonNullable<Processor[THook]>
type ArgsOf<THook extends HookName> = Parameters<Hook<THook>>[0]
type ResultOf<THook extends HookName> = Awaited<ReturnType<Hook<THook>>>
type Caller<THook extends HookName> = {
  readonly [hook in THook]: (args: ArgsOf<THook>) => MaybePromise<ResultOf<THook>>
}

/** One processor's turn in a hook. Create one per call (the stream: one per attempt), then `run` it. */
export class HookCall<THook extends HookName = HookName> {
  readonly processor: Processor
  readonly hook: THook
  readonly position: StepPosition
  /** The conversation, in this processor's name. */
  readonly list: MessageList
  readonly #scope: HookScope
  #tripwire: TripWire | undefined
  #misuse: ProcessorError | undefined
  #open = true
  readonly #toolCallId: string | undefined
  readonly #isCleanup: boolean
  /** Where the sums of this hook of this processor are; found once, since a stream is called for every chunk. */
  readonly #total: HookTotal
  #callCount = 0
  /** From the first call that is not accounted for to the last; a stream has many. */
  #startedAt: number | undefined
  #endedAt = 0
  /** What the conversation was, for a processor whose failure must leave no half of its edits. */
  readonly #before: Snapshot | undefined

  constructor(scope: HookScope, processor: Processor, at: HookPlace<THook>) {
    this.#scope = scope
    this.processor = processor
    this.hook = at.hook
    this.position = at.position
    this.#toolCallId = at.toolCallId
    this.#isCleanup = cleanups.has(at.hook) && at.isMidway !== true
    this.#total = scope.ledger.totalOf(processor.id, at.hook)
    this.list = scope.host.list.as({ id: processor.id, hook: at.hook, step: at.position.stepNumber })
    this.#before = processor.onError === 'skip' && !concurrent.has(at.hook) ? this.list.snapshot() : undefined
  }

  /** The context of the call; `messages` are all unless the hook says otherwise. */
  context(messages = this.list.get.all.db()): ProcessorContext {
    const { host } = this.#scope
    const { id } = this.processor
    return {
      messages,
      messageList: this.list,
      systemMessages: this.list.getAllSystemMessages(),
      stepNumber: this.position.stepNumber,
      steps: this.position.steps,
      state: this.#scope.stateOf(id),
      retryCount: this.position.retryCount,
      totalUsage: host.totalUsage ?? noUsage,
      abort: this.#abort,
      abortSignal: host.abortSignal,
      requestContext: host.requestContext,
      writer: createWriter(chunk => host.writeData(chunk, id)),
      tracingContext: host.tracingContext,
      callModel: (request => host.callModel(request, id)) as CallModel,
    }
  }

  /**
   * Calls the hook and gives its result, or `skipped` when it threw and the processor's errors are skipped.
   * Throws: the tripwire, also when the hook swallowed it; a `ProcessorError` for anything else that was thrown.
   */
  run(args: ArgsOf<THook>, skipped: ResultOf<THook>): MaybePromise<ResultOf<THook>> {
    const startedAt = this.#isTimed() ? performance.now() : undefined
    this.#startedAt ??= startedAt
    let result: MaybePromise<ResultOf<THook>>
    try {
      result = (this.processor as object as Caller<THook>)[this.hook](args)
    } catch (error) {
      this.#count(startedAt)
      return this.#fail(error, skipped)
    }
    if (result === skipped || !isPromiseLike(result)) {
      this.#count(startedAt)
      return this.#pass(result as ResultOf<THook>)
    }
    return this.#settle(result, startedAt, skipped)
  }

  async #settle<T>(result: PromiseLike<T>, startedAt: number | undefined, skipped: T): Promise<T> {
    let settled: T
    try {
      settled = await (this.#isCleanup ? result : untilAborted(result, this.#scope.host.abortSignal))
    } catch (error) {
      return this.#fail(error, skipped)
    } finally {
      this.#count(startedAt)
    }
    return this.#pass(settled)
  }

  /** The result of a hook that returned, unless it refused before. */
  #pass<T>(result: T): T {
    if (this.hook !== 'processOutputStream') this.#open = false
    if (this.#misuse) throw this.#misuse
    if (this.#tripwire) throw this.#thrown(this.#tripwire)
    return result
  }

  #fail<T>(error: unknown, skipped: T): T {
    if (this.hook !== 'processOutputStream') this.#open = false
    if (this.#misuse) throw this.#misuse
    if (this.#tripwire) throw this.#thrown(this.#tripwire)
    const { abortSignal } = this.#scope.host
    if (abortSignal.aborted && (!this.#isCleanup || error === abortSignal.reason)) throw abortSignal.reason
    // Another processor's, who refused what this one wrote.
    if (TripWire.isInstance(error)) throw error
    if (this.processor.onError === 'skip') {
      if (this.#before) this.list.restore(this.#before)
      this.note({ type: 'skipped', error })
      return skipped
    }
    throw this.#asProcessorError(error)
  }

  /** Each refusal is thrown once: the next chunk of a stream is another matter. */
  #thrown(tripwire: TripWire): TripWire {
    this.#tripwire = undefined
    this.note({ type: 'tripwire', reason: tripwire.reason, retry: tripwire.retry })
    return tripwire
  }

  #asProcessorError(error: unknown): ProcessorError {
    if (ProcessorError.isInstance(error)) return error
    const frozen = frozenWriteError(error, `The processor '${this.processor.id}' in ${this.hook}`)
    const details = { processorId: this.processor.id, hook: this.hook, cause: error }
    return frozen
      ? new ProcessorError('frozen-write', frozen.message, details)
      : new ProcessorError(
          'hook-failed',
          `The processor '${this.processor.id}' failed in ${this.hook}: ${messageOf(error)}`,
          details,
        )
  }

  readonly #abort = (reason?: string, options?: AbortOptions): never => {
    const { id } = this.processor
    if (observers.has(this.hook)) {
      this.#misuse ??= new ProcessorError(
        'abort-in-observer',
        `The processor '${id}' called abort in ${this.hook}, which only observes. Refuse in processOutputStep or processOutputResult.`,
        { processorId: id, hook: this.hook },
      )
      throw this.#misuse
    }
    if (!this.#open)
      throw new ProcessorError(
        'abort-too-late',
        `The processor '${id}' called abort after its ${this.hook} had returned. Await what decides before returning.`,
        { processorId: id, hook: this.hook },
      )
    this.#tripwire ??= new TripWire({ processorId: id, hook: this.hook }, reason, options)
    throw this.#tripwire
  }

  /** Enters what the call did into the run's ledger. */
  note(effect: ProcessorEffect): void {
    const { stepNumber, attemptNumber } = this.position
    const event = { stepNumber, attemptNumber, processorId: this.processor.id, hook: this.hook, effect }
    this.#scope.ledger.note(event)
    const endedAt = this.hook === 'processOutputStream' ? performance.now() : this.#endedAt
    const startedAt = this.#startedAt ?? endedAt
    this.#startedAt = undefined
    this.#scope.host.onEffect?.({ event, call: this, toolCallId: this.#toolCallId, startedAt, endedAt })
  }

  /** An error of the contract, with the name of the processor and the hook in it. */
  misused(code: ProcessorError['code'], message: string): ProcessorError {
    return new ProcessorError(code, `The processor '${this.processor.id}' ${message}`, {
      processorId: this.processor.id,
      hook: this.hook,
    })
  }

  /** Ends the turn: what the processor does with its arguments from now on is too late. */
  close(): void {
    this.#open = false
  }

  /** Looking at the clock costs as much as a small hook: of the calls of a stream, every sixteenth is timed. */
  #isTimed(): boolean {
    return this.hook !== 'processOutputStream' || this.#callCount % timedEvery === 0
  }

  #count(startedAt: number | undefined): void {
    this.#callCount++
    this.#total.callCount++
    if (startedAt === undefined) return
    this.#endedAt = performance.now()
    this.#total.timedCount++
    this.#total.timedMs += this.#endedAt - startedAt
  }
}

/** Resolves a model that a hook returned. Throws: `unsupported-model`, with the processor's name. */
export function resolveModelFor(call: HookCall, host: RunHost, model: ModelChoice): LanguageModelV4 {
  try {
    return host.resolveModel(model)
  } catch (error) {
    throw call.misused(
      'unsupported-model',
      `returned a model from ${call.hook} that cannot be used. ${messageOf(error)}`,
    )
  }
}
