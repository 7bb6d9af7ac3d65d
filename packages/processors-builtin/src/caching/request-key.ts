// What a model call is, as a short text: equal for calls that a model cannot tell apart.
import type { ProcessLLMRequestArgs } from '@lockstep/processors'
import { asSchema, type Tool } from 'ai'
import { taggedJson } from './tagged-json.ts'

type Request = Pick<
  ProcessLLMRequestArgs,
  'prompt' | 'model' | 'tools' | 'activeTools' | 'toolChoice' | 'modelSettings' | 'providerOptions' | 'structuredOutput'
>

/** Makes keys. Messages and tools are digested once: they are the same objects in each step. */
export class RequestKeys {
  readonly #digests = new WeakMap<object, Promise<string>>()

  /**
   * A digest (SHA-256) of everything that a model is called with: provider and model, messages, the active tools, the
   * choice of tool, settings and headers, provider options, the schema of structured output; and of the `scope`. Retries
   * of the transport are not in it. Nothing for a call with a tool whose description is a function.
   */
  async of(request: Request, scope: string): Promise<string | undefined> {
    const { prompt, model, tools, activeTools, toolChoice, modelSettings, providerOptions, structuredOutput } = request
    const { maxRetries: _, ...settings } = modelSettings
    const called = (activeTools ?? Object.keys(tools)).filter(name => Object.hasOwn(tools, name))
    if (called.some(name => typeof tools[name]!.description === 'function')) return undefined
    return digestOf(
      taggedJson({
        scope,
        model: [model.provider, model.modelId],
        prompt: await Promise.all(prompt.map(message => this.#once(message, () => message))),
        tools: await Promise.all(called.map(async name => [name, await this.#ofTool(tools[name]!)])),
        toolChoice,
        settings,
        providerOptions,
        object: structuredOutput && {
          name: structuredOutput.name,
          description: structuredOutput.description,
          schema: await asSchema(structuredOutput.schema).jsonSchema,
        },
      }),
    )
  }

  #ofTool(tool: Tool): Promise<string> {
    return this.#once(tool, async () => {
      const { description, providerOptions, ...rest } = tool
      const { type, id, args, strict, inputExamples } = rest as Readonly<Record<string, unknown>>
      const { jsonSchema } = asSchema(tool.inputSchema as Parameters<typeof asSchema>[0])
      return { description, providerOptions, type, id, args, strict, inputExamples, schema: await jsonSchema }
    })
  }

  #once(object: object, contentOf: () => unknown): Promise<string> {
    let digest = this.#digests.get(object)
    if (digest === undefined) {
      digest = Promise.resolve(contentOf()).then(content => digestOf(taggedJson(content)))
      this.#digests.set(object, digest)
    }
    return digest
  }
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}
