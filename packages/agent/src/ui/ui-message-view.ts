// A run as a UI client reads it: what was taken back is taken back there too, one step or the whole response.
import type { AgentMessage } from '@lockstep/message-list'
import { isDataChunk, type Chunk, type ChunkNamed, type DataChunk } from '@lockstep/processors'
import type { FileUIPart, FinishReason, TextUIPart, ToolSet, UIMessageChunk } from 'ai'
import { UIBlocks, type BlockChunk } from './ui-blocks.ts'
import { UIStepLog } from './ui-step-log.ts'
import { UIToolCalls } from './ui-tool-calls.ts'

/** What the view shows, and what it has to expect of the run. */
export interface UIMessageViewOptions {
  readonly tools: ToolSet | undefined
  /** The whole response may be refused at its end, so no step is closed for good before. */
  readonly mayWithdrawResponse: boolean
  /** The message that the client goes on in, instead of a new one. */
  readonly continuedId: string | undefined
  readonly sendReasoning: boolean
  readonly sendSources: boolean
  readonly error: (error: unknown) => string
  readonly toolError: (error: unknown) => string
  readonly metadata: (chunk: ChunkNamed<'start' | 'finish'>) => unknown
}

/** Endings after which an open call is not the client's to run. */
const unaccepted: ReadonlySet<string> = new Set(['tripwire', 'aborted', 'error'])
/** A model that was cut off has not finished its calls. */
const answered: ReadonlySet<FinishReason | undefined> = new Set(['stop', 'tool-calls'] as const)

/** Turns each chunk of a run into chunks of the AI SDK's UI message stream. */
export class UIMessageView {
  readonly #options: UIMessageViewOptions
  readonly #calls: UIToolCalls
  readonly #log = new UIStepLog()
  readonly #blocks = new UIBlocks()
  #out: UIMessageChunk[] = []
  /** The client is inside a step. */
  #inStep = false
  /** The client's last step begins and has nothing in it. */
  #atStepStart = false
  #stepNumber = 0
  #finishReason: FinishReason | undefined

  constructor(options: UIMessageViewOptions) {
    this.#options = options
    this.#calls = new UIToolCalls(options)
  }

  /** What the client has to be told about the chunk, in order. */
  read(chunk: Chunk): readonly UIMessageChunk[] {
    this.#out = []
    if (isDataChunk(chunk)) this.#data(chunk)
    else this.#read(chunk)
    return this.#out
  }

  #read(chunk: Exclude<Chunk, DataChunk>): void {
    switch (chunk.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#block(chunk)
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#options.sendReasoning ? this.#block(chunk) : undefined
      case 'tool-input-start':
        return this.#show(this.#calls.begin(chunk.payload))
      case 'tool-input-delta':
        return this.#show(this.#calls.delta(chunk.payload))
      case 'tool-call':
        return this.#show(this.#calls.call(chunk.payload))
      case 'tool-result':
      case 'tool-error':
      case 'tool-output-denied':
        this.#goOn()
        return this.#show(this.#calls.outcome(chunk))
      case 'tool-approval-request':
        return this.#show(this.#calls.ask(chunk.payload))
      case 'tool-approval-response':
        this.#goOn()
        return this.#show(this.#calls.decide(chunk.payload))
      case 'file':
      case 'reasoning-file':
        if (chunk.type === 'file' || this.#options.sendReasoning) this.#show([{ type: chunk.type, ...chunk.payload }])
        return
      case 'source':
        return this.#source(chunk.payload)
      case 'unknown-part':
        return this.#unknownPart(chunk.payload.part)
      case 'steering-message':
        return this.#show([steeringPart(chunk.payload.message)])
      case 'object':
        return this.#show([{ type: 'data-object', data: chunk.payload.object }])
      default:
        this.#frame(chunk)
    }
  }

  #frame(chunk: Exclude<Chunk, DataChunk>): void {
    switch (chunk.type) {
      case 'start':
        this.#tell({
          type: 'start',
          messageId: this.#options.continuedId ?? chunk.payload.messageId,
          ...this.#metadata(chunk),
        })
        break
      case 'step-start':
        this.#stepStart(chunk.payload.stepNumber)
        break
      case 'step-reset':
        this.#withdraw(chunk.payload.stepNumber)
        break
      case 'step-finish':
        this.#stepFinish(chunk)
        break
      case 'tripwire': {
        const { reason, processorId, metadata } = chunk.payload
        this.#show([
          { type: 'data-tripwire', data: { reason, processorId, ...(metadata === undefined ? {} : { metadata }) } },
        ])
        break
      }
      case 'error':
        this.#settle()
        this.#tell({ type: 'error', errorText: this.#options.error(chunk.payload.error) })
        break
      case 'abort':
        this.#settle()
        this.#tell({
          type: 'abort',
          ...(typeof chunk.payload.reason === 'string' ? { reason: chunk.payload.reason } : {}),
        })
        break
      case 'finish':
        this.#finish(chunk)
        break
      default:
        // What is left says nothing to a client: the ends of inputs, raw parts, metadata of the provider's response.
        break
    }
  }

  /** The outcome of a call that this stream has not made: a resumed run goes on in the step of an earlier stream. */
  #goOn(): void {
    this.#inStep ||= this.#log.stepCount === 0
  }

  #stepStart(stepNumber: number): void {
    const begun = this.#log.stepCount > 0
    this.#stepNumber = stepNumber
    this.#calls.clear()
    if (!this.#atStepStart && !(begun && this.#options.mayWithdrawResponse)) {
      this.#log.clear()
      this.#tell({ type: 'start-step' })
      this.#atStepStart = true
    }
    this.#log.mark()
    this.#inStep = true
  }

  /** Step 0 after later ones is the whole response. */
  #withdraw(stepNumber: number): void {
    this.#calls.clear()
    this.#blocks.forget()
    this.#out.push(...this.#log.withdraw(stepNumber < this.#stepNumber))
    this.#atStepStart = this.#log.isEmpty
  }

  #stepFinish(chunk: ChunkNamed<'step-finish'>): void {
    this.#finishReason = chunk.payload.finishReason
    this.#closeBlocks()
    const { abandoned } = this.#calls
    if (abandoned.size > 0) this.#out.push(...this.#log.withdrawCalls(abandoned))
    if (this.#options.mayWithdrawResponse) return
    this.#closeStep()
  }

  #finish(chunk: ChunkNamed<'finish'>): void {
    const { finishReason, stopReason } = chunk.payload
    this.#settle()
    if (!unaccepted.has(stopReason) && answered.has(this.#finishReason)) this.#show(this.#calls.handOver())
    this.#closeStep()
    this.#tell({ type: 'finish', finishReason, ...this.#metadata(chunk) })
  }

  /** Nothing more is taken back: the steps get their boundaries. */
  #settle(): void {
    this.#closeBlocks()
    this.#out.push(...this.#log.divide())
  }

  #closeStep(): void {
    if (this.#inStep) this.#tell({ type: 'finish-step' })
    this.#inStep = false
    this.#atStepStart = false
  }

  #block(chunk: BlockChunk): void {
    this.#show(this.#blocks.admit(chunk).map(blockPart))
  }

  #closeBlocks(): void {
    this.#show(this.#blocks.close().map(blockPart))
  }

  #data({ type, data, id, transient }: DataChunk): void {
    const chunk: UIMessageChunk = {
      type,
      data,
      ...(id === undefined ? {} : { id }),
      ...(transient ? { transient } : {}),
    }
    if (transient) this.#tell(chunk)
    else this.#show([chunk])
  }

  #source({ source }: ChunkNamed<'source'>['payload']): void {
    if (!this.#options.sendSources) return
    const { type: _, sourceType, id: sourceId, ...rest } = source
    this.#show([{ type: sourceType === 'url' ? 'source-url' : 'source-document', sourceId, ...rest } as UIMessageChunk])
  }

  #unknownPart(part: { readonly type: string }): void {
    if (part.type === 'custom' && 'kind' in part) this.#show([part as Extract<UIMessageChunk, { type: 'custom' }>])
  }

  /** Tells the client of something that becomes a part of its message. */
  #show(chunks: readonly UIMessageChunk[]): void {
    for (const chunk of chunks) {
      this.#log.add(chunk)
      this.#out.push(chunk)
      this.#atStepStart = false
    }
  }

  /** Tells the client of something that leaves nothing in its message. */
  #tell(chunk: UIMessageChunk): void {
    this.#out.push(chunk)
  }

  #metadata(chunk: ChunkNamed<'start' | 'finish'>): { readonly messageMetadata?: unknown } {
    const messageMetadata = this.#options.metadata(chunk)
    return messageMetadata === undefined ? {} : { messageMetadata }
  }
}

function blockPart({ type, payload }: BlockChunk): UIMessageChunk {
  const { id, providerMetadata } = payload
  const delta = 'text' in payload ? { delta: payload.text } : {}
  return { type, id, ...delta, ...(providerMetadata === undefined ? {} : { providerMetadata }) } as UIMessageChunk
}

/** A client shows what a user may say: text and files. */
function steeringPart({ id, content }: AgentMessage): UIMessageChunk {
  const parts = content.parts.filter(part => part.type === 'text' || part.type === 'file')
  return { type: 'steering-message', id, parts: parts as unknown as (TextUIPart | FileUIPart)[] }
}
