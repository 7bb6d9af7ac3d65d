// The table of builtins: a name and how it is made. Nothing is loaded before it is asked for.
import type { Processor } from '@lockstep/processors'
import type { BudgetOptions } from './limits/budget.ts'
import type { CompactionOptions } from './context-window/compaction.ts'
import type { ClassifierOptions } from './judges/classifier.ts'
import { BuiltinError } from './errors.ts'
import type { HistoryRepairOptions } from './model-errors/history-repair.ts'
import type { JudgePanelOptions } from './judges/judge-panel.ts'
import type { JudgeProcessor } from './judges/judge.ts'
import type { LanguageOptions } from './judges/language.ts'
import type { LoopDetectorOptions } from './limits/loop-detector.ts'
import type { ModelFallbackOptions } from './model-errors/model-fallback.ts'
import type { ModelRetryOptions } from './model-errors/model-retry.ts'
import type { OverflowRecoveryOptions } from './context-window/overflow-recovery.ts'
import type { ModerationOptions } from './judges/moderation.ts'
import type { OutputValidatorOptions } from './judges/output-validator.ts'
import type { PrefillRepairOptions } from './model-errors/prefill-repair.ts'
import type { PromptCacheOptions } from './caching/prompt-cache.ts'
import type { PromptInjectionOptions } from './judges/prompt-injection.ts'
import type { RedactorOptions } from './redaction/redaction.ts'
import type { ReasoningPrunerOptions } from './context-window/reasoning-pruner.ts'
import type { ResponseCacheOptions } from './caching/response-cache.ts'
import type { SecretRedactorOptions } from './redaction/secret-redactor.ts'
import type { SlidingWindowOptions } from './context-window/sliding-window.ts'
import type { StreamSmootherOptions } from './text-guards/stream-smoother.ts'
import type { TokenLimiterOptions } from './context-window/token-limiter.ts'
import type { ToolFilterOptions } from './tools/tool-filter.ts'
import type { ToolPolicyOptions } from './tools/tool-policy.ts'
import type { ToolResultClearingOptions } from './context-window/tool-result-clearing.ts'
import type { ToolSearchOptions } from './tools/tool-search.ts'
import type { UnicodeNormalizerOptions } from './text-guards/unicode-normalizer.ts'
import type { PromptScrubberOptions } from './text-guards/prompt-scrubber.ts'
import type { ExfiltrationLinksOptions } from './text-guards/exfiltration-links.ts'
import type { MaxOutputOptions } from './limits/max-output.ts'

/** The builtins and their options. */
export interface Builtins {
  readonly redactor: RedactorOptions
  readonly 'secret-redactor': SecretRedactorOptions
  readonly budget: BudgetOptions
  readonly 'loop-detector': LoopDetectorOptions
  readonly 'model-retry': ModelRetryOptions
  readonly 'model-fallback': ModelFallbackOptions
  readonly 'prefill-repair': PrefillRepairOptions
  readonly 'history-repair': HistoryRepairOptions
  readonly 'token-limiter': TokenLimiterOptions
  readonly 'tool-result-clearing': ToolResultClearingOptions
  readonly 'sliding-window': SlidingWindowOptions
  readonly 'overflow-recovery': OverflowRecoveryOptions
  readonly compaction: CompactionOptions
  readonly moderation: ModerationOptions
  readonly 'prompt-injection': PromptInjectionOptions
  readonly classifier: ClassifierOptions
  readonly 'judge-panel': Omit<JudgePanelOptions, 'judges'> & { readonly judges: readonly JudgeChoice[] }
  readonly 'output-validator': OutputValidatorOptions
  readonly language: LanguageOptions
  readonly 'tool-policy': ToolPolicyOptions
  readonly 'tool-filter': ToolFilterOptions
  readonly 'tool-search': ToolSearchOptions
  readonly 'response-cache': ResponseCacheOptions
  readonly 'prompt-cache': PromptCacheOptions
  readonly 'unicode-normalizer': UnicodeNormalizerOptions
  readonly 'prompt-scrubber': PromptScrubberOptions
  readonly 'reasoning-pruner': ReasoningPrunerOptions
  readonly 'exfiltration-links': ExfiltrationLinksOptions
  readonly 'stream-smoother': StreamSmootherOptions
  readonly 'max-output': MaxOutputOptions
}

/** The name of a builtin. */
export type BuiltinName = keyof Builtins

/** A builtin as data: its name, or its name and options. */
export type BuiltinChoice = BuiltinName | { [K in BuiltinName]: readonly [K, Builtins[K]?] }[BuiltinName]

type JudgeName = 'moderation' | 'prompt-injection' | 'classifier'

/** A judge of a panel: its name, its name and options, or the judge itself. */
export type JudgeChoice = JudgeName | { [K in JudgeName]: readonly [K, Builtins[K]?] }[JudgeName] | JudgeProcessor

const loaders: { readonly [K in BuiltinName]: (options?: Builtins[K]) => Promise<Processor> } = {
  redactor: async options => (await import('./redaction/redactor.ts')).redactor(options),
  'secret-redactor': async options => (await import('./redaction/secret-redactor.ts')).secretRedactor(options),
  budget: async (options = {}) => (await import('./limits/budget.ts')).budget(options),
  'loop-detector': async options => (await import('./limits/loop-detector.ts')).loopDetector(options),
  'model-retry': async options => (await import('./model-errors/model-retry.ts')).modelRetry(options),
  'model-fallback': async (options = { models: [] }) =>
    (await import('./model-errors/model-fallback.ts')).modelFallback(options),
  'prefill-repair': async options => (await import('./model-errors/prefill-repair.ts')).prefillRepair(options),
  'history-repair': async options => (await import('./model-errors/history-repair.ts')).historyRepair(options),
  'token-limiter': async (options = { limit: 0 }) =>
    (await import('./context-window/token-limiter.ts')).tokenLimiter(options),
  'tool-result-clearing': async options =>
    (await import('./context-window/tool-result-clearing.ts')).toolResultClearing(options),
  'sliding-window': async options => (await import('./context-window/sliding-window.ts')).slidingWindow(options),
  'overflow-recovery': async options =>
    (await import('./context-window/overflow-recovery.ts')).overflowRecovery(options),
  compaction: async options => (await import('./context-window/compaction.ts')).compaction(options),
  moderation: async options => (await import('./judges/moderation.ts')).moderation(options),
  'prompt-injection': async options => (await import('./judges/prompt-injection.ts')).promptInjection(options),
  classifier: async (options = { question: '', categories: {} }) =>
    (await import('./judges/classifier.ts')).classifier(options),
  'judge-panel': async ({ judges, ...options } = { judges: [] }) => {
    const made = judges.map(async judge => (isChoice(judge) ? ((await loadBuiltin(judge)) as JudgeProcessor) : judge))
    return (await import('./judges/judge-panel.ts')).judgePanel({ ...options, judges: await Promise.all(made) })
  },
  'output-validator': async (options = {}) => (await import('./judges/output-validator.ts')).outputValidator(options),
  language: async (options = {}) => (await import('./judges/language.ts')).language(options),
  'tool-policy': async options => (await import('./tools/tool-policy.ts')).toolPolicy(options),
  'tool-filter': async options => (await import('./tools/tool-filter.ts')).toolFilter(options),
  'tool-search': async options => (await import('./tools/tool-search.ts')).toolSearch(options),
  'response-cache': async options => (await import('./caching/response-cache.ts')).responseCache(options),
  'prompt-cache': async options => (await import('./caching/prompt-cache.ts')).promptCache(options),
  'unicode-normalizer': async options =>
    (await import('./text-guards/unicode-normalizer.ts')).unicodeNormalizer(options),
  'prompt-scrubber': async options => (await import('./text-guards/prompt-scrubber.ts')).promptScrubber(options),
  'reasoning-pruner': async options => (await import('./context-window/reasoning-pruner.ts')).reasoningPruner(options),
  'exfiltration-links': async options =>
    (await import('./text-guards/exfiltration-links.ts')).exfiltrationLinks(options),
  'stream-smoother': async options => (await import('./text-guards/stream-smoother.ts')).streamSmoother(options),
  'max-output': async (options = {}) => (await import('./limits/max-output.ts')).maxOutput(options),
}

function isChoice(judge: JudgeChoice): judge is Exclude<JudgeChoice, JudgeProcessor> {
  return typeof judge === 'string' || Array.isArray(judge)
}

/** Makes a builtin from its name. Throws: `unknown-builtin`, with the names, for one that does not exist. */
export async function loadBuiltin(choice: BuiltinChoice): Promise<Processor> {
  const [name, options] = typeof choice === 'string' ? ([choice, undefined] as const) : choice
  if (!Object.hasOwn(loaders, name))
    throw new BuiltinError(
      'unknown-builtin',
      `There is no builtin processor '${String(name)}'. The builtins are: ${Object.keys(loaders).join(', ')}. Import a plugin and give it as a value.`,
    )
  return (loaders[name] as (options: unknown) => Promise<Processor>)(options)
}
