// Who may change the conversation: the Processor contract, its runner, chunks, steps and tripwires.
export { hookNames } from './processor.ts'
export type { ErrorProcessor, HookName, InputProcessor, OutputProcessor, Processor } from './processor.ts'
export type { HookEffect, ProcessorContext, RunHost, StepPosition, TracingContext } from './context.ts'
export type { ProcessInputArgs, ProcessInputResult } from './hooks/process-input.ts'
export type {
  InputStepStart,
  PreparedStep,
  ProcessInputStepArgs,
  ProcessInputStepResult,
  ProcessInputStepReturn,
} from './hooks/process-input-step.ts'
export type {
  CachedResponse,
  ModelRequest,
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
} from './hooks/process-llm-request.ts'
export type { ProcessAPIErrorArgs, ProcessAPIErrorResult } from './hooks/process-api-error.ts'
export type { FlushArgs, ProcessOutputStreamArgs, ProcessOutputStreamReturn } from './hooks/process-output-stream.ts'
export type { ModelResponse, ProcessLLMResponseArgs } from './hooks/process-llm-response.ts'
export type { ProcessOutputStepArgs, StepOutput, ToolCallInfo } from './hooks/process-output-step.ts'
export type {
  GivenApproval,
  ProcessToolCallArgs,
  ProcessToolCallResult,
  ToolCallVerdict,
} from './hooks/process-tool-call.ts'
export type { ProcessToolResultArgs, ProcessToolResultResult, ToolOutcome } from './hooks/process-tool-result.ts'
export type { ProcessStepEndArgs } from './hooks/process-step-end.ts'
export type { ProcessOutputResultArgs } from './hooks/process-output-result.ts'
export type { ProcessRunEndArgs, RunEnd } from './hooks/process-run-end.ts'
export type { MessageResult, MessageResult as ProcessorMessageResult } from './hooks/message-result.ts'
export { PrepareStepProcessor } from './hooks/prepare-step.ts'
export type { PrepareStep } from './hooks/prepare-step.ts'
export { ProcessorRunner } from './runner.ts'
export type { SavedRunner } from './runner.ts'
export { StreamChain } from './stream-chain.ts'
export type { ChainOutput } from './stream-chain.ts'
export { planProcessors } from './plan.ts'
export type { AgentMemory, ProcessorArrays, ProcessorPlan } from './plan.ts'
export { TripWire } from './trip-wire.ts'
export type { Abort, AbortOptions } from './trip-wire.ts'
export { RequestContext } from './request-context.ts'
export { createWriter } from './writer.ts'
export type { ProcessorStreamWriter } from './writer.ts'
export type { CallModel, ModelCallRequest, ModelCallResult, ModelChoice, OpenAICompatibleConfig } from './call-model.ts'
export { frozenCopy } from './frozen-copy.ts'
export { frozenSettings } from './step-settings.ts'
export type { ModelSettings, ProviderOptions, StepSettings } from './step-settings.ts'
export { isObjectRequest } from './structured-output.ts'
export type { ObjectRequest, StructuredOutput } from './structured-output.ts'
export { isDataChunk } from './chunk.ts'
export type {
  Chunk,
  Chunk as ChunkType,
  ChunkNamed,
  ChunkOf,
  DataChunk,
  FrameChunk,
  ModelChunk,
  ToolCallPayload,
  ToolChunk,
  TripwirePayload,
} from './chunk.ts'
export type {
  GeneratedFilePart,
  OutputResult,
  ReasoningOutput,
  StepRecord,
  StepResult,
  StopReason,
} from './step-result.ts'
export { Ledger } from './ledger.ts'
export type { LedgerEvent, LedgerTotal, ProcessorEffect } from './ledger.ts'
export { isPromiseLike, type MaybePromise } from './maybe-promise.ts'
export { untilAborted, whenAborted } from './until-aborted.ts'
export { ProcessorError } from './errors.ts'
export type { ProcessorErrorCode } from './errors.ts'
export type { AgentMessage, AgentMessage as MastraDBMessage, MessageList, SystemMessage } from '@lockstep/message-list'
