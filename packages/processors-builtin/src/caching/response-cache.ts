// Answers of models, kept and given again: the same call is made once, as long as nobody had anything against its answer.
import { isPromiseLike, untilAborted, type Processor, type RequestContext } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { memoryCache, type CacheStore } from './cache-store.ts'
import { isWhole, replayed, usageIn, type ModelPart } from './replayed-parts.ts'
import { RequestKeys } from './request-key.ts'
import { readTaggedJson, taggedJson } from './tagged-json.ts'

export { memoryCache, type CacheStore, type MemoryCacheOptions } from './cache-store.ts'

/** An answer that was found. */
export interface CacheHit {
  readonly key: string
  readonly stepNumber: number
  /** When the answer was made, in milliseconds. */
  readonly storedAt: number
  /** What the answer used when it was made. Given again it uses nothing. */
  readonly usage: ReturnType<typeof usageIn>
}

/** Options of the cache. */
export interface ResponseCacheOptions {
  /** A bounded one in memory when absent. */
  readonly store?: CacheStore
  /** How long an answer is given again; an hour when absent. */
  readonly ttlMs?: number
  /** Whose answers are shared: runs with the same text. Nothing for a run that is to have no part in the cache. */
  readonly scope?: (run: { readonly requestContext: RequestContext }) => string | undefined
  readonly onHit?: (hit: CacheHit) => void
  /** The time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number
}

/** A model call that the cache was asked about. */
interface Asked {
  readonly stepNumber: number
  /** None for a call that has no part in the cache, or about which it could not be asked. */
  key?: string
  isHit: boolean
  /** What the model answered, when that may be kept. */
  parts?: readonly ModelPart[]
}

interface Entry {
  readonly storedAt: number
  readonly parts: readonly ModelPart[]
}

/**
 * A processor that answers a model call with what the model answered to the same one before. An answer is kept when its
 * run has come to its end; one that a guard then refuses is forgotten.
 *
 * *Order*: last in `inputProcessors`, so that it knows the prompt as it is sent.
 * *Errors*: `onError` is `'skip'`: when the store fails, the model is called.
 * *Throws*: `invalid-limit`.
 */
export function responseCache(options: ResponseCacheOptions = {}): Processor<'response-cache'> {
  const { store = memoryCache(), ttlMs = 3_600_000, scope, onHit, now = Date.now } = options
  if (!(ttlMs > 0)) throw new BuiltinError('invalid-limit', `Answers cannot be kept for ${ttlMs} ms. Give more than 0.`)
  const keys = new RequestKeys()
  /** What was asked in each run. It need not outlive the process: what is lost of it is not kept. */
  const runs = new WeakMap<object, Asked[]>()
  const askedIn = (state: object): Asked[] => {
    const asked = runs.get(state) ?? []
    runs.set(state, asked)
    return asked
  }

  return {
    id: 'response-cache',
    name: 'Response cache',
    description: 'Gives the answer of an earlier model call that was the same.',
    onError: 'skip',

    async processLLMRequest(request) {
      const { state, stepNumber, requestContext, messageList, abortSignal } = request
      const asked: Asked = { stepNumber, isHit: false }
      askedIn(state).push(asked)
      const shared = scope === undefined ? '' : scope({ requestContext })
      const key = shared === undefined ? undefined : await untilAborted(keys.of(request, shared), abortSignal)
      if (key === undefined) return
      asked.key = key
      const entry = entryIn(await untilAborted(Promise.resolve(store.get(key)), abortSignal), now() - ttlMs)
      if (entry === undefined) return
      asked.isHit = true
      onHit?.({ key, stepNumber, storedAt: entry.storedAt, usage: usageIn(entry.parts) })
      return { response: { chunks: replayed(entry.parts, messageList) } }
    },

    processLLMResponse({ state, stepNumber, chunks, fromCache }) {
      const asked = runs.get(state)?.at(-1)
      if (asked === undefined || asked.stepNumber !== stepNumber || fromCache || !isWhole(chunks)) return
      asked.parts = chunks.filter(({ type }) => type !== 'raw')
    },

    async processRunEnd({ state, stopReason, steps, abortSignal }) {
      const all = runs.get(state) ?? []
      runs.delete(state)
      const accepted = new Set(steps.map(({ stepNumber }) => all.findLast(asked => asked.stepNumber === stepNumber)))
      const isGood = stopReason === 'completed' || stopReason === 'max-steps' || stopReason === 'stop-condition'
      const isRefused = stopReason === 'tripwire'
      const storedAt = now()
      const changes = all.flatMap(asked => {
        const { key, isHit, parts } = asked
        if (key === undefined) return []
        if (isHit) return isRefused || (isGood && !accepted.has(asked)) ? [store.delete(key)] : []
        if (!isGood || !accepted.has(asked) || parts === undefined) return []
        return [store.set(key, taggedJson({ storedAt, parts } satisfies Entry), ttlMs)]
      })
      const later = changes.filter(change => isPromiseLike(change))
      if (later.length > 0) await untilAborted(Promise.all(later), abortSignal)
    },
  }
}

/** What a store gave, when it is an answer that is not older than it may be. */
function entryIn(text: string | undefined | null, oldest: number): Entry | undefined {
  if (typeof text !== 'string') return undefined
  const entry = readTaggedJson(text) as Partial<Entry> | null
  const { storedAt, parts } = entry ?? {}
  if (typeof storedAt !== 'number' || storedAt <= oldest || !Array.isArray(parts) || !isWhole(parts)) return undefined
  return { storedAt, parts }
}
