// The seam to what the AI SDK exports outside its stable surface. Nothing else in the package imports `ai/internal`.
export {
  addLanguageModelUsage,
  asLanguageModelUsage,
  createNullLanguageModelUsage,
  createTelemetryDispatcher,
  createToolModelOutput,
  parseToolCall,
  prepareCallSettings,
  prepareRetries,
  prepareToolChoice,
  prepareTools,
  resolveLanguageModel,
  resolveToolApproval,
  signToolApproval,
  validateToolContext,
  verifyToolApprovalSignature,
} from 'ai/internal'
