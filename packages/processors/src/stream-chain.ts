// The chunks of one attempt on their way through the output processors: one pass, no promise that is not needed.
import { isDataChunk, type Chunk, type ChunkNamed } from './chunk.ts'
import { noUsage, type ProcessorContext, type RunHost, type StepPosition } from './context.ts'
import { FlushTimers, pause } from './flush-timers.ts'
import { HookCall, type HookScope } from './hooks/hook-call.ts'
import { inWords } from './in-words.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from './maybe-promise.ts'
import type { ProcessorPlan } from './plan.ts'
import type { FlushArgs, ProcessOutputStreamReturn } from './hooks/process-output-stream.ts'
import type { Processor } from './processor.ts'
import { TextComparison } from './text-comparison.ts'

/** What left the chain for one chunk that entered it. */
export type ChainOutput = Chunk | readonly Chunk[] | undefined

/** The output processors of one attempt, in order, with what each has seen. */
export class StreamChain {
  readonly #links: readonly Link[]
  readonly #flushes: readonly boolean[]
  /** The blocks of this attempt. */
  readonly #blocks = new Set<string>()
  #lastBlock: string | undefined
  readonly #holdsBack: boolean
  readonly #signal: AbortSignal
  readonly #timers = new FlushTimers()

  constructor(scope: HookScope, processors: ProcessorPlan['streaming'], position: StepPosition) {
    this.#signal = scope.host.abortSignal
    this.#links = processors.map((processor, index) => {
      return new Link(scope, processor, { position, wish: ms => this.#timers.set(index, ms) })
    })
    this.#flushes = processors.map(processor => typeof processor.flush === 'function')
    this.#holdsBack = this.#flushes.includes(true)
  }

  /** Passes a chunk through the processors; `writerId` is the processor that wrote it, which does not see it. */
  pass(chunk: Chunk, writerId?: string): MaybePromise<ChainOutput> {
    if (this.#links.length === 0) return chunk
    if ('payload' in chunk) Object.freeze(chunk.payload)
    if (this.#holdsBack && (isPiece(chunk) || opensBlock(chunk))) this.#noteBlock(chunk.payload.id)
    return this.#passFrom(0, Object.freeze(chunk), writerId)
  }

  /** Asks each processor for what it held back and passes that through the processors after it. */
  flush(reason: FlushEnd, blockId?: string): MaybePromise<readonly Chunk[]> {
    const released = this.release(reason, blockId)
    return released === undefined ? [] : collected(released)
  }

  /** As `flush`, each chunk when it is there: a processor may take its time. Nothing, when none holds back. */
  release(reason: FlushEnd, blockId?: string): AsyncIterable<Chunk> | undefined {
    return this.#holdsBack ? this.#releaseAll(reason, blockId) : undefined
  }

  /** Whether a processor wants to be asked for what it holds back, now or later. */
  get hasWishes(): boolean {
    return !this.#timers.isIdle
  }

  /** Tells whether the time of such a wish comes before something else has settled. */
  isDueBefore(other: Promise<unknown>): Promise<boolean> {
    return this.#timers.isDueBefore(other)
  }

  /** What those hold back whose time has come. */
  async *releaseDue(): AsyncIterable<Chunk> {
    for (const index of this.#timers.take())
      yield* this.#pass(await this.#links[index]!.flush('elapsed', undefined), index)
  }

  /** Enters what the processors did since the last time into the ledger. */
  account(): void {
    for (const link of this.#links) link.account()
  }

  /** Ends the chain: what a processor does with its arguments from now on is too late. */
  close(): void {
    this.#timers.close()
    for (const link of this.#links) link.close()
  }

  #passFrom(start: number, chunk: Chunk, writerId?: string): MaybePromise<ChainOutput> {
    let current = chunk
    for (let index = start; index < this.#links.length; index++) {
      const link = this.#links[index]!
      if (!link.takes(current, writerId)) continue
      const result = link.call(current)
      if (result === current) continue
      if (isPromiseLike(result))
        return this.#passLater(result as PromiseLike<ProcessOutputStreamReturn>, { next: index + 1, writerId })
      if (result === undefined || result === null) return undefined
      if (Array.isArray(result)) return this.#passEach({ next: index + 1, writerId }, result as readonly Chunk[])
      current = result as Chunk
    }
    return current
  }

  async #passLater(pending: PromiseLike<ProcessOutputStreamReturn>, way: Way): Promise<ChainOutput> {
    const result = await pending
    if (result === undefined || result === null) return undefined
    return Array.isArray(result)
      ? this.#passEach(way, result as readonly Chunk[])
      : this.#passFrom(way.next, result as Chunk, way.writerId)
  }

  #passEach(way: Way, chunks: readonly Chunk[]): MaybePromise<readonly Chunk[]> {
    const out: Chunk[] = []
    const all = eachInOrder(chunks, chunk => {
      const passed = this.#passFrom(way.next, chunk, way.writerId)
      if (isPromiseLike(passed)) return passed.then(settled => append(out, settled))
      append(out, passed as ChainOutput)
    })
    return isPromiseLike(all) ? all.then(() => out) : out
  }

  #noteBlock(id: string): void {
    if (id === this.#lastBlock) return
    this.#lastBlock = id
    this.#blocks.add(id)
  }

  /** State outlives an attempt that is withdrawn; what a processor held of that attempt does not. */
  #ofThisAttempt(held: Chunk | readonly Chunk[]): readonly Chunk[] {
    return chunksOf(held).filter(chunk => {
      if (opensBlock(chunk)) this.#blocks.add(chunk.payload.id)
      return !isPiece(chunk) || this.#blocks.has(chunk.payload.id)
    })
  }

  async *#releaseAll(reason: FlushEnd, blockId: string | undefined): AsyncIterable<Chunk> {
    for (const [index, link] of this.#links.entries()) {
      if (!this.#flushes[index]) continue
      // What comes after has to wait until a processor that takes its time has given all.
      for (let again = true; again;) {
        const held = await link.flush(reason, blockId)
        yield* this.#pass(held, index)
        const ms = link.takePause()
        again = ms !== undefined && reason !== 'abort' && chunksOf(held).length > 0
        if (again) await pause(ms!, this.#signal)
      }
    }
  }

  async *#pass(held: ProcessOutputStreamReturn, index: number): AsyncIterable<Chunk> {
    if (held === undefined || held === null) return
    for (const chunk of this.#ofThisAttempt(held)) {
      const passed = await this.#passFrom(index + 1, chunk)
      if (Array.isArray(passed)) yield* passed as readonly Chunk[]
      else if (passed !== undefined) yield passed as Chunk
    }
  }
}

/** A flush because something ends. */
type FlushEnd = Exclude<FlushArgs['reason'], 'elapsed'>

/** Where a chunk goes on, and who wrote it, when it is application data. */
interface Way {
  readonly next: number
  readonly writerId: string | undefined
}

/** What a processor's place in the chain gives it. */
interface Seat {
  readonly position: StepPosition
  /** Asks for a flush after so many milliseconds. */
  readonly wish: (ms: number) => void
}

/** One processor's place in the chain. */
class Link {
  readonly #scope: HookScope
  readonly #processor: Processor
  readonly #position: StepPosition
  readonly #call: HookCall<'processOutputStream'>
  readonly #base: StreamBase
  #streamParts: Chunk[] = []
  readonly #streams: boolean
  readonly #texts = new Map<string, TextComparison>()
  readonly #flushAfter: (ms: number) => void
  /** Set while the processor is flushed at an end, with what it wished for. */
  #pausing: { ms: number | undefined } | undefined
  #held = 0
  #dropped = 0
  #changed = 0
  #added = 0

  constructor(scope: HookScope, processor: Processor, { position, wish }: Seat) {
    this.#scope = scope
    this.#flushAfter = ms => {
      if (this.#pausing) this.#pausing.ms = ms
      else wish(ms)
    }
    this.#processor = processor
    this.#position = position
    this.#streams = typeof processor.processOutputStream === 'function'
    this.#call = new HookCall(scope, processor, { hook: 'processOutputStream', position })
    this.#base = { base: this.#call.context([]), host: scope.host, flushAfter: this.#flushAfter }
  }

  /** How long the processor wants to wait before it is flushed again. */
  takePause(): number | undefined {
    const ms = this.#pausing?.ms
    this.#pausing = undefined
    return ms
  }

  takes(chunk: Chunk, writerId: string | undefined): boolean {
    if (!this.#streams) return false
    return !isDataChunk(chunk) || (this.#processor.processDataParts === true && writerId !== this.#processor.id)
  }

  call(part: Chunk): MaybePromise<ProcessOutputStreamReturn> {
    this.#streamParts.push(part)
    const args = new StreamArgs(this.#base, part, this.#streamParts)
    const result = this.#call.run(args, part)
    if (result !== part && isPromiseLike(result)) return result.then(settled => this.#counted(part, settled))
    return this.#counted(part, result as ProcessOutputStreamReturn)
  }

  flush(reason: FlushArgs['reason'], blockId: string | undefined): MaybePromise<ProcessOutputStreamReturn> {
    const isMidway = reason === 'elapsed'
    const call = new HookCall(this.#scope, this.#processor, { hook: 'flush', position: this.#position, isMidway })
    const { runId } = this.#scope.host
    this.#pausing = isMidway ? undefined : { ms: undefined }
    const args = { ...call.context(), reason, blockId, runId, flushAfter: this.#flushAfter }
    const result = call.run(args, undefined)
    if (isPromiseLike(result)) return result.then(held => this.#flushed(call, held))
    return this.#flushed(call, result as ProcessOutputStreamReturn)
  }

  close(): void {
    this.account()
    this.#call.close()
    // The run may be held for long after; what it streamed is not.
    this.#streamParts = []
  }

  account(): void {
    const verdicts = new Set([...this.#texts.values()].map(comparison => comparison.verdict))
    const text = verdicts.has('changed') ? 'changed' : verdicts.has('regrouped') ? 'regrouped' : 'same'
    if (text === 'same' && this.#dropped + this.#changed + this.#added === 0) return
    this.#call.note({
      type: 'chunks',
      text,
      held: this.#held,
      changed: this.#changed,
      dropped: this.#dropped,
      added: this.#added,
    })
    this.#texts.clear()
    this.#held = this.#changed = this.#dropped = this.#added = 0
  }

  #flushed(call: HookCall<'flush'>, held: ProcessOutputStreamReturn): ProcessOutputStreamReturn {
    for (const chunk of checkedChunks(call, held)) this.#enterText(undefined, chunk)
    return held
  }

  #counted(part: Chunk, result: ProcessOutputStreamReturn): ProcessOutputStreamReturn {
    if (result === part) {
      if (this.#texts.size > 0) this.#enterText(part, part)
      return result
    }
    const chunks = checkedChunks(this.#call, result)
    if (isPiece(part)) {
      if (chunks.length === 0) this.#held++
      this.#enterText(part, chunks[0])
      for (const chunk of chunks.slice(1)) this.#enterText(undefined, chunk)
    } else if (chunks.length === 0) this.#dropped++
    else if (!chunks.includes(part)) this.#changed++
    else this.#added += chunks.length - 1
    return result
  }

  /** Text is compared by block, since a processor may hold it and give it back later, cut elsewhere. */
  #enterText(before: Chunk | undefined, after: Chunk | undefined): void {
    const id = isPiece(before) ? before.payload.id : isPiece(after) ? after.payload.id : undefined
    if (id === undefined) return
    let comparison = this.#texts.get(id)
    if (!comparison) this.#texts.set(id, (comparison = new TextComparison()))
    comparison.enter(isPiece(before) ? textOf(before) : '', isPiece(after) ? textOf(after) : '')
  }
}

type BlockStart = ChunkNamed<'text-start' | 'reasoning-start' | 'tool-input-start'>
type Piece = ChunkNamed<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>

function opensBlock(chunk: Chunk): chunk is BlockStart {
  return chunk.type === 'text-start' || chunk.type === 'reasoning-start' || chunk.type === 'tool-input-start'
}

/** A piece of something that comes in pieces: text, reasoning, the input of a tool. */
function isPiece(chunk: Chunk | undefined): chunk is Piece {
  return chunk?.type === 'text-delta' || chunk?.type === 'reasoning-delta' || chunk?.type === 'tool-input-delta'
}

function textOf(chunk: Piece): string {
  return chunk.type === 'tool-input-delta' ? chunk.payload.delta : chunk.payload.text
}

function chunksOf(result: ProcessOutputStreamReturn): readonly Chunk[] {
  if (result === undefined || result === null) return []
  return Array.isArray(result) ? (result as readonly Chunk[]) : [result as Chunk]
}

/** The chunks that a hook returned. Throws: `invalid-return` for what is none. */
function checkedChunks(call: Pick<HookCall, 'hook' | 'misused'>, result: ProcessOutputStreamReturn): readonly Chunk[] {
  const chunks = chunksOf(result)
  for (const chunk of chunks)
    if (typeof chunk !== 'object' || chunk === null || typeof chunk.type !== 'string')
      throw call.misused(
        'invalid-return',
        `returned ${inWords(chunk)} from ${call.hook}. Return chunks, null for none, or the part itself.`,
      )
  return chunks
}

/** What the calls of one attempt have in common. */
interface StreamBase {
  readonly base: ProcessorContext
  readonly host: RunHost
  readonly flushAfter: (ms: number) => void
}

/** The arguments of one call. The getters read the list and the account only when somebody asks. */
class StreamArgs {
  readonly part: Chunk
  readonly streamParts: readonly Chunk[]
  readonly messageList: ProcessorContext['messageList']
  readonly stepNumber: number
  readonly steps: ProcessorContext['steps']
  readonly state: ProcessorContext['state']
  readonly retryCount: number
  readonly abort: ProcessorContext['abort']
  readonly abortSignal: AbortSignal
  readonly requestContext: ProcessorContext['requestContext']
  readonly writer: ProcessorContext['writer']
  readonly tracingContext: ProcessorContext['tracingContext']
  readonly callModel: ProcessorContext['callModel']
  readonly flushAfter: (ms: number) => void
  readonly #host: RunHost

  constructor({ base, host, flushAfter }: StreamBase, part: Chunk, streamParts: readonly Chunk[]) {
    this.#host = host
    this.part = part
    this.streamParts = streamParts
    this.messageList = base.messageList
    this.stepNumber = base.stepNumber
    this.steps = base.steps
    this.state = base.state
    this.retryCount = base.retryCount
    this.abort = base.abort
    this.abortSignal = base.abortSignal
    this.requestContext = base.requestContext
    this.writer = base.writer
    this.tracingContext = base.tracingContext
    this.callModel = base.callModel
    this.flushAfter = flushAfter
  }

  get messages(): ProcessorContext['messages'] {
    return this.messageList.get.all.db()
  }

  get systemMessages(): ProcessorContext['systemMessages'] {
    return this.messageList.getAllSystemMessages()
  }

  get totalUsage(): ProcessorContext['totalUsage'] {
    return this.#host.totalUsage ?? noUsage
  }
}

async function collected(released: AsyncIterable<Chunk>): Promise<readonly Chunk[]> {
  const out: Chunk[] = []
  for await (const chunk of released) out.push(chunk)
  return out
}

function append(out: Chunk[], passed: ChainOutput): void {
  if (passed === undefined) return
  if (Array.isArray(passed)) out.push(...(passed as readonly Chunk[]))
  else out.push(passed as Chunk)
}
