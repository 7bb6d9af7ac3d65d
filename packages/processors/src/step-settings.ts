// What a step is called with: the model, its tools and its settings.
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModelCallOptions, ToolChoice, ToolSet } from 'ai'
import { frozenCopy } from './frozen-copy.ts'
import type { ObjectRequest } from './structured-output.ts'

/** Options of the provider, by provider name. */
export type ProviderOptions = NonNullable<Parameters<LanguageModelV4['doStream']>[0]['providerOptions']>

/** How the model is called: sampling, limits, headers, transport retries. */
export interface ModelSettings extends LanguageModelCallOptions {
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Retries of the HTTP call by the transport, before any processor hears of the error. 2 when absent. */
  readonly maxRetries?: number
}

/** What a step is called with. Every processor sees it as the one before left it. */
export interface StepSettings<TOOLS extends ToolSet = ToolSet> {
  readonly model: LanguageModelV4
  readonly tools: TOOLS
  readonly toolChoice: ToolChoice<TOOLS> | undefined
  /** Binds the prompt and the execution: a call to another tool is not run. All tools when undefined. */
  readonly activeTools: readonly (keyof TOOLS & string)[] | undefined
  readonly providerOptions: ProviderOptions | undefined
  readonly modelSettings: ModelSettings
  /** The object that this step asks for. Another one changes the step, never what the run promised its caller. */
  readonly structuredOutput: ObjectRequest | undefined
}

/**
 * A copy of the settings that nobody can write to, so that a hook changes a step by what it returns and the caller's own
 * objects stay as they are. Models and tools are shared as they are.
 */
export function frozenSettings(settings: StepSettings): StepSettings {
  const { tools, activeTools, modelSettings, providerOptions, structuredOutput } = settings
  return Object.freeze({
    ...settings,
    tools: frozenShallow(tools),
    activeTools: activeTools && frozenShallow(activeTools),
    modelSettings: frozenCopy(modelSettings),
    providerOptions: providerOptions && frozenCopy(providerOptions),
    structuredOutput: structuredOutput && frozenShallow(structuredOutput),
  })
}

function frozenShallow<T extends object>(value: T): T {
  return Object.isFrozen(value)
    ? value
    : (Object.freeze(Array.isArray(value) ? [...(value as readonly unknown[])] : { ...value }) as T)
}
