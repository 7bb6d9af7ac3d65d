// Where answers are kept: any store of texts by key, and one in memory that is bounded.
import type { MaybePromise } from '@lockstep/processors'

/** A store of texts with a time to live. A `Keyv` is one. */
export interface CacheStore {
  get(key: string): MaybePromise<string | undefined | null>
  set(key: string, value: string, ttlMs: number): MaybePromise<unknown>
  delete(key: string): MaybePromise<unknown>
}

/** How much a store in memory keeps. */
export interface MemoryCacheOptions {
  /** 1,000 texts when absent. */
  readonly maxCount?: number
  /** The characters of all texts together; 20 million when absent. */
  readonly maxLength?: number
}

/** A store in memory: when it is full, what was not asked for the longest goes. What is old is not given out by its reader. */
export function memoryCache({ maxCount = 1_000, maxLength = 20_000_000 }: MemoryCacheOptions = {}): CacheStore {
  const texts = new Map<string, string>()
  let length = 0
  const remove = (key: string) => {
    length -= texts.get(key)?.length ?? 0
    return texts.delete(key)
  }
  return {
    get(key) {
      const text = texts.get(key)
      if (text === undefined) return undefined
      texts.delete(key)
      texts.set(key, text)
      return text
    },
    set(key, value) {
      remove(key)
      if (value.length > maxLength) return
      texts.set(key, value)
      length += value.length
      for (const oldest of texts.keys()) {
        if (texts.size <= maxCount && length <= maxLength) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
