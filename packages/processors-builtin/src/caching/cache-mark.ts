// How a provider is told where to cache a prompt: its mark, on a message, on the last part of one, or on a tool.
import type { ProviderOptions, StepSettings } from '@lockstep/processors'
import type { Tool, ToolSet } from 'ai'
import type { PromptMessage } from '../context-window/token-counter.ts'

/** How long a provider keeps what it has cached. */
export type CacheLifetime = '5m' | '1h'

type Dialect = 'anthropic' | 'bedrock' | 'openrouter'

/** The mark of one provider, and whether something has it. */
export class CacheMark {
  readonly #options: ProviderOptions
  /** This provider copies a message's options to all of its parts, and would count a mark for each. */
  readonly #onParts: boolean
  readonly #counts = new WeakMap<PromptMessage, number>()
  readonly #tools = new WeakMap<Tool, Tool>()
  readonly #toolSets = new WeakMap<ToolSet, ToolSet>()

  constructor(options: ProviderOptions, { onParts = false } = {}) {
    this.#options = options
    this.#onParts = onParts
  }

  /** The mark for a provider that caches where it is told to; nothing for others. */
  static of(dialect: Dialect, lifetime: CacheLifetime): CacheMark {
    const ttl = lifetime === '5m' ? {} : { ttl: lifetime }
    if (dialect === 'bedrock') return new CacheMark({ bedrock: { cachePoint: { type: 'default', ...ttl } } })
    return new CacheMark(
      { [dialect]: { cacheControl: { type: 'ephemeral', ...ttl } } },
      { onParts: dialect === 'openrouter' },
    )
  }

  /** How many marks a message has, whoever made them. */
  countIn(message: PromptMessage): number {
    let count = this.#counts.get(message)
    if (count === undefined) {
      const parts = typeof message.content === 'string' ? [] : message.content
      count = [message, ...parts].filter(({ providerOptions }) => this.#isIn(providerOptions)).length
      this.#counts.set(message, count)
    }
    return count
  }

  isOn({ providerOptions }: Pick<Tool, 'providerOptions'>): boolean {
    return this.#isIn(providerOptions)
  }

  onMessage(message: PromptMessage): PromptMessage {
    if (!this.#onParts || typeof message.content === 'string') return this.#added(message)
    const last = message.content.length - 1
    const content = message.content.map((part, index) => (index === last ? this.#added(part) : part))
    return { ...message, content } as PromptMessage
  }

  /** The tools, one of them marked; the same ones for the same ones, so that what is known of them stays known. */
  onToolOf(tools: ToolSet, name: string): ToolSet {
    const known = this.#toolSets.get(tools)
    if (known && this.isOn(known[name]!)) return known
    const tool = tools[name]!
    const marked =
      this.#tools.get(tool) ?? (this.#added(tool as { readonly providerOptions?: ProviderOptions }) as Tool)
    this.#tools.set(tool, marked)
    const set = Object.freeze({ ...tools, [name]: marked })
    this.#toolSets.set(tools, set)
    return set
  }

  #added<T extends { readonly providerOptions?: ProviderOptions }>(it: T): T {
    const providerOptions = { ...it.providerOptions }
    for (const [provider, mark] of Object.entries(this.#options))
      providerOptions[provider] = { ...providerOptions[provider], ...mark }
    return { ...it, providerOptions }
  }

  #isIn(options: ProviderOptions | undefined): boolean {
    return Object.entries(this.#options).some(([provider, mark]) =>
      Object.keys(mark).some(key => options?.[provider]?.[key] !== undefined),
    )
  }
}

/** Which marks a model understands. A gateway passes on those of the provider in the model's id. */
export function dialectOf({ provider, modelId }: StepSettings['model']): Dialect | undefined {
  if (provider.startsWith('openrouter')) return 'openrouter'
  if (provider.includes('anthropic')) return 'anthropic'
  if (provider.includes('bedrock')) return 'bedrock'
  return provider.startsWith('gateway') && modelId.startsWith('anthropic/') ? 'anthropic' : undefined
}
