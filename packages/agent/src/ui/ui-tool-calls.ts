// The tool calls of a stream as a client may see them: it is told to run only what was accepted and is its to run.
import type { ChunkNamed } from '@lockstep/processors'
import type { ToolSet, UIMessageChunk } from 'ai'
import { inputAsStreamed } from './ui-step-log.ts'

type Call = ChunkNamed<'tool-call'>['payload']
type Outcome = ChunkNamed<'tool-result' | 'tool-error' | 'tool-output-denied'>
type InputAvailable = Extract<UIMessageChunk, { type: 'tool-input-available' }>

export interface UIToolCallsOptions {
  /** Those with an `execute` are the server's to run; all others may be the client's. */
  readonly tools: ToolSet | undefined
  /** The text for the error of a tool. */
  readonly toolError: (error: unknown) => string
}

/**
 * `tool-input-available` makes `useChat` call `onToolCall`, where pages run their own tools. So a call that may be the
 * client's is shown as input that is streamed, and becomes available when the run ends waiting for it.
 */
export class UIToolCalls {
  readonly #options: UIToolCallsOptions
  /** Every call that this stream has made. */
  readonly #known = new Set<string>()
  /** The calls of the step whose input was begun, and whether as dynamic. */
  readonly #begun = new Map<string, boolean>()
  /** The calls of the step that wait for their outcome, or for the client. */
  readonly #waiting = new Map<string, Call>()
  /** The inputs of the step as the client was told. */
  readonly #inputs = new Map<string, unknown>()

  constructor(options: UIToolCallsOptions) {
    this.#options = options
  }

  /** Another step or attempt begins: the calls of the one before are settled, or were taken back. */
  clear(): void {
    this.#begun.clear()
    this.#waiting.clear()
    this.#inputs.clear()
  }

  /** The inputs that were begun and never became a call, because a processor dropped it. */
  get abandoned(): ReadonlySet<string> {
    return new Set([...this.#begun.keys()].filter(id => !this.#known.has(id)))
  }

  begin({ id: toolCallId, toolName, ...rest }: ChunkNamed<'tool-input-start'>['payload']): readonly UIMessageChunk[] {
    const dynamic = this.#isDynamic(toolName, rest.dynamic)
    this.#begun.set(toolCallId, dynamic)
    const { providerExecuted, providerMetadata, title } = rest
    return [
      {
        type: 'tool-input-start',
        toolCallId,
        toolName,
        ...definedOf({ providerExecuted, providerMetadata, title }),
        ...flag(dynamic),
      },
    ]
  }

  delta({ id: toolCallId, delta }: ChunkNamed<'tool-input-delta'>['payload']): readonly UIMessageChunk[] {
    return this.#begun.has(toolCallId) ? [{ type: 'tool-input-delta', toolCallId, inputTextDelta: delta }] : []
  }

  call(call: Call): readonly UIMessageChunk[] {
    this.#known.add(call.toolCallId)
    this.#inputs.set(call.toolCallId, call.input)
    const isServers = call.providerExecuted || this.#tool(call.toolName)?.execute !== undefined
    if (isServers && !call.invalid) return [this.#available(call)]
    this.#waiting.set(call.toolCallId, call)
    return inputAsStreamed(this.#available(call))
  }

  outcome(chunk: Outcome): readonly UIMessageChunk[] {
    const { toolCallId, providerExecuted } = chunk.payload
    // The client refuses a stream that has a result without its call, and a processor may have dropped the call.
    if (providerExecuted && !this.#known.has(toolCallId)) return []
    const call = this.#waiting.get(toolCallId)
    this.#waiting.delete(toolCallId)
    const input = providerExecuted ? [] : this.#newInput(chunk.payload)
    if (chunk.type === 'tool-output-denied') return [...input, { type: 'tool-output-denied', toolCallId }]
    if (chunk.type === 'tool-error') {
      const errorText = providerExecuted ? plainText(chunk.payload.error) : this.#options.toolError(chunk.payload.error)
      if (!call) return [...input, { type: 'tool-output-error', toolCallId, errorText, ...this.#marks(chunk.payload) }]
      const { type: _, ...available } = this.#available(call)
      return [{ type: 'tool-input-error', ...available, errorText }]
    }
    const { output = null, preliminary, providerMetadata } = chunk.payload
    const marks = { ...this.#marks(chunk.payload), ...definedOf({ preliminary, providerMetadata }) }
    return [...input, { type: 'tool-output-available', toolCallId, output, ...marks }]
  }

  /** A person is asked about the call; what the person sees is the input as it would run. */
  ask(payload: ChunkNamed<'tool-approval-request'>['payload']): readonly UIMessageChunk[] {
    const { approvalId, toolCallId, reason, signature } = payload
    this.#waiting.delete(toolCallId)
    const request: UIMessageChunk = {
      type: 'tool-approval-request',
      approvalId,
      toolCallId,
      ...definedOf({ reason, signature }),
    }
    return [...this.#newInput(payload), request]
  }

  /** What the person said. */
  decide(payload: ChunkNamed<'tool-approval-response'>['payload']): readonly UIMessageChunk[] {
    const { approvalId, approved, reason } = payload
    const response: UIMessageChunk = { type: 'tool-approval-response', approvalId, approved, ...definedOf({ reason }) }
    // The call was made in another stream: what the client has of its input may have been edited since.
    const edited = approved && !this.#known.has(payload.toolCallId)
    this.#known.add(payload.toolCallId)
    return [...(edited ? inputAsStreamed(this.#available(payload)) : this.#newInput(payload)), response]
  }

  /** The calls that the run leaves for the client to run. */
  handOver(): readonly UIMessageChunk[] {
    const calls = [...this.#waiting.values()].filter(call => !call.invalid)
    this.#waiting.clear()
    return calls.map(call => this.#available(call))
  }

  /** An input that a processor or a person has changed since the client was told. */
  #newInput(call: Pick<Call, 'toolCallId' | 'toolName' | 'input' | 'dynamic'>): readonly UIMessageChunk[] {
    if (!this.#inputs.has(call.toolCallId)) return []
    const told = this.#inputs.get(call.toolCallId)
    if (told === call.input || JSON.stringify(told) === JSON.stringify(call.input)) return []
    this.#inputs.set(call.toolCallId, call.input)
    return inputAsStreamed(this.#available(call))
  }

  #available(call: Call): InputAvailable {
    const { toolCallId, toolName, input, providerExecuted, providerMetadata, title } = call
    const dynamic = this.#begun.get(toolCallId) ?? this.#isDynamic(toolName, call.dynamic)
    this.#begun.set(toolCallId, dynamic)
    const marks = definedOf({ providerExecuted, providerMetadata, title })
    return { type: 'tool-input-available', toolCallId, toolName, input, ...marks, ...flag(dynamic) }
  }

  #marks({ toolName, dynamic, providerExecuted }: Outcome['payload']): object {
    return { ...definedOf({ providerExecuted }), ...flag(this.#isDynamic(toolName, dynamic)) }
  }

  #tool(name: string): ToolSet[string] | undefined {
    const { tools } = this.#options
    return tools && Object.hasOwn(tools, name) ? tools[name] : undefined
  }

  /** A tool that is known says so itself: an invalid call of a static tool comes marked as dynamic. */
  #isDynamic(toolName: string, dynamic: boolean | undefined): boolean {
    const tool = this.#tool(toolName)
    return tool === undefined ? dynamic === true : tool.type === 'dynamic'
  }
}

function flag(dynamic: boolean): { readonly dynamic?: true } {
  return dynamic ? { dynamic } : {}
}

function definedOf<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}

function plainText(error: unknown): string {
  return typeof error === 'string' ? error : JSON.stringify(error)
}
