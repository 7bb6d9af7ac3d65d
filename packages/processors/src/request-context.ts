// What the caller knows about a request (user, tenant, locale): one per run, seen by every hook and tool.

/**
 * A typed map that lives for one run.
 *
 * @example
 * const context = new RequestContext<{ tier: 'free' | 'pro' }>({ tier: 'pro' })
 * context.get('tier') // 'free' | 'pro' | undefined
 */
export class RequestContext<TValues extends object = Record<string, unknown>> {
  readonly #values: Map<PropertyKey, unknown>

  constructor(values: Partial<TValues> = {}) {
    this.#values = new Map(Object.entries(values))
  }

  get<K extends keyof TValues>(key: K): TValues[K] | undefined {
    return this.#values.get(key) as TValues[K] | undefined
  }

  set<K extends keyof TValues>(key: K, value: TValues[K]): this {
    this.#values.set(key, value)
    return this
  }

  has(key: keyof TValues): boolean {
    return this.#values.has(key)
  }

  delete(key: keyof TValues): boolean {
    return this.#values.delete(key)
  }

  entries(): IterableIterator<[PropertyKey, unknown]> {
    return this.#values.entries()
  }

  toJSON(): Partial<TValues> {
    return Object.fromEntries(this.#values) as Partial<TValues>
  }
}
