// One try at a step: prompt, model call, chunks through the processors, the response in the list, and the guards.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { continuationOf, toolNameOf, type MessagePart, type ToolPart } from '@lockstep/message-list'
import {
  isPromiseLike,
  TripWire,
  untilAborted,
  type Chunk,
  type ChunkNamed,
  type DataChunk,
  type MaybePromise,
  type ObjectRequest,
  type PreparedStep,
  type StepOutput,
  type StepSettings,
  type StreamChain,
  type ToolCallInfo,
} from '@lockstep/processors'
import { contentOf, partsOf, placeOfLast, toolPartsOf, type StepPlace } from './accepted-step.ts'
import { readAnswer } from '../model/model-answer.ts'
import type { CallSummary } from '../model/part-reader.ts'
import { InputCallbacks } from '../tools/input-callbacks.ts'
import { outcomeOf, ResponseParts } from './response-parts.ts'
import type { Run } from '../run/run.ts'
import { stepResultOf, type ResponseInfo } from './step-result-of.ts'
import { InvalidObject } from '../object/structured-answer.ts'
import { guardToolCalls, type GuardedToolCall } from '../tools/tool-guard.ts'

/** What one try needs from its step. */
export interface AttemptStart {
  readonly settings: StepSettings
  /** Set when `processAPIError` repaired the step: its preparation is kept. */
  readonly prepared: PreparedStep | undefined
}

/** A call as the model made it: the checked value for the tool, and the copies of it in the stream and the conversation. */
export interface ParsedCall {
  readonly input: unknown
  readonly shown: unknown
  /** Why it cannot be run. */
  readonly error: unknown
  stored: unknown
}

const nothing = Object.freeze([])
const noRequest = Object.freeze({})

/** One try at a step, while it goes and after. */
export class Attempt {
  readonly response: ResponseParts
  info: ResponseInfo = { model: undefined, warnings: nothing, request: noRequest, metadata: {}, headers: undefined }
  /** The calls as they were parsed, by id. */
  readonly parsedCalls = new Map<string, ParsedCall>()
  /** What the model wrote as the input of a call, by its id. */
  readonly writtenInputs = new Map<string, string>()
  prepared: PreparedStep | undefined
  summary: CallSummary | undefined
  place: StepPlace | undefined
  toolCalls: readonly GuardedToolCall[] = []
  /** The object that its answer had to be, and what it was read as. */
  asked: ObjectRequest | undefined
  object: unknown
  /** How many chunks of it readers have seen. */
  shownCount = 0
  readonly #run: Run
  readonly #chain: StreamChain
  #inputs: InputCallbacks | undefined
  #held: Chunk[] | undefined
  /** What is shown in passing and is not through yet. */
  #passing: Set<Promise<void>> | undefined
  /** What came of things that were shown in passing. */
  #unheard: Set<unknown> | undefined
  /** Pending while a chunk of a tool is on its way. */
  #turn: PromiseLike<void> | undefined

  constructor(run: Run, parts: readonly MessagePart[] = []) {
    this.#run = run
    this.response = new ResponseParts(parts)
    this.#chain = run.runner.streamChain(run.position)
    this.#held = run.hold === undefined ? undefined : []
  }

  /** Passes a chunk through the processors; what is left of it enters the response and is shown. */
  take(chunk: Chunk, writerId?: string): MaybePromise<void> {
    const out = this.#chain.pass(chunk, writerId)
    return isPromiseLike(out)
      ? out.then(passed => this.#admit(passed))
      : this.#admit(out as Chunk | readonly Chunk[] | undefined)
  }

  /** As `take`, after giving processors the chance to let go of what they held of a block that ends. */
  takeInOrder(chunk: Chunk): MaybePromise<void> {
    if (chunk.type !== 'text-end' && chunk.type !== 'reasoning-end') return this.take(chunk)
    const released = this.#chain.release('block-end', chunk.payload.id)
    return released === undefined ? this.take(chunk) : this.#admitReleased(released).then(() => this.take(chunk))
  }

  /** Whether a processor wishes to be asked for what it holds back, though the model may say nothing. */
  get hasWishes(): boolean {
    return this.#chain.hasWishes
  }

  /** Asks processors for what they hold back when they wish it, until something else has settled. */
  async releaseUntil(next: Promise<unknown>): Promise<void> {
    // A processor may fail before it is waited for; then nobody hears what becomes of it.
    next.catch(() => {})
    while (this.#chain.hasWishes && (await this.#chain.isDueBefore(next)))
      await this.#admitReleased(this.#chain.releaseDue())
  }

  /** Waits for the chunk before: tools finish in any order, the chain takes one at a time. */
  takeInTurn(chunk: Chunk): MaybePromise<void> {
    const taken = this.#turn ? this.#turn.then(() => this.take(chunk)) : this.take(chunk)
    if (!isPromiseLike(taken)) return
    const over = () => {
      if (this.#turn === turn) this.#turn = undefined
    }
    const turn: PromiseLike<void> = taken.then(over, over)
    this.#turn = turn
    return taken
  }

  /** Application data of a tool, or of the processor `writerId`, which writes while the chain is its own. */
  takeData(chunk: DataChunk, writerId: string | undefined): Promise<void> {
    return this.inPassing(async () => (writerId === undefined ? this.takeInTurn(chunk) : this.take(chunk, writerId)))
  }

  /** Shows what somebody else wrote. A failure is the run's to hear, also when the writer does not listen. */
  inPassing(show: () => Promise<void>): Promise<void> {
    const shown = show()
    const passing = (this.#passing ??= new Set())
    passing.add(shown)
    shown.then(
      () => passing.delete(shown),
      (error: unknown) => {
        passing.delete(shown)
        ;(this.#unheard ??= new Set()).add(error)
      },
    )
    return shown
  }

  /** Whether an error came of what was shown in passing. From then on it is the caller's to deal with. */
  hears(error: unknown): boolean {
    return this.#unheard?.delete(error) === true
  }

  /**
   * Throws what came of things that were shown in passing, if nobody has heard it. Waits for those that are not through:
   * a processor may take its time.
   */
  throwUnheard(): MaybePromise<void> {
    const passed = this.passed()
    if (passed) return passed.then(() => this.throwUnheard())
    if (this.#unheard && this.#unheard.size > 0) this.#throwFirst([...this.#unheard])
  }

  /** Waits until what is shown in passing is through, when something is. */
  passed(): Promise<unknown> | undefined {
    if (this.#passing && this.#passing.size > 0) return Promise.allSettled(this.#passing)
  }

  /** What ends the run comes before a wish for another try. */
  #throwFirst(errors: readonly unknown[]): never {
    this.#unheard = undefined
    throw errors.find(error => !TripWire.isInstance(error) || !error.retry) ?? errors[0]
  }

  /**
   * Passes a chunk of the run's frame through the processors. What they add is shown; the chunk itself is given back to
   * be shown by the caller, also when a processor dropped it.
   */
  takeFrame(frame: Chunk): MaybePromise<Chunk> {
    const passed = this.#chain.pass(frame)
    return passed === frame ? frame : this.#takePassed(frame, passed)
  }

  async #takePassed(frame: Chunk, out: ReturnType<StreamChain['pass']>): Promise<Chunk> {
    const passed = [(await out) ?? []].flat()
    for (const chunk of passed) if (chunk.type !== frame.type) await this.#admit(chunk)
    return passed.findLast(chunk => chunk.type === frame.type) ?? frame
  }

  flush(reason: 'finish' | 'abort'): MaybePromise<void> {
    const released = this.#chain.release(reason)
    return released === undefined ? undefined : this.#admitReleased(released)
  }

  async #admitReleased(released: AsyncIterable<Chunk>): Promise<void> {
    for await (const chunk of released) await this.#admitOne(chunk)
  }

  /** Shows what was held: the step is accepted. */
  release(): MaybePromise<void> {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) return this.#showEach(held)
  }

  async #showEach(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) await this.#show(chunk)
  }

  /** Enters what the chain did into the account of the run. */
  account(): void {
    this.#chain.account()
  }

  /** Ends the chain, when another attempt begins or the run is over. */
  close(): void {
    this.#chain.close()
  }

  #admit(passed: Chunk | readonly Chunk[] | undefined): MaybePromise<void> {
    if (passed === undefined) return
    if (!Array.isArray(passed)) return this.#admitOne(passed as Chunk)
    return this.#admitEach(passed as readonly Chunk[])
  }

  async #admitEach(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) await this.#admitOne(chunk)
  }

  #admitOne(chunk: Chunk): MaybePromise<void> {
    if (this.place === undefined) this.response.add(chunk)
    else keepLateData(this.#run, chunk, this.place)
    if (chunk.type !== 'tool-input-start' && chunk.type !== 'tool-input-delta') return this.#show(chunk)
    return this.#showInput(chunk)
  }

  async #showInput(chunk: ChunkNamed<'tool-input-start' | 'tool-input-delta'>): Promise<void> {
    await this.#show(chunk)
    this.#inputs ??= new InputCallbacks()
    await this.#inputs.tell(this.#run, this, chunk)
  }

  #show(chunk: Chunk): void | Promise<void> {
    if (this.#held) {
      this.#held.push(chunk)
      return
    }
    this.shownCount++
    return this.#run.show(chunk)
  }
}

/** Data written after the model has answered goes into the response at once. */
function keepLateData(run: Run, chunk: Chunk, place: StepPlace): void {
  if (!('data' in chunk) || chunk.transient || !run.list.find(place.messageId)) return
  const { type, data, id } = chunk
  run.list.as({ id: 'data', step: run.stepNumber }).update(place.messageId, message => {
    const before =
      id === undefined
        ? undefined
        : message.content.parts.find(part => part.type === type && 'id' in part && part.id === id)
    if (before) (before as { data: unknown }).data = data
    else message.content.parts.push({ type, data, ...(id === undefined ? {} : { id }) } as never)
  })
}

/**
 * Makes one try. Gives it back when every guard has passed.
 *
 * *Throws*: a `TripWire`, a `ProcessorError`, a `ProviderFailure`, an `InvalidObject`, or the reason of an abort.
 */
export async function runAttempt(run: Run, attempt: Attempt, start: AttemptStart): Promise<void> {
  const prepared = start.prepared ?? prepare(run, start.settings)
  attempt.prepared = isPromiseLike(prepared) ? await prepared : prepared
  const { settings } = attempt.prepared
  attempt.info.model = Object.freeze({ provider: settings.model.provider, modelId: settings.model.modelId })
  const made = promptFor(run, attempt.prepared)
  const prompt = isPromiseLike(made) ? await untilAborted(made, run.signal) : (made as LanguageModelV4Prompt)
  const asked = run.runner.runProcessLLMRequest({ position: run.position, settings, prompt })
  const request = isPromiseLike(asked) ? await asked : asked
  const chunks = await readAnswer(run, attempt, request)
  enterResponse(run, attempt)
  if (chunks) {
    const response = { model: settings.model, chunks, fromCache: request.response !== undefined }
    await run.runner.runProcessLLMResponse({ position: run.position, response })
  }
  const judged = run.runner.runProcessOutputStep(() => outputOf(run, attempt))
  if (judged) await judged
  attempt.toolCalls = await guardToolCalls(run, attempt)
  if (attempt.toolCalls.length === 0 && settings.structuredOutput)
    await readAnswerAs(run, attempt, settings.structuredOutput)
  const unheard = attempt.throwUnheard()
  if (unheard) await unheard
}

/** The conversation as the model is given it, with the files that its provider cannot fetch. */
function promptFor(run: Run, { settings, overlay }: PreparedStep): MaybePromise<LanguageModelV4Prompt> {
  let hasFiles = false
  const onFiles = () => void (hasFiles = true)
  const prompt = run.list.get.all.prompt(overlay ? { overlay, onFiles } : { onFiles })
  return hasFiles ? run.downloads.resolve(prompt, settings.model, run.signal) : prompt
}

/** Reads the answer as the object that was asked for. Throws: `InvalidObject`, when the model may try again. */
async function readAnswerAs(run: Run, attempt: Attempt, asked: ObjectRequest): Promise<void> {
  attempt.asked = asked
  const current = stepResultOf(run, attempt, contentOf(partsOf(run.list, attempt.place!)))
  const outcome = await run.objects.read(asked, current.text, current)
  if ('object' in outcome) attempt.object = outcome.object
  else if (run.grantObjectRepair()) throw new InvalidObject(outcome.error)
}

/** Starts the attempt from the original system messages and lets the processors shape it. */
function prepare(run: Run, settings: StepSettings): MaybePromise<PreparedStep> {
  const list = run.list.as({ id: 'loop', step: run.stepNumber })
  list.replaceAllSystemMessages(run.originalSystemMessages)
  const feedback = run.feedback === undefined ? undefined : ({ role: 'system', content: run.feedback } as const)
  run.feedback = undefined
  if (feedback) list.addSystem(feedback)
  return run.runner.runProcessInputStep({ position: run.position, settings, feedback })
}

/** Puts what left the chain into the conversation, in the model's name. */
function enterResponse(run: Run, attempt: Attempt): void {
  const messageId = run.responseId()
  const message = run.list.find(messageId)
  const list = run.list.as({ id: 'model', step: run.stepNumber })
  const opening = run.stepNumber === 0 ? run.prologueParts : []
  const parts = [{ type: 'step-start' }, ...opening, ...attempt.response.parts]
  if (message) list.append(messageId, parts as readonly MessagePart[])
  else {
    const metadata = run.continuedId === undefined ? {} : { metadata: continuationOf(run.continuedId) }
    list.add({ id: messageId, role: 'assistant', content: { format: 2, parts, ...metadata } } as never, 'response')
  }
  attempt.place = placeOfLast(run.list, messageId)
  rememberInputs(run, attempt)
  enterDeferred(run, attempt)
}

/** Results of the provider for calls of earlier steps go to their calls. Those for calls that nobody made are nowhere. */
function enterDeferred(run: Run, attempt: Attempt): void {
  if (attempt.response.deferred.length === 0) return
  const messages = run.list.get.all.db()
  const open = messages
    .flatMap(({ content }) => toolPartsOf(content.parts))
    .filter(part => part.providerExecuted && !part.state.startsWith('output-'))
  const waiting = new Set(open.map(part => part.toolCallId))
  for (const chunk of attempt.response.deferred)
    if (waiting.has(chunk.payload.toolCallId))
      run.list.as({ id: 'model', step: run.stepNumber }).updateTool(chunk.payload.toolCallId, outcomeOf(chunk))
}

/** A call whose input no processor changed on the way needs no second check. */
function rememberInputs(run: Run, attempt: Attempt): void {
  if (attempt.parsedCalls.size === 0) return
  const left = new Map(toolPartsOf(attempt.response.parts).map(part => [part.toolCallId, part.input]))
  for (const part of toolPartsOf(partsOf(run.list, attempt.place!))) {
    const parsed = attempt.parsedCalls.get(part.toolCallId)
    if (parsed && left.get(part.toolCallId) === parsed.shown) parsed.stored = part.input
  }
}

/** What the guards see: read from the list, since the one before may have edited it. */
function outputOf(run: Run, attempt: Attempt): { readonly position: Run['position']; readonly own: StepOutput } {
  const parts = partsOf(run.list, attempt.place!)
  const { stepNumber, attemptNumber, retryCount, steps } = run.position
  const current = stepResultOf(run, attempt, contentOf(parts))
  return {
    position: { stepNumber, attemptNumber, retryCount, steps: [...steps, current] },
    own: {
      finishReason: attempt.summary!.finishReason,
      toolCalls: toolPartsOf(parts).map(part => toolCallInfo(part)),
      text: current.text,
      usage: attempt.summary!.usage,
    },
  }
}

/** A call as guards see it. */
export function toolCallInfo(part: ToolPart): ToolCallInfo {
  return { toolCallId: part.toolCallId, toolName: toolNameOf(part), input: part.input }
}
