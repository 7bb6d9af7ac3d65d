// From what a user calls a model to a model of the V4 specification.
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelChoice, OpenAICompatibleConfig } from '@lockstep/processors'
import type { LanguageModel } from 'ai'
import { resolveLanguageModel } from '../ai-internal.ts'
import { LoopError } from '../errors.ts'
import { shown } from '../run/check-options.ts'

const supported: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4'])

/**
 * Resolves a model. Strings go through the AI SDK: the default provider that was registered, or the gateway.
 *
 * *Throws*: `unsupported-model` for the V1 specification and for what is no model.
 */
export function resolveModel(model: ModelChoice): LanguageModelV4 {
  if (typeof model === 'string') return resolveLanguageModel(model)
  if (isOpenAICompatible(model)) return openAICompatible(model)
  const version = (model as { specificationVersion?: unknown } | undefined)?.specificationVersion
  if (!supported.has(version))
    throw new LoopError(
      'unsupported-model',
      `The model ${describe(model, version)}. Give a model of a provider for AI SDK 5 or newer ` +
        `(v2, v3 or v4), an id like 'openai/gpt-5', or { id, url } of an OpenAI-compatible server.`,
    )
  return resolveLanguageModel(model as LanguageModel)
}

function isOpenAICompatible(model: ModelChoice): model is OpenAICompatibleConfig {
  return typeof model === 'object' && model !== null && 'url' in model && !('specificationVersion' in model)
}

/** A model whose provider package is loaded with the first call. */
function openAICompatible(config: OpenAICompatibleConfig): LanguageModelV4 {
  let loaded: Promise<LanguageModelV4> | undefined
  const load = () => (loaded ??= loadOpenAICompatible(config))
  return {
    specificationVersion: 'v4',
    provider: 'openai-compatible',
    modelId: config.id,
    supportedUrls: {},
    doGenerate: async (options: LanguageModelV4CallOptions) => (await load()).doGenerate(options),
    doStream: async (options: LanguageModelV4CallOptions) => (await load()).doStream(options),
  }
}

async function loadOpenAICompatible({ id, url, apiKey, headers }: OpenAICompatibleConfig): Promise<LanguageModelV4> {
  const name = '@ai-sdk/openai-compatible'
  try {
    const { createOpenAICompatible } = (await import(name)) as {
      createOpenAICompatible: (settings: object) => (modelId: string) => LanguageModel
    }
    return resolveLanguageModel(
      createOpenAICompatible({ name: 'openai-compatible', baseURL: url, apiKey, headers })(id),
    )
  } catch (error) {
    throw new LoopError(
      'missing-package',
      `The model '${id}' at ${url} needs the package ${name}, which could not be loaded. Install it: npm i ${name}@3`,
      {
        cause: error,
      },
    )
  }
}

function describe(model: unknown, version: unknown): string {
  const { provider, modelId } = (model ?? {}) as { provider?: unknown; modelId?: unknown }
  const name = typeof modelId === 'string' ? `'${String(provider)}/${modelId}'` : shown(model)
  return version === undefined ? `is ${name}` : `${name} has the specification version ${JSON.stringify(version)}`
}
