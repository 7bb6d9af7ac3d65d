// One run while it goes: the conversation, the processors, the abort signal, the accounts. Steps read and advance it.
import type { MessageList, MessagePart, Snapshot } from '@lockstep/message-list'
import {
  createWriter,
  frozenSettings,
  isPromiseLike,
  PrepareStepProcessor,
  ProcessorError,
  ProcessorRunner,
  RequestContext,
  TripWire,
  untilAborted,
  type Chunk,
  type DataChunk,
  type HookEffect,
  type MaybePromise,
  type ModelCallRequest,
  type ModelCallResult,
  type OutputResult,
  type RunHost,
  type SavedRunner,
  type StepPosition,
  type StepResult,
  type StepSettings,
  type SystemMessage,
  type TracingContext,
} from '@lockstep/processors'
import { generateId as defaultId, type LanguageModelUsage, type ToolSet } from 'ai'
import type { Attempt } from '../step/attempt.ts'
import { checkOptions } from './check-options.ts'
import type { Emit } from './chunk-channel.ts'
import { callDetached } from '../model/detached-call.ts'
import { LoopError } from '../errors.ts'
import { FileDownloads } from '../model/file-downloads.ts'
import type { RejectedOutput } from './loop-result.ts'
import type { RunLoopOptions } from './options.ts'
import type { LoopState } from './loop-state.ts'
import type { PendingCall } from '../tools/pending-approval.ts'
import { resolveModel } from '../model/resolve-model.ts'
import { errorText } from '../error-text.ts'
import { textOf, type AcceptedStep } from '../step/accepted-step.ts'
import { ObjectReader } from '../object/structured-answer.ts'
import { Position } from './position.ts'
import { deadline, follow, type Timeouts } from './timeouts.ts'
import type { RunTelemetry } from '../telemetry/telemetry.ts'
import { TraceRecorder } from './trace.ts'
import { sumUsage, UsageAccount } from './usage.ts'

/** The state of a run. It lives as long as the run and belongs to it alone. */
export class Run implements RunHost {
  readonly runId: string
  readonly options: RunLoopOptions
  readonly list: MessageList
  readonly runner: ProcessorRunner
  readonly signal: AbortSignal
  readonly usage = new UsageAccount()
  readonly recorder = new TraceRecorder()
  readonly requestContext: RequestContext
  readonly tracingContext: TracingContext
  readonly resolveModel = resolveModel
  readonly warnings: string[] = []
  readonly generateId: () => string
  readonly settings: StepSettings
  readonly retryBudget: number
  readonly hold: 'step' | 'run' | undefined
  #steps: AcceptedStep[] = []
  #results: StepResult[] = []
  #shownResults: readonly StepResult[] | undefined
  /** Counted over the run: what processors asked for, and what processAPIError did. */
  processorRetryCount = 0
  apiRetryCount = 0
  /** The step that is being made, counted from 0. */
  stepNumber = 0
  attemptNumber = 0
  /** The accepted steps, in order. */
  get steps(): readonly AcceptedStep[] {
    return this.#steps
  }

  /** The attempt whose chain sees what is written now. */
  get attempt(): Attempt | undefined {
    return this.#attempt
  }

  /** The system messages that each step starts with. */
  originalSystemMessages: readonly SystemMessage[] = []
  /** Data that was written before the first step: it opens the response. */
  prologueParts: readonly MessagePart[] = []
  /** Told to the model in the next attempt only. */
  feedback: string | undefined
  /** The structured output, as far as it has been read. */
  object: unknown
  readonly objects = new ObjectReader()
  objectRepairCount = 0
  /** The calls of the open step that wait for a person. */
  pendingCalls: readonly PendingCall[] = []
  /** The list before the first step, with what was put in since: what a refusal of the whole response goes back to. */
  opened: Snapshot | undefined
  /** The run as JSON; there when it ends suspended. */
  loopState: LoopState | undefined
  /** There when somebody listens. */
  telemetry: RunTelemetry | undefined
  /** The `finish` chunk as the processors left it; there when the response was accepted. */
  finish: Chunk | undefined
  /** What a tripwire withdrew. */
  rejected: RejectedOutput = { text: '', toolCalls: [], steps: [] }
  /** Given to tools, so that they can show data too. */
  readonly toolWriter = createWriter(chunk => this.writeData(chunk))
  readonly #abort = new AbortController()
  readonly #emit: Emit<Chunk>
  #onChunk: RunLoopOptions['onChunk']
  readonly downloads: FileDownloads
  readonly timeouts: Timeouts
  readonly #unlink: () => void
  readonly #stopClock: () => void
  #responseId: string
  /** The message that the response's message continues, because something was put in between. */
  continuedId: string | undefined
  #closed = false
  #attempt: Attempt | undefined
  #heldForRun: Chunk[] | undefined

  constructor(options: RunLoopOptions, emit: Emit<Chunk>, saved?: SavedRunner) {
    checkOptions(options)
    this.options = options
    this.#emit = emit
    this.#onChunk = options.onChunk
    this.generateId = options.generateId ?? defaultId
    this.runId = options.runId ?? this.generateId()
    this.list = options.messageList
    this.downloads = new FileDownloads(options.download)
    this.signal = this.#abort.signal
    this.timeouts = typeof options.timeout === 'number' ? { totalMs: options.timeout } : (options.timeout ?? {})
    this.requestContext = options.requestContext ?? new RequestContext()
    this.tracingContext = options.tracingContext ?? {}
    this.#unlink = follow(options.abortSignal, this.#abort)
    this.#stopClock = deadline({ ms: this.timeouts.totalMs, of: 'The run' }, error => this.abort(error))
    this.runner = new ProcessorRunner(withPrepareStep(options), this, saved)
    this.settings = frozenSettings(settingsOf(options))
    this.retryBudget = options.maxProcessorRetries ?? (options.errorProcessors?.length ? 10 : 0)
    this.hold = holdOf(options)
    if (this.hold === 'run') this.#heldForRun = []
    this.#responseId = this.generateId()
  }

  /** Stops the run, wherever it is. */
  abort(reason: unknown): void {
    this.#abort.abort(reason)
  }

  /** What is written from now on is too late. */
  endWriting(): void {
    this.#closed = true
  }

  /** Leaves nothing behind: no listener, no timer. */
  close(): void {
    this.endWriting()
    this.#unlink()
    this.#stopClock()
  }

  /** Another attempt begins: the one before is over. */
  begin(attempt: Attempt): void {
    this.#attempt?.close()
    this.#attempt = attempt
  }

  /** Waits for work of the caller's own, and no longer than the run goes on. */
  whileRunning<T>(work: MaybePromise<T>): MaybePromise<T> {
    return isPromiseLike(work) ? untilAborted(work, this.signal) : work
  }

  /** The records of the steps; another array after each step, so that what a hook was given stays as it was. */
  get stepResults(): readonly StepResult[] {
    return (this.#shownResults ??= Object.freeze([...this.#results]))
  }

  /** Where the run is, for hooks. */
  get position(): StepPosition {
    return new Position(this)
  }

  /** Shows a chunk, or keeps it while the run is held. */
  show(chunk: Chunk): void | Promise<void> {
    if (this.#heldForRun) {
      this.#heldForRun.push(chunk)
      return
    }
    return this.#send(chunk)
  }

  /** Lets go of what was held for the run. */
  async release(): Promise<void> {
    const held = this.#heldForRun ?? []
    this.#heldForRun = undefined
    for (const chunk of held) await this.show(chunk)
  }

  /** Forgets what was held of the step that is being made. Tells whether the run is held at all. */
  dropHeldOfStep(): boolean {
    const held = this.#heldForRun
    held?.splice(held.findLastIndex(chunk => chunk.type === 'step-start'))
    return held !== undefined
  }

  /** Forgets what was held, since it was withdrawn. Tells whether there was anything to forget. */
  dropHeld(): boolean {
    const dropped = this.#heldForRun !== undefined
    this.#heldForRun = undefined
    return dropped
  }

  chunk<T extends Chunk['type']>(type: T, payload: Extract<Chunk, { type: T; payload: unknown }>['payload']): Chunk {
    return { type, runId: this.runId, from: 'AGENT', payload } as unknown as Chunk
  }

  /** What is held for the whole run, if that is how it is. */
  get held(): readonly Chunk[] | undefined {
    return this.#heldForRun
  }

  /** Goes on holding what a run held that was put down. */
  holdAgain(chunks: readonly Chunk[]): void {
    this.#heldForRun?.push(...chunks)
  }

  /** Lets the response go on in a message that is there. */
  continueIn(messageId: string): void {
    this.#responseId = messageId
  }

  /** The id of the message that the response goes to: a new one when something was put after the last. */
  responseId(): string {
    if (this.list.at(-1)?.id !== this.#responseId && this.list.find(this.#responseId)) {
      this.continuedId = this.#responseId
      this.#responseId = this.generateId()
    }
    return this.#responseId
  }

  /** Takes the conversation back to a snapshot. */
  withdrawTo(snapshot: Snapshot): void {
    this.list.restore(snapshot)
  }

  /** The run so far as `processOutputResult` and `processRunEnd` see it. */
  output(): OutputResult {
    const steps = this.stepResults
    return {
      text: this.steps.map(step => textOf(this.list, step)).join(''),
      usage: sumUsage(steps.map(step => step.usage)),
      finishReason: steps.at(-1)?.finishReason ?? 'other',
      steps,
      object: this.object,
    }
  }

  /** Sets the accepted steps; the only way in which they change, but for one more. */
  replaceSteps(steps: readonly AcceptedStep[]): void {
    this.#steps = [...steps]
    this.#results = steps.map(step => step.result)
    this.#shownResults = undefined
  }

  /** One more step was accepted. */
  addStep(step: AcceptedStep): void {
    this.#steps.push(step)
    this.#results.push(step.result)
    this.#shownResults = undefined
  }

  /** Tells whether a processor's wish for another attempt can be granted, and spends one if so. */
  grantRetry(tripwire: TripWire): boolean {
    if (!tripwire.retry || this.processorRetryCount >= this.retryBudget) return false
    this.processorRetryCount++
    this.attempt?.hears(tripwire)
    return true
  }

  /** Tells whether the model may try again to give the object that was asked for; once in a run. */
  grantObjectRepair(): boolean {
    return this.objectRepairCount++ === 0
  }

  #send(chunk: Chunk): void | Promise<void> {
    const onChunk = this.#onChunk
    if (!onChunk) return this.#emit(chunk)
    try {
      const told = onChunk(chunk)
      if (isPromiseLike(told))
        return Promise.resolve(told).then(
          () => this.#emit(chunk),
          error => this.#failedToTell(error),
        )
    } catch (error) {
      this.#failedToTell(error)
    }
    return this.#emit(chunk)
  }

  /** A callback that throws is the run's error, once: it is not called for the chunks that say so. */
  #failedToTell(error: unknown): never {
    this.#onChunk = undefined
    throw error
  }

  // What processors need of the run.

  get abortSignal(): AbortSignal {
    return this.signal
  }

  get totalUsage(): LanguageModelUsage {
    return this.usage.total
  }

  onEffect(effect: HookEffect): void {
    this.telemetry?.note(effect)
  }

  /** Shows application data and keeps it in the response, as its writer asks. */
  writeData(chunk: DataChunk, writerId?: string): Promise<void> {
    if (!this.#closed) return this.attempt!.takeData(chunk, writerId)
    return Promise.reject(
      new ProcessorError(
        'late-write',
        `${writerId ?? 'A tool'} wrote '${chunk.type}' after the run had ended. Await what writes before returning.`,
        writerId === undefined ? {} : { processorId: writerId },
      ),
    )
  }

  async callModel(request: ModelCallRequest, processorId: string): Promise<ModelCallResult> {
    const model = request.model === undefined ? this.settings.model : resolveModel(request.model)
    const book = (usage: LanguageModelUsage) => this.usage.book(usage, processorId)
    const call = () => callDetached(model, request, { abortSignal: this.signal, book })
    return this.telemetry ? this.telemetry.callDetached(processorId, { model, request }, call) : call()
  }
}

function settingsOf(options: RunLoopOptions): StepSettings {
  return {
    model: resolveModel(options.model),
    tools: options.tools ?? ({} as ToolSet),
    toolChoice: options.toolChoice,
    activeTools: options.activeTools,
    providerOptions: options.providerOptions,
    modelSettings: options.modelSettings ?? {},
    structuredOutput: options.structuredOutput,
  }
}

function withPrepareStep(options: RunLoopOptions): RunLoopOptions {
  if (!options.prepareStep) return options
  const last = new PrepareStepProcessor({ prepareStep: options.prepareStep })
  return { ...options, inputProcessors: [...(options.inputProcessors ?? []), last] }
}

function holdOf(options: RunLoopOptions): 'step' | 'run' | undefined {
  const { inputProcessors = [], outputProcessors = [], errorProcessors = [] } = options
  const holds = [options.hold, ...[...inputProcessors, ...outputProcessors, ...errorProcessors].map(({ hold }) => hold)]
  return holds.includes('run') ? 'run' : holds.find(hold => hold !== undefined)
}

/** What the model reads of a refusal, in the next attempt. */
export function feedbackOn(reason: string): string {
  return `Your previous answer was not accepted: ${reason}`
}

/** How a run that failed says so in text. */
export function failureText(error: unknown): string {
  return LoopError.isInstance(error) ? error.message : errorText(error)
}
