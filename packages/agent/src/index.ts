// The front door: an agent wires the loop, the processors and the conversation, and adds no algorithm.
export { Agent } from './agent.ts'
export type { AgentConfig, AgentInput, CallOptions, PerRequest, ProcessorChoice } from './agent-options.ts'
export { AgentStream } from './stream/agent-stream.ts'
export type { ToolRunOptions } from './tool-run-options.ts'
export type { RespondCallOptions } from './respond.ts'
export { AgentError } from './errors.ts'
export type { AgentErrorCode } from './errors.ts'
export { LoopError } from '@lockstep/agent-loop'
export type {
  ApprovalDecision,
  Delivery,
  LoopResult,
  LoopState,
  PendingApproval,
  RunTrace,
  RunTripwire,
} from '@lockstep/agent-loop'
export type { AgentMessage, MessageInput, MessageList } from '@lockstep/message-list'
export { ProcessorError, RequestContext, TripWire } from '@lockstep/processors'
export type { AgentMemory, Chunk, Processor, StepResult, StopReason } from '@lockstep/processors'
