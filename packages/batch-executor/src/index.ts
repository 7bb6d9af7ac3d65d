// The public names of the package, in the order of the README.
export { defineFields } from './route/fields.ts'
export type {
  AnswerMatch,
  DataOf,
  DataSchema,
  Field,
  FieldName,
  FieldPolicy,
  Fields,
  PlainData,
} from './route/fields.ts'
export { createRoute } from './route/create-route.ts'
export type { RouteOptions } from './route/create-route.ts'
export type { Route } from './route/route.ts'
export { END_ROUTE } from './route/flow-step.ts'
export type { Branch, Condition, FlowStep, KnownData, RouteStep } from './route/flow-step.ts'
export type { Hook, HookArgs, HookTurn, TurnContext } from './route/hook.ts'
export { needsInput } from './route/needs-input.ts'
export { createSession } from './session/create-session.ts'
export type { SessionStart } from './session/create-session.ts'
export { parseSession } from './session/parse-session.ts'
export type { Asking, Provenance, Session, Source, Visit } from './session/session.ts'
export { clearValues, setValues } from './session/set-values.ts'
export type { RawValues, SessionChange, ValueChange, ValueOrigin } from './session/set-values.ts'
export { plan } from './turn/plan.ts'
export type { Plan, PlannedStep, PlanOptions, PlanStop } from './turn/plan.ts'
export type { Line } from './turn/line.ts'
export { describePlan } from './turn/batch-event.ts'
export { settleTurn } from './turn/settle-turn.ts'
export { BatchExecutor } from './batch-executor.ts'
export type { BatchEventListener, BatchExecutorOptions, PreparedBatch } from './batch-executor.ts'
export type { BatchTurnOptions } from './turn/batch-turn.ts'
export type { BatchResponse, ExecutedStep, TurnChunk } from './turn/batch-response.ts'
export type { AnswerPiece, AnswerStream, CallModel, ModelAnswer } from './model/model-call.ts'
export { loopModel } from './model/loop-model.ts'
export type { LoopModelOptions } from './model/loop-model.ts'
export type { ConversationResponse, RespondInput, RespondOptions } from './turn/respond.ts'
export type { Savings, Usage } from './turn/savings.ts'
export type { CollectedData, CollectOptions } from './reply/collect-values.ts'
export type { BatchEvent, BatchEventDetails, BatchEventMap, BatchTiming, StoppedReason } from './turn/batch-event.ts'
export { BatchPromptBuilder } from './prompt/batch-prompt-builder.ts'
export type {
  BatchPrompt,
  PlannedRoute,
  PromptBudget,
  PromptSource,
  RouteAgenda,
} from './prompt/batch-prompt-builder.ts'
export type { WireNames } from './reply/reply.ts'
export type { JsonSchema } from './prompt/wire-schema.ts'
export type { Issue, IssueCode } from './issue.ts'
export { BatchError } from './errors.ts'
export type { BatchErrorCode, BatchErrorDetails } from './errors.ts'
