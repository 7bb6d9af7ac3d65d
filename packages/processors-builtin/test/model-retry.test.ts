import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { modelRetry, type ModelRetry, type ModelRetryOptions } from '@lockstep/processors-builtin/model-retry'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { apiError, brokenOff } from './api-error.ts'

const now = Date.UTC(2026, 10, 21, 12)
const atOnce = () => Promise.resolve()

processorContract(() => modelRetry({ wait: atOnce }))

async function run(turns: readonly ScriptedTurn[], options: ModelRetryOptions = {}) {
  const retries: ModelRetry[] = []
  const waits: number[] = []
  const retry = modelRetry({
    random: () => 0,
    now: () => now,
    wait: ms => {
      waits.push(ms)
      return Promise.resolve()
    },
    onRetry: event => retries.push(event),
    ...options,
  })
  const outcome = await runWith(retry, { model: turns, modelSettings: { maxRetries: 0 }, maxProcessorRetries: 99 })
  return { ...outcome, retries, waits }
}

const overloaded = apiError(529, 'Overloaded')

describe('the retry', () => {
  it('waits twice as long each time, then gives up', async () => {
    const helped = await run([overloaded, overloaded, overloaded, 'Here I am.'])
    expect([helped.result.text, helped.waits]).toEqual(['Here I am.', [1_000, 2_000, 4_000]])
    expect(helped.retries.map(({ retryNumber, failure }) => [retryNumber, failure.kind])).toEqual([
      [1, 'overloaded'],
      [2, 'overloaded'],
      [3, 'overloaded'],
    ])
    const lost = await run(Array.from({ length: 4 }, () => overloaded))
    expect(lost.result).toMatchObject({ stopReason: 'error', error: overloaded.error })
  })

  it('waits no longer than it may, less up to a half at random', async () => {
    const turns = [...Array.from({ length: 5 }, () => overloaded), 'Here I am.']
    const { waits } = await run(turns, { maxRetries: 5, initialDelayMs: 400, maxDelayMs: 3_000, random: () => 1 })
    expect(waits).toEqual([200, 400, 800, 1_500, 1_500])
  })

  it('counts each step for itself', async () => {
    const turn = { toolCalls: [{ toolName: 'lookup', input: {} }] }
    const retry = modelRetry({ maxRetries: 1, wait: atOnce })
    const { result } = await runWith(retry, {
      model: [overloaded, turn, overloaded, 'Done.', overloaded],
      maxProcessorRetries: 9,
      modelSettings: { maxRetries: 0 },
    })
    expect(result).toMatchObject({ text: 'Done.', stopReason: 'completed' })
  })

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    ['a time of day', { 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, 20_000],
    ['a time that is over', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 1_000],
    ['nonsense', { 'retry-after': 'soon' }, 1_000],
    ['less than nothing', { 'retry-after': '-5', 'retry-after-ms': '-5' }, 1_000],
  ])('waits as Retry-After says: %s', async (_, headers, delay) => {
    expect((await run([apiError(429, 'Slow down.', { headers }), 'Yes.'])).waits).toEqual([delay])
  })

  it.each([
    ['Rate limit reached for gpt-5 in organization org-x. Please try again in 6.5s. Visit …', 6_500],
    ['Rate limit reached. Please try again in 134ms.', 134],
    ['Rate limit reached. Please try again in 1m2.5s.', 62_500],
    ['You exceeded your current quota. Please retry in 41.5s.', 41_500],
    ['Try again in 1 minute.', 60_000],
    ['Try again in 5 moments.', 1_000],
  ])('waits as the message says: %s', async (message, delay) => {
    const { waits } = await run([apiError(429, message), 'Yes.'], { maxRetryAfterMs: 100_000 })
    expect(waits).toEqual([delay])
  })

  it('reads the delay that Google gives in the body', async () => {
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '37s' }] } }
    expect((await run([apiError(429, 'Quota exceeded.', { body }), 'Yes.'])).waits).toEqual([37_000])
  })

  it('does not call a provider that wants to be left alone for longer', async () => {
    const { result, waits } = await run([apiError(429, 'No.', { headers: { 'retry-after': '3600' } })])
    expect([result.stopReason, waits]).toEqual(['error', []])
  })

  it('does not call a provider that says that it does not help', async () => {
    const { result, waits } = await run([apiError(500, 'No.', { headers: { 'x-should-retry': 'false' } })])
    expect([result.stopReason, waits]).toEqual(['error', []])
  })

  it.each([
    ['Anthropic, as an object', { type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
    ['Anthropic, as an error of the SDK', apiError(529, 'Overloaded').error, 'overloaded'],
    ['OpenAI', { type: 'error', error: { type: 'server_error', message: 'Sorry.' } }, 'server'],
    ['a server that only talks', 'Service Unavailable', 'overloaded'],
    ['a socket', Object.assign(new TypeError('terminated'), { cause: { code: 'UND_ERR_SOCKET' } }), 'network'],
    [
      'a stream that is late',
      new DOMException("The model's next chunk took longer than 5 ms.", 'TimeoutError'),
      'timeout',
    ],
  ])('takes up an answer that broke off: %s', async (_, error, kind) => {
    const { result, screen, retries } = await run([brokenOff(error), 'All of it.'])
    expect([result.text, screen]).toEqual(['All of it.', 'All of it.'])
    expect(retries.map(({ failure }) => failure.kind)).toEqual([kind])
  })

  it('takes up a stream that ended without saying so', async () => {
    const { result, retries } = await run([{ parts: [{ type: 'text-start', id: 't' }] }, 'All of it.'])
    expect([result.text, retries[0]?.failure.kind]).toEqual(['All of it.', 'network'])
  })

  it.each([
    ['a wrong request', apiError(400, 'Invalid temperature.')],
    ['a wrong key', apiError(401, 'Invalid API key.')],
    ['a model that is not there', apiError(404, 'No such model.')],
    ['a prompt that is too long', apiError(400, 'prompt is too long: 213462 tokens > 200000 maximum')],
    ['an empty account of OpenAI', apiError(429, 'No.', { body: { error: { code: 'insufficient_quota' } } })],
    ['an empty account of Anthropic', apiError(400, 'Your credit balance is too low to access the Anthropic API.')],
    ['a mistake in a provider', { error: new TypeError('x is not a function') }],
    ['an error that is none', { error: undefined }],
  ])('leaves %s alone', async (_, turn) => {
    const { result, waits } = await run([turn])
    expect([result.stopReason, waits]).toEqual(['error', []])
  })

  it('calls again for the failures that it is told', async () => {
    expect((await run([apiError(404, 'Not yet there.'), 'Yes.'], { on: ['not-found'] })).result.text).toBe('Yes.')
    expect((await run([overloaded, 'Yes.'], { on: ['not-found'] })).result.stopReason).toBe('error')
  })

  it('ends its wait with the run', async () => {
    const controller = new AbortController()
    const retry = modelRetry({
      initialDelayMs: 1e9,
      maxDelayMs: 1e9,
      onRetry: () => queueMicrotask(() => controller.abort(new Error('Enough.'))),
    })
    const { result } = await runWith(retry, {
      model: [overloaded],
      modelSettings: { maxRetries: 0 },
      abortSignal: controller.signal,
    })
    expect(result.stopReason).toBe('aborted')
  })

  it('reads whatever is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything({ withNullPrototype: true, withBigInt: true }), async error => {
        const { result } = await run([brokenOff(error)], { on: [] })
        expect(result.stopReason).toBe('error')
      }),
      { numRuns: 100 },
    )
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['model-retry', { maxRetries: 1 }])).id).toBe('model-retry')
  })
})
