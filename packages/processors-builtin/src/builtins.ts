// The table of builtins: a name and how it is made. Nothing is loaded before it is asked for.
import type { Processor } from '@lockstep/processors'
import type { BudgetOptions } from './budget.ts'
import type { CompactionOptions } from './compaction.ts'
import { BuiltinError } from './errors.ts'
import type { HistoryRepairOptions } from './history-repair.ts'
import type { LoopDetectorOptions } from './loop-detector.ts'
import type { ModelFallbackOptions } from './model-fallback.ts'
import type { ModelRetryOptions } from './model-retry.ts'
import type { OverflowRecoveryOptions } from './overflow-recovery.ts'
import type { PrefillRepairOptions } from './prefill-repair.ts'
import type { RedactorOptions } from './redaction.ts'
import type { SecretRedactorOptions } from './secret-redactor.ts'
import type { SlidingWindowOptions } from './sliding-window.ts'
import type { TokenLimiterOptions } from './token-limiter.ts'
import type { ToolResultClearingOptions } from './tool-result-clearing.ts'

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
}

/** The name of a builtin. */
export type BuiltinName = keyof Builtins

/** A builtin as data: its name, or its name and options. */
export type BuiltinChoice = BuiltinName | { [K in BuiltinName]: readonly [K, Builtins[K]?] }[BuiltinName]

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
