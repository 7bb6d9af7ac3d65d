// The table of builtins: a name and how it is made. Nothing is loaded before it is asked for.
import type { Processor } from '@lockstep/processors'
import type { BudgetOptions } from './budget.ts'
import type { CompactionOptions } from './compaction.ts'
import type { ClassifierOptions } from './classifier.ts'
import { BuiltinError } from './errors.ts'
import type { HistoryRepairOptions } from './history-repair.ts'
import type { JudgePanelOptions } from './judge-panel.ts'
import type { JudgeProcessor } from './judge.ts'
import type { LanguageOptions } from './language.ts'
import type { LoopDetectorOptions } from './loop-detector.ts'
import type { ModelFallbackOptions } from './model-fallback.ts'
import type { ModelRetryOptions } from './model-retry.ts'
import type { OverflowRecoveryOptions } from './overflow-recovery.ts'
import type { ModerationOptions } from './moderation.ts'
import type { OutputValidatorOptions } from './output-validator.ts'
import type { PrefillRepairOptions } from './prefill-repair.ts'
import type { PromptCacheOptions } from './prompt-cache.ts'
import type { PromptInjectionOptions } from './prompt-injection.ts'
import type { RedactorOptions } from './redaction.ts'
import type { ReasoningPrunerOptions } from './reasoning-pruner.ts'
import type { ResponseCacheOptions } from './response-cache.ts'
import type { SecretRedactorOptions } from './secret-redactor.ts'
import type { SlidingWindowOptions } from './sliding-window.ts'
import type { StreamSmootherOptions } from './stream-smoother.ts'
import type { TokenLimiterOptions } from './token-limiter.ts'
import type { ToolFilterOptions } from './tool-filter.ts'
import type { ToolPolicyOptions } from './tool-policy.ts'
import type { ToolResultClearingOptions } from './tool-result-clearing.ts'
import type { ToolSearchOptions } from './tool-search.ts'
import type { UnicodeNormalizerOptions } from './unicode-normalizer.ts'
import type { PromptScrubberOptions } from './prompt-scrubber.ts'
import type { ExfiltrationLinksOptions } from './exfiltration-links.ts'
import type { MaxOutputOptions } from './max-output.ts'

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
  redactor: async options => (await import('./redactor.ts')).redactor(options),
  'secret-redactor': async options => (await import('./secret-redactor.ts')).secretRedactor(options),
  budget: async (options = {}) => (await import('./budget.ts')).budget(options),
  'loop-detector': async options => (await import('./loop-detector.ts')).loopDetector(options),
  'model-retry': async options => (await import('./model-retry.ts')).modelRetry(options),
  'model-fallback': async (options = { models: [] }) => (await import('./model-fallback.ts')).modelFallback(options),
  'prefill-repair': async options => (await import('./prefill-repair.ts')).prefillRepair(options),
  'history-repair': async options => (await import('./history-repair.ts')).historyRepair(options),
  'token-limiter': async (options = { limit: 0 }) => (await import('./token-limiter.ts')).tokenLimiter(options),
  'tool-result-clearing': async options => (await import('./tool-result-clearing.ts')).toolResultClearing(options),
  'sliding-window': async options => (await import('./sliding-window.ts')).slidingWindow(options),
  'overflow-recovery': async options => (await import('./overflow-recovery.ts')).overflowRecovery(options),
  compaction: async options => (await import('./compaction.ts')).compaction(options),
  moderation: async options => (await import('./moderation.ts')).moderation(options),
  'prompt-injection': async options => (await import('./prompt-injection.ts')).promptInjection(options),
  classifier: async (options = { question: '', categories: {} }) =>
    (await import('./classifier.ts')).classifier(options),
  'judge-panel': async ({ judges, ...options } = { judges: [] }) => {
    const made = judges.map(async judge => (isChoice(judge) ? ((await loadBuiltin(judge)) as JudgeProcessor) : judge))
    return (await import('./judge-panel.ts')).judgePanel({ ...options, judges: await Promise.all(made) })
  },
  'output-validator': async (options = {}) => (await import('./output-validator.ts')).outputValidator(options),
  language: async (options = {}) => (await import('./language.ts')).language(options),
  'tool-policy': async options => (await import('./tool-policy.ts')).toolPolicy(options),
  'tool-filter': async options => (await import('./tool-filter.ts')).toolFilter(options),
  'tool-search': async options => (await import('./tool-search.ts')).toolSearch(options),
  'response-cache': async options => (await import('./response-cache.ts')).responseCache(options),
  'prompt-cache': async options => (await import('./prompt-cache.ts')).promptCache(options),
  'unicode-normalizer': async options => (await import('./unicode-normalizer.ts')).unicodeNormalizer(options),
  'prompt-scrubber': async options => (await import('./prompt-scrubber.ts')).promptScrubber(options),
  'reasoning-pruner': async options => (await import('./reasoning-pruner.ts')).reasoningPruner(options),
  'exfiltration-links': async options => (await import('./exfiltration-links.ts')).exfiltrationLinks(options),
  'stream-smoother': async options => (await import('./stream-smoother.ts')).streamSmoother(options),
  'max-output': async (options = {}) => (await import('./max-output.ts')).maxOutput(options),
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
