import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { resumeLoop, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { RequestContext, type Processor } from '@lockstep/processors'
import { auditLog, type AuditEvent, type AuditLogOptions } from '@lockstep/processors-builtin/audit-log'
import { toolPolicy } from '@lockstep/processors-builtin/tool-policy'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { runCount } from './redactor-run.ts'

const skip = [{ law: 'acts', reason: 'it only observes' }] as const
processorContract(() => auditLog({ sink: () => {} }), { skip })
processorContract(() => auditLog({ sink: () => Promise.resolve(), content: true, maxWaiting: 0 }), { skip })

const tools = {
  lookup: { inputSchema: jsonSchema({}), execute: () => ({ mail: 'joe@example.com' }) },
  fails: {
    inputSchema: jsonSchema({}),
    execute: () => {
      throw new Error('no')
    },
  },
} as unknown as ToolSet
const call = (...names: readonly string[]): ScriptedTurn => ({
  toolCalls: names.map(toolName => ({ toolName, input: { for: 'joe@example.com' } })),
})

async function run(
  options: Partial<AuditLogOptions>,
  model: readonly ScriptedTurn[] = [call('lookup'), 'Yes.'],
  more: RunWithOptions = {},
) {
  const events: AuditEvent[] = []
  const log = auditLog({
    sink: batch => void events.push(...batch),
    now: () => new Date(0),
    generateId: () => 'run-1',
    ...options,
  })
  const outcome = await runWith([...(more.others?.inputProcessors ?? []), log], {
    model,
    tools,
    input: 'For joe@example.com',
    ...more,
    others: {},
  })
  return { ...outcome, events, types: events.map(({ type }) => type) }
}

describe('the audit log', () => {
  it('tells what happened, in order, without what was said', async () => {
    const { events } = await run({})
    const at = { runId: 'run-1', at: '1970-01-01T00:00:00.000Z' }
    const model = { provider: 'scripted', modelId: 'scripted' }
    const asked = { type: 'model-call', model, tools: ['lookup', 'fails'], retryCount: 0 }
    const one = { toolCallId: 'call-1', toolName: 'lookup' }
    expect(events).toEqual(
      [
        { type: 'run-start', stepNumber: 0 },
        { ...asked, messageCount: 1, stepNumber: 0 },
        { type: 'model-response', fromCache: false, stepNumber: 0 },
        { type: 'tool-call', ...one, stepNumber: 0 },
        { type: 'tool-result', ...one, isError: false, stepNumber: 0 },
        {
          type: 'step-end',
          attemptCount: 1,
          finishReason: 'tool-calls',
          usage: expect.anything() as unknown,
          stepNumber: 0,
        },
        { ...asked, messageCount: 3, stepNumber: 1 },
        { type: 'model-response', fromCache: false, stepNumber: 1 },
        { type: 'step-end', attemptCount: 1, finishReason: 'stop', usage: expect.anything() as unknown, stepNumber: 1 },
        { type: 'run-end', stopReason: 'completed', stepCount: 2, stepNumber: expect.any(Number) as unknown },
      ].map((event, sequence) => ({ ...at, sequence, ...event })),
    )
    expect(JSON.stringify(events)).not.toContain('joe@')
  })

  it('tells what was said when it is told to, redacted', async () => {
    const redact = (text: string) => text.replaceAll(/\w+@\w+\.\w+/g, '[mail]')
    const { events } = await run({ content: true, redact }, [call('lookup'), 'Mail joe@example.com.'])
    expect(events.flatMap(event => ('text' in event ? [event.text] : []))).toEqual(['', 'Mail [mail].'])
    expect(events).toMatchObject([
      { input: [{ role: 'user', parts: [{ text: 'For [mail]' }] }] },
      {},
      {},
      { input: { for: '[mail]' } },
      { output: { mail: '[mail]' } },
      {},
      {},
      {},
      {},
      {},
    ])
    expect(JSON.stringify(events)).not.toContain('joe@')
    expect(JSON.stringify((await run({ content: true })).events).match(/joe@/g)).toHaveLength(3)
  })

  it('tells of refusals, requests and failures', async () => {
    const policy = toolPolicy({ rules: { lookup: { ask: 'Is it fine?' }, fails: 'allow' } })
    const { events, result } = await run({}, [call('nothing', 'lookup', 'fails')], {
      others: { inputProcessors: [policy] },
    })
    expect(events.filter(({ type }) => /tool|approval|end/.test(type))).toMatchObject([
      { type: 'tool-call', toolName: 'lookup' },
      { type: 'tool-call', toolName: 'fails' },
      { type: 'tool-result', toolName: 'fails', isError: true },
      {
        type: 'approval-requested',
        toolName: 'lookup',
        reason: 'Is it fine?',
        approvalId: result.pendingApprovals[0]!.approvalId,
      },
      { type: 'run-end', stopReason: 'suspended' },
    ])
    const more: AuditEvent[] = []
    const log = auditLog({ sink: batch => void more.push(...batch) })
    const state = JSON.parse(JSON.stringify(result.loopState)) as NonNullable<LoopResult['loopState']>
    const decisions = result.pendingApprovals.map(({ approvalId }) => ({
      approvalId,
      approved: false as const,
      reason: 'No.',
    }))
    const all = [policy, log]
    const loop = resumeLoop(
      { state, decisions },
      { model: scriptedModel(['Then not.']), tools, inputProcessors: all, outputProcessors: all },
    )
    for (let next = await loop.next(); !next.done; next = await loop.next());
    expect(more.slice(0, 4)).toMatchObject([
      { type: 'run-resume', runId: 'run-1', sequence: 0 },
      { type: 'tool-denied', toolName: 'nothing', runId: 'run-1', sequence: 1 },
      { type: 'tool-denied', toolName: 'lookup', reason: 'No.' },
      { type: 'step-end' },
    ])
  })

  it('tells of attempts, errors of the model, tripwires and aborts', async () => {
    const guard: Processor = {
      id: 'guard',
      processOutputStep: ({ text, retryCount, abort }) =>
        void (text === 'Bad.' && abort('Not that.', { retry: retryCount < 1, metadata: { text } })),
      processAPIError: () => ({ retry: true }),
    }
    const more = { others: { inputProcessors: [guard] }, maxProcessorRetries: 2 }
    const { events, types } = await run({}, [{ error: new Error('down') }, 'Bad.', 'Bad.'], more)
    expect(types).toEqual([
      'run-start',
      'model-call',
      'model-call',
      'model-response',
      'model-call',
      'model-response',
      'run-end',
    ])
    expect(events.at(-1)).toMatchObject({
      stopReason: 'tripwire',
      tripwire: { processorId: 'guard', reason: 'Not that.' },
    })
    expect(JSON.stringify(events)).not.toContain('Bad.')
    const failed = await run({}, [{ error: new Error('down') }])
    expect(failed.events.slice(-2)).toMatchObject([
      { type: 'model-error', error: 'Error: down' },
      { type: 'run-end', stopReason: 'error', error: 'Error: down' },
    ])
    const odd: ScriptedTurn = { error: { code: 7 } }
    expect((await run({}, [odd])).events.at(-1)).toMatchObject({ error: 'something that is no Error (object)' })
    const abortSignal = AbortSignal.abort(new Error('Enough.'))
    expect((await run({}, [], { abortSignal })).events.at(-1)).toMatchObject({ type: 'run-end', stopReason: 'aborted' })
  })

  it('says whose run it is', async () => {
    const requestContext = new RequestContext({ user: 'u1' })
    const { events } = await run({ fields: context => ({ user: context.requestContext.get('user') }) }, ['Yes.'], {
      requestContext,
    })
    expect(events.every(({ fields }) => fields?.['user'] === 'u1')).toBe(true)
  })

  it('writes one at a time, in order, whatever the sink takes for it, and gives batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 20 }), fc.nat(4), async (ticks, maxWaiting) => {
        const events: AuditEvent[] = []
        const waits = ticks.values()
        let busy = 0
        const sink = async (batch: readonly AuditEvent[]) => {
          expect(busy++).toBe(0)
          for (let tick = waits.next().value ?? 0; tick > 0; tick--) await Promise.resolve()
          events.push(...batch)
          busy--
        }
        await run({ sink, maxWaiting }, [call('lookup', 'fails', 'lookup'), call('lookup'), 'Yes.'])
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index))
        expect(events.at(-1)!.type).toBe('run-end')
      }),
      { numRuns: runCount(50) },
    )
  })

  it('lets the run wait for a sink that is behind, and never more than it may', async () => {
    for (const maxWaiting of [0, 2]) {
      const order: string[] = []
      let open: (() => void)[] = []
      const sink = (batch: readonly AuditEvent[]) => {
        order.push(...batch.map(({ type }) => `log ${type}`))
        return new Promise<void>(resolve => {
          open.push(resolve)
          queueMicrotask(() => {
            for (const release of open) release()
            open = []
          })
        })
      }
      const watched = {
        ...tools,
        lookup: { ...tools['lookup']!, execute: () => order.push('ran') },
      } as unknown as ToolSet
      await run({ sink, maxWaiting }, [call('lookup'), 'Yes.'], { tools: watched })
      expect(order.indexOf('ran')).toBeGreaterThan(maxWaiting === 0 ? order.indexOf('log tool-call') : 0)
    }
  })

  const flaky = (failures: number) => {
    const events: AuditEvent[] = []
    let count = 0
    const sink = (batch: readonly AuditEvent[]) => {
      if (count++ < failures) return Promise.reject(new Error('The disk is full.'))
      events.push(...batch)
      return Promise.resolve()
    }
    return { events, sink }
  }

  it('fails the run when the sink fails, and writes what it can at its end', async () => {
    const { events, sink } = flaky(1)
    const { result } = await run({ sink }, [call('lookup'), 'Yes.'])
    expect([result.stopReason, String(result.error)]).toEqual([
      'error',
      expect.stringContaining('The disk is full.') as unknown,
    ])
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index))
    expect(events.at(-1)).toMatchObject({ type: 'run-end', stopReason: 'error' })
    const dead = await run({ sink: () => Promise.reject(new Error('gone')) }, ['Yes.'])
    expect(dead.result.stopReason).toBe('error')
    expect((await run({ sink: () => JSON.parse('{') as never }, ['Yes.'])).result.stopReason).toBe('error')
  })

  it('goes on when somebody is told of the loss, and loses nothing that can be written later', async () => {
    const lost: (readonly AuditEvent[])[] = []
    const onLoss = (events: readonly AuditEvent[]) => lost.push(events)
    const { events, sink } = flaky(3)
    const { result } = await run({ sink, onLoss, maxWaiting: 1 })
    expect([result.text, lost, events.map(({ sequence }) => sequence)]).toEqual([
      'Yes.',
      [],
      events.map((_, index) => index),
    ])
    expect(events.at(-1)!.type).toBe('run-end')
    const dead = await run({ sink: () => Promise.reject(new Error('gone')), onLoss })
    expect([dead.result.text, lost.length, lost[0]!.length]).toEqual(['Yes.', 1, 10])
  })

  it('does not wait for ever for a sink that never answers', async () => {
    const lost: string[] = []
    const sink = () => new Promise<void>(() => {})
    const { result } = await run({
      sink,
      timeoutMs: 1,
      onLoss: (events, error) => lost.push(`${events.length} ${String(error)}`),
    })
    expect([result.text, lost]).toEqual(['Yes.', ['10 Error: The sink did not answer within 1 ms.']])
    const controller = new AbortController()
    const stuck = () => (controller.abort(new Error('Enough.')), new Promise<void>(() => {}))
    const aborted = await run({ sink: stuck, maxWaiting: 0, timeoutMs: 1, onLoss: () => {} }, ['x'], {
      abortSignal: controller.signal,
    })
    expect(aborted.result.stopReason).toBe('aborted')
  })

  it('keeps the events of two runs apart', async () => {
    const events: AuditEvent[] = []
    let count = 0
    const log = auditLog({
      sink: async batch => (await Promise.resolve(), void events.push(...batch)),
      generateId: () => `run-${++count}`,
    })
    await Promise.all([1, 2].map(() => runWith(log, { model: [call('lookup'), 'Yes.'], tools })))
    for (const id of ['run-1', 'run-2']) {
      const own = events.filter(({ runId }) => runId === id)
      expect(own.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 10 }, (_, index) => index))
    }
  })

  it('needs a sink', () => {
    expect(() => auditLog({} as AuditLogOptions)).toThrow('needs sink')
  })
})
