// Which model answers: the embedded one, or a real one that the environment names.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { AskDocsError } from '../errors.ts'
import { retrievalModel } from './retrieval-model.ts'

export type ChosenModel = {
  readonly model: LanguageModelV4
  /** The model as a line for people. */
  readonly label: string
}

type Environment = Readonly<Record<string, string | undefined>>

const vendors = {
  openai: { keyName: 'OPENAI_API_KEY', create: (apiKey: string, id: string) => createOpenAI({ apiKey })(id) },
  anthropic: { keyName: 'ANTHROPIC_API_KEY', create: (apiKey: string, id: string) => createAnthropic({ apiKey })(id) },
}

/**
 * Chooses by `OPENAI_BASE_URL` first, then by `LOCKSTEP_MODEL`; without either it is the embedded model. `chunkDelayMs` slows
 * the embedded model down so that its streaming can be seen.
 *
 * *Throws* `AskDocsError` when the name is unknown or its key is missing.
 */
export function chooseModel(environment: Environment, chunkDelayMs = 0): ChosenModel {
  const { LOCKSTEP_MODEL: name, OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = environment
  if (baseURL) return compatibleModel(baseURL, name, apiKey)
  if (!name)
    return {
      model: retrievalModel({ chunkDelayMs }),
      label: 'embedded retrieval model (no network; it finds and quotes)',
    }
  const [, vendorName = '', id = ''] = /^([^/]+)\/(.+)$/.exec(name) ?? []
  const vendor = vendorName === 'openai' || vendorName === 'anthropic' ? vendors[vendorName] : undefined
  if (vendor === undefined) {
    const cure =
      'Use openai/MODEL or anthropic/MODEL, set OPENAI_BASE_URL for another server, or unset it for the embedded model.'
    throw new AskDocsError('model-unknown', `LOCKSTEP_MODEL is "${name}", which names no known provider. ${cure}`)
  }
  const key = environment[vendor.keyName]
  if (!key) {
    const cure = `Set ${vendor.keyName} to your key, or unset LOCKSTEP_MODEL for the embedded model.`
    throw new AskDocsError(
      'model-key-missing',
      `LOCKSTEP_MODEL is "${name}", but ${vendor.keyName} is not set. ${cure}`,
    )
  }
  return { model: vendor.create(key, id), label: name }
}

function compatibleModel(baseURL: string, name: string | undefined, apiKey: string | undefined): ChosenModel {
  if (!URL.canParse(baseURL)) {
    throw new AskDocsError(
      'model-unknown',
      `OPENAI_BASE_URL is "${baseURL}", which is no URL. An example is http://localhost:11434/v1.`,
    )
  }
  if (!name) {
    const cure = 'Set LOCKSTEP_MODEL to a model that the server has, such as llama3.2.'
    throw new AskDocsError('model-unknown', `OPENAI_BASE_URL is set, but LOCKSTEP_MODEL is not. ${cure}`)
  }
  const server = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    includeUsage: true,
    ...(apiKey && { apiKey }),
  })
  return { model: server.chatModel(name), label: `${name} at ${baseURL}` }
}
