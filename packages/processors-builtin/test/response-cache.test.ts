import { jsonSchema, type ToolSet } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finishPart, scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { RequestContext, type Processor } from '@lockstep/processors'
import { loadBuiltin } from '@lockstep/processors-builtin'
import {
  memoryCache,
  responseCache,
  type CacheHit,
  type CacheStore,
  type ResponseCacheOptions,
} from '@lockstep/processors-builtin/response-cache'
import { runWith, type ProcessorRun, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { runCount } from './redactor-run.ts'

/** A cache that has nothing yet does nothing, so the contract is about one that has answered all that is asked. */
processorContract(() => responseCache({ store: echo() }), {
  skip: [{ law: 'runs-apart', reason: 'a cache is there for what other runs have asked' }],
})

/** A store that has an answer for everything. */
function echo(): CacheStore {
  const parts = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Known ' },
    { type: 'text-delta', id: 't', delta: 'already.' },
    { type: 'text-end', id: 't' },
    finishPart('stop'),
  ]
  return { get: () => JSON.stringify({ storedAt: 1e15, parts }), set: () => {}, delete: () => {} }
}

/** A store that can be looked into. */
function watched(inner: CacheStore = memoryCache()) {
  const log: string[] = []
  const store: CacheStore = {
    get: key => inner.get(key),
    set: (key, value, ttlMs) => (log.push(`set ${ttlMs}`), inner.set(key, value, ttlMs)),
    delete: key => (log.push('delete'), inner.delete(key)),
  }
  return { store, log }
}

const tools = {
  lookup: { inputSchema: jsonSchema({ type: 'object' }), execute: () => 'noon' },
} as unknown as ToolSet

const lookup: ScriptedTurn = { reasoning: 'Hm.', toolCalls: [{ toolName: 'lookup', input: { at: 1 } }] }

function caching(options: ResponseCacheOptions = {}) {
  const hits: CacheHit[] = []
  const { store, log } = watched(options.store)
  const cache = responseCache({ ...options, store, onHit: hit => hits.push(hit) })
  const run = async (model: readonly ScriptedTurn[], more: RunWithOptions = {}): Promise<ProcessorRun> =>
    runWith(cache, { model, tools, ...more })
  return { run, hits, log, cache }
}

const shown = ({ chunks }: ProcessorRun) =>
  chunks.flatMap(chunk => (chunk.type === 'text-delta' ? [chunk.payload.text] : []))

describe('the response cache', () => {
  it('gives the answer again, in the same pieces, without a model call and without costs', async () => {
    const { run, hits } = caching({ now: () => 5 })
    const first = await run([{ text: ['Hel', 'lo', '.'], usage: { input: 7, output: 3 } }])
    const second = await run([])
    expect([second.result.text, shown(second), second.calls.length]).toEqual(['Hello.', shown(first), 0])
    expect([first.result.totalUsage.totalTokens, second.result.totalUsage.totalTokens]).toEqual([10, 0])
    expect(hits).toMatchObject([{ stepNumber: 0, storedAt: 5, usage: { inputTokens: { total: 7 } } }])
  })

  it('follows a run through its steps; tools run again', async () => {
    const { run, hits } = caching()
    const first = await run([lookup, 'At noon.'])
    const second = await run([])
    expect([second.result.text, hits.length, second.calls.length]).toEqual(['At noon.', 2, 0])
    expect(second.result.toolResults).toEqual(first.result.toolResults)
    const texts = (outcome: ProcessorRun) =>
      outcome.result.messages.map(({ content }) => JSON.stringify(content.parts).replaceAll(/id-\d+/g, ''))
    expect(texts(second)).toEqual(texts(first))
  })

  it.each<[string, RunWithOptions]>([
    ['the question', { input: 'Bye' }],
    ['the history', { history: [{ role: 'user', content: 'Before.' }] }],
    ['the instructions', { system: 'Be brief.' }],
    ['the model', { model: scriptedModel(['Fresh.'], { modelId: 'other' }) }],
    ['the tools', { tools: { other: tools['lookup']! } }],
    ['what a tool says of itself', { tools: { lookup: { ...tools['lookup']!, description: 'Looks.' } as never } }],
    [
      'the schema of a tool',
      {
        tools: {
          lookup: { ...tools['lookup']!, inputSchema: jsonSchema({ type: 'object', properties: { at: {} } }) } as never,
        },
      },
    ],
    ['the active tools', { activeTools: [] }],
    ['the choice of tools', { toolChoice: 'none' }],
    ['the temperature', { modelSettings: { temperature: 1 } }],
    ['a header', { modelSettings: { headers: { 'x-tier': 'fast' } } }],
    ['an option of the provider', { providerOptions: { scripted: { effort: 'high' } } }],
    ['the object that is wanted', { model: ['{"a":1}'], structuredOutput: { schema: jsonSchema({ type: 'object' }) } }],
    ['what prepareStep makes of it', { prepareStep: () => ({ modelSettings: { temperature: 1 } }) }],
  ])('asks the model when %s is another', async (_what, more) => {
    const { run, hits } = caching()
    await run(['Hello.'])
    expect((await run(['Fresh.'], more)).calls).toHaveLength(1)
    expect(hits).toEqual([])
  })

  it('does not ask where only what the model cannot see is another', async () => {
    const { run, hits } = caching()
    await run(['Hello.'])
    await run([], { modelSettings: { maxRetries: 9 }, runId: 'other', tools: { lookup: { ...tools['lookup']! } } })
    expect(hits).toHaveLength(1)
  })

  const refusing = (hook: 'processOutputStep' | 'processOutputResult', retry: boolean): Processor => ({
    id: 'guard',
    [hook]: ({
      messages,
      abort,
    }: {
      messages: readonly unknown[]
      abort: (reason: string, options: object) => never
    }) => (JSON.stringify(messages).includes('Bad') ? abort('No.', { retry }) : undefined),
  })
  const outputProcessors = (guard: Processor) => ({ others: { outputProcessors: [guard] } })

  it.each(['processOutputStep', 'processOutputResult'] as const)('keeps no answer that %s refused', async hook => {
    const { run, log } = caching()
    await run(['Bad.'], outputProcessors(refusing(hook, false)))
    expect(log).toEqual([])
    await run([lookup, 'Bad.'], outputProcessors(refusing(hook, false)))
    expect(log).toEqual([])
    const again = await run(['Bad.', 'Good.'], { ...outputProcessors(refusing(hook, true)), maxProcessorRetries: 1 })
    expect([again.result.text, log]).toEqual(['Good.', ['set 3600000']])
    expect((await run(['Asked.'])).result.text).toBe('Asked.')
  })

  it('forgets an answer that a guard refuses later', async () => {
    const { run, log, hits } = caching()
    await run(['Bad.'])
    const refused = await run([], outputProcessors(refusing('processOutputStep', false)))
    expect([refused.result.stopReason, log]).toEqual(['tripwire', ['set 3600000', 'delete']])
    await run(['Bad.'])
    const retried = await run(['Good.'], {
      ...outputProcessors(refusing('processOutputStep', true)),
      maxProcessorRetries: 1,
    })
    expect([retried.result.text, hits.length, log.slice(2)]).toEqual([
      'Good.',
      2,
      ['set 3600000', 'delete', 'set 3600000'],
    ])
  })

  it.each<[string, ScriptedTurn]>([
    ['failed', { error: new Error('down') }],
    ['was cut off', { text: 'Hel', finishReason: 'length' }],
    ['was filtered', { text: 'Hel', finishReason: 'content-filter' }],
    ['ended for another reason', { text: 'Hel', finishReason: 'other' }],
    [
      'broke off',
      {
        parts: [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'Hel' },
        ],
      },
    ],
    [
      'failed at its end',
      { parts: [{ type: 'text-start', id: 't' }, { type: 'error', error: new Error('down') }, finishPart('stop')] },
    ],
  ])('keeps no answer that %s', async (_what, turn) => {
    const { run, log } = caching()
    await run([turn])
    expect(log).toEqual([])
  })

  it('keeps nothing of a run that was aborted, failed or waits for a person', async () => {
    const { run, log } = caching()
    const controller = new AbortController()
    const aborting = { id: 'aborting', processStepEnd: () => controller.abort(new Error('Enough.')) }
    const aborted = await run([lookup, 'x'], {
      abortSignal: controller.signal,
      others: { outputProcessors: [aborting] },
    })
    const failing: Processor = { id: 'failing', processOutputResult: () => Promise.reject(new Error('full')) }
    const failed = await run([lookup, 'x'], { others: { outputProcessors: [failing] } })
    const asking: Processor = { id: 'asking', processToolCall: () => ({ ask: 'May it?' }) }
    const suspended = await run([lookup], { others: { outputProcessors: [asking] } })
    expect([aborted, failed, suspended].map(({ result }) => result.stopReason)).toEqual([
      'aborted',
      'error',
      'suspended',
    ])
    expect(log).toEqual([])
  })

  it('keeps the answer to a call that was made again after a failure', async () => {
    const { run, hits } = caching()
    const again: Processor = { id: 'again', processAPIError: () => ({ retry: true }) }
    await run([{ error: new Error('down') }, 'Hello.'], {
      others: { errorProcessors: [again] },
      maxProcessorRetries: 1,
    })
    await run([])
    expect(hits).toHaveLength(1)
  })

  it('passes the processors of the run like a fresh answer, those that hear it whole too', async () => {
    const { run } = caching()
    await run([{ text: ['My se', 'cret.'] }])
    const heard: boolean[] = []
    const guard: Processor = {
      id: 'guard',
      processOutputStream: ({ part }) =>
        part.type === 'text-delta'
          ? { ...part, payload: { ...part.payload, text: part.payload.text.toUpperCase() } }
          : part,
      processLLMResponse: ({ fromCache }) => void heard.push(fromCache),
    }
    expect((await run([], outputProcessors(guard))).result.text).toBe('MY SECRET.')
    expect(heard).toEqual([true])
  })

  it('gives calls new ids in a conversation that has theirs already', async () => {
    const messageList = new MessageList()
      .add(
        [
          { role: 'user', content: 'Once?' },
          { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'lookup', input: {} }] },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: 'call-1',
                toolName: 'lookup',
                output: { type: 'text', value: 'never' },
              },
            ],
          },
        ],
        'memory',
      )
      .add('When?', 'input')
    const forgetful: Processor = {
      id: 'forgetful',
      processInputStep: ({ messages }) => ({
        scope: 'step',
        messages: messages.slice(messages.findIndex(one => JSON.stringify(one).includes('When?'))),
      }),
    }
    const { cache } = caching()
    const inputProcessors = [forgetful]
    const seed = await runWith([...inputProcessors, cache], { model: [lookup, 'At noon.'], tools, input: 'When?' })
    expect(seed.result.text).toBe('At noon.')
    const second = await runWith([...inputProcessors, cache], { model: ['At noon, again.'], tools, messageList })
    expect(second.result.text).toBe('At noon, again.')
    expect(second.result.toolResults).toMatchObject([{ toolCallId: 'call-1-2', output: 'noon' }])
    expect(JSON.stringify(messageList.get.remembered.db())).toContain('never')
  })

  it('forgets what is too old, whatever its store does', async () => {
    let time = 0
    const { run, hits } = caching({ ttlMs: 100, now: () => time })
    await run(['Hello.'])
    time = 99
    await run([])
    time = 100
    expect((await run(['Fresh.'])).result.text).toBe('Fresh.')
    expect(hits).toHaveLength(1)
  })

  it('shares answers within a scope, and has no part in a run without one', async () => {
    const { run, hits } = caching({ scope: ({ requestContext }) => requestContext.get('tenant') as string | undefined })
    const of = (tenant?: string) => ({ requestContext: new RequestContext(tenant === undefined ? {} : { tenant }) })
    await run(['A.'], of('a'))
    expect((await run(['B.'], of('b'))).result.text).toBe('B.')
    expect((await run([], of('a'))).result.text).toBe('A.')
    await run(['None.'], of())
    expect((await run(['None again.'], of())).result.text).toBe('None again.')
    expect(hits).toHaveLength(1)
  })

  it('has no part in a call with a tool whose description depends on the run', async () => {
    const { run, log } = caching()
    const described = { lookup: { ...tools['lookup']!, description: () => 'It depends.' } as never }
    await run(['Hello.'], { tools: described })
    expect(log).toEqual([])
  })

  it.each<[string, Partial<CacheStore>]>([
    ['cannot be read', { get: () => Promise.reject(new Error('down')) }],
    ['throws', { get: () => JSON.parse('{') as string }],
    ['cannot be written', { set: () => Promise.reject(new Error('full')) }],
    ['has something else', { get: () => '{"parts":7}' }],
    ['has null', { get: () => 'null' }],
    ['has no JSON', { get: () => 'Hello.' }],
    ['has half an answer', { get: () => '{"storedAt":1e15,"parts":[{"type":"text-start","id":"t"}]}' }],
  ])('calls the model when its store %s', async (_what, broken) => {
    const { result } = await runWith(responseCache({ store: { ...memoryCache(), ...broken } }), { model: ['Hello.'] })
    expect([result.text, result.stopReason]).toEqual(['Hello.', 'completed'])
  })

  it('is left by an abort while its store is silent', async () => {
    const controller = new AbortController()
    const silent = {
      ...memoryCache(),
      get: () => (controller.abort(new Error('Enough.')), new Promise<string>(() => {})),
    }
    const { result } = await runWith(responseCache({ store: silent }), { model: ['x'], abortSignal: controller.signal })
    expect(result.stopReason).toBe('aborted')
    const stuck = {
      ...memoryCache(),
      set: () => (controller2.abort(new Error('Enough.')), new Promise<string>(() => {})),
    }
    const controller2 = new AbortController()
    const ended = await runWith(responseCache({ store: stuck }), { model: ['x'], abortSignal: controller2.signal })
    expect(ended.result.text).toBe('x')
  })

  it('keeps dates, bytes and whatever else a provider sends', async () => {
    const bytes = Uint8Array.from([0, 127, 128, 255])
    const timestamp = new Date(0)
    const odd = { $date: 'no date', nested: { $object: { $bytes: 1 } } }
    const parts = [
      { type: 'response-metadata', id: 'r', timestamp },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data: bytes },
        providerMetadata: { scripted: odd },
      },
      { type: 'raw', rawValue: { big: 1n } },
      finishPart('stop'),
    ] as Extract<ScriptedTurn, { parts: unknown }>['parts']
    const { run } = caching()
    const heard: unknown[] = []
    const listener: Processor = {
      id: 'listener',
      processLLMResponse: ({ chunks }) => void heard.push(chunks.slice(0, 2)),
    }
    await run([{ parts }], outputProcessors(listener))
    await run([], outputProcessors(listener))
    expect(heard[1]).toEqual(heard[0])
  })

  it('keeps in memory only so much', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.string({ maxLength: 30 }))), writes => {
        const store = memoryCache({ maxCount: 3, maxLength: 40 })
        for (const [key, text] of writes) {
          void store.set(`${key}`, text, 1)
          const kept = Array.from({ length: 10 }, (_, one) => store.get(`${one}`) as string | undefined).flatMap(
            one => one ?? [],
          )
          expect(kept.length).toBeLessThanOrEqual(3)
          expect(kept.join('').length).toBeLessThanOrEqual(40)
          expect(store.get(`${key}`)).toBe(text)
        }
      }),
      { numRuns: runCount(100) },
    )
    const store = memoryCache({ maxCount: 2 })
    for (const key of ['a', 'b']) void store.set(key, key, 1)
    void store.get('a')
    void store.set('c', 'c', 1)
    expect(['a', 'b', 'c'].map(key => store.get(key))).toEqual(['a', undefined, 'c'])
  })

  it('refuses a time to live that is none', () => {
    expect(() => responseCache({ ttlMs: 0 })).toThrow('Answers cannot be kept for 0 ms.')
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['response-cache', { ttlMs: 1 }])).id).toBe('response-cache')
  })
})
