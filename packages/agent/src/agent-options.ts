// What an agent is made of, and what a call may say about it.
import type { BatchExecutorOptions } from '@lockstep/batch-executor'
import type { MessageInput, SystemInput } from '@lockstep/message-list'
import type { RunLoopOptions } from '@lockstep/agent-loop'
import type { AgentMemory, ModelChoice, Processor, RequestContext } from '@lockstep/processors'
import type { BuiltinChoice } from '@lockstep/processors-builtin'
import type { ToolSet } from 'ai'

/** A processor: an object, the name of a builtin, or its name and options. */
export type ProcessorChoice = Processor | BuiltinChoice

/** A value, or a function that makes it for a request. */
export type PerRequest<T> = T | ((request: { readonly requestContext: RequestContext }) => T | PromiseLike<T>)

/** The options of a run that a call may give. An array of processors replaces the agent's array of that name. */
export interface CallOptions<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> extends Omit<
  RunLoopOptions<TOOLS, OBJECT>,
  'messageList' | 'model' | 'tools' | 'steering' | 'inputProcessors' | 'outputProcessors' | 'errorProcessors'
> {
  readonly model?: ModelChoice
  readonly instructions?: SystemInput
  /** Messages that the model should know for this call: neither input nor remembered. */
  readonly context?: readonly MessageInput[]
  readonly inputProcessors?: readonly ProcessorChoice[]
  readonly outputProcessors?: readonly ProcessorChoice[]
  readonly errorProcessors?: readonly ProcessorChoice[]
  /** The thread and its owner; read from the request context by the same names when absent. */
  readonly threadId?: string
  readonly resourceId?: string
}

/** What an agent is made of. */
export interface AgentConfig<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> {
  readonly name: string
  /** The name when absent. */
  readonly id?: string
  readonly description?: string
  readonly instructions?: PerRequest<SystemInput>
  readonly model: PerRequest<ModelChoice>
  readonly tools?: PerRequest<TOOLS>
  readonly inputProcessors?: PerRequest<readonly ProcessorChoice[]>
  readonly outputProcessors?: PerRequest<readonly ProcessorChoice[]>
  readonly errorProcessors?: PerRequest<readonly ProcessorChoice[]>
  /** Loads and stores threads: its processors run around those of every call, per-call arrays included. */
  readonly memory?: PerRequest<AgentMemory>
  readonly maxProcessorRetries?: number
  /** Signs requests for approval, so that an answer in a client's message can be believed. */
  readonly approvalSecret?: string | Uint8Array
  /** How turns over routes are planned; see `createRoute` and `respond`. */
  readonly batch?: Omit<BatchExecutorOptions, 'debug'>
  /** Writes what those turns decide to the console, or to a function. */
  readonly debug?: BatchExecutorOptions['debug']
  /** For `generate` and `stream`, where the call says nothing. */
  readonly defaultOptions?: CallOptions<TOOLS, OBJECT>
  /** Another name for `defaultOptions`. */
  readonly defaultGenerateOptions?: CallOptions<TOOLS, OBJECT>
}

/** What an agent is asked: text, messages in any format the message list reads, or both with options in one object. */
export type AgentInput<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> =
  | string
  | MessageInput
  | readonly MessageInput[]
  | ({ readonly prompt: string | readonly MessageInput[] } & CallOptions<TOOLS, OBJECT>)
  | ({ readonly messages: readonly MessageInput[] } & CallOptions<TOOLS, OBJECT>)
