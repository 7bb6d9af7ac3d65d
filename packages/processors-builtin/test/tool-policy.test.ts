import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { resumeLoop, type ApprovalDecision, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { RequestContext } from '@lockstep/processors'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import {
  toolPolicy,
  type PolicyDecision,
  type ToolDecision,
  type ToolPolicyOptions,
} from '@lockstep/processors-builtin/tool-policy'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { runCount } from './redactor-run.ts'

processorContract(() => toolPolicy({ rules: { lookup: 'allow', fails: { deny: 'No.' } }, otherwise: 'ask' }))

const ran: string[] = []
const make = (name: string) =>
  tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: ({ euros }) => {
      ran.push(`${name} ${euros}`)
      return 'done'
    },
  })
const tools = { pay: make('pay'), pay_back: make('pay_back'), read_prices: make('read_prices') }
const calls = (...named: readonly (readonly [string, unknown])[]): ScriptedTurn => ({
  toolCalls: named.map(([toolName, input]) => ({ toolName, input })),
})
const pay = (euros: unknown, name = 'pay') => calls([name, { euros }])

async function run(
  options: ToolPolicyOptions<typeof tools>,
  turns: readonly ScriptedTurn[],
  more: RunWithOptions = {},
) {
  ran.length = 0
  const decisions: PolicyDecision[] = []
  const policy = toolPolicy<typeof tools>({ onDecision: decision => decisions.push(decision), ...options })
  const outcome = await runWith(policy, { model: [...turns, 'Done.'], tools, ...more })
  return { ...outcome, policy, decisions, ran: [...ran] }
}

/** What the model reads of its refused calls. */
const reasons = ({ messages }: LoopResult) =>
  messages.flatMap(({ content }) =>
    content.parts.flatMap(part =>
      'state' in part && part.state === 'output-denied'
        ? [(part.approval as { reason?: string } | undefined)?.reason]
        : [],
    ),
  )

const resumed = async (result: LoopResult, decisions: readonly ApprovalDecision[], policy = toolPolicy()) => {
  const state = JSON.parse(JSON.stringify(result.loopState)) as NonNullable<LoopResult['loopState']>
  const model = scriptedModel(['Resumed.'])
  const loop = resumeLoop({ state, decisions }, { model, tools, inputProcessors: [policy], outputProcessors: [policy] })
  for (;;) {
    const next = await loop.next()
    if (next.done) return next.value
  }
}

describe('the tool policy', () => {
  it('lets calls run, refuses them with a reason, and asks a person', async () => {
    const rules = {
      pay: { ask: 'It is money.' },
      pay_back: { deny: 'Nothing is paid back.' },
      read_prices: 'allow',
    } as const
    const named = ['read_prices', 'pay_back', 'pay'].map(name => [name, { euros: 5 }] as const)
    const { result, ran: done, decisions } = await run({ rules }, [calls(...named)])
    expect(done).toEqual(['read_prices 5'])
    expect(reasons(result)).toEqual(['Nothing is paid back.'])
    expect(result.pendingApprovals).toMatchObject([{ toolName: 'pay', reason: 'It is money.', input: { euros: 5 } }])
    expect([result.stopReason, decisions.map(({ rule, decision }) => `${rule} ${decision}`)]).toEqual([
      'suspended',
      ['read_prices allow', 'pay_back deny', 'pay ask'],
    ])
  })

  it('refuses tools without a rule, and says so', async () => {
    const { result, ran: done } = await run({ rules: { pay: 'allow' } }, [pay(1), pay(1, 'read_prices')])
    expect([done, reasons(result), result.stopReason]).toEqual([
      ['pay 1'],
      ['Calls of read_prices are not allowed.'],
      'completed',
    ])
    expect((await run({ otherwise: 'allow' }, [pay(1), pay(2, 'read_prices')])).ran).toEqual(['pay 1', 'read_prices 2'])
    expect((await run({}, [calls(['no_such_tool', {}])])).decisions).toMatchObject([{ decision: 'deny' }])
  })

  it('decides by what the call says', async () => {
    const rules: ToolPolicyOptions<typeof tools>['rules'] = {
      pay: ({ input }) => (input.euros > 100 ? { ask: 'More than 100 euros.' } : 'allow'),
    }
    const { result, ran: done } = await run({ rules }, [pay(5), pay(101)])
    expect([done, result.pendingApprovals[0]?.reason]).toEqual([['pay 5'], 'More than 100 euros.'])
  })

  it('decides by who asks, and waits for the answer', async () => {
    const rules: ToolPolicyOptions<typeof tools>['rules'] = {
      'pay*': async ({ requestContext }) =>
        (await Promise.resolve(requestContext.get('role'))) === 'clerk' ? 'allow' : 'deny',
    }
    const clerk = new RequestContext({ role: 'clerk' })
    expect((await run({ rules }, [pay(5)], { requestContext: clerk })).ran).toEqual(['pay 5'])
    expect((await run({ rules }, [pay(5)])).ran).toEqual([])
  })

  it('takes the rule with the very name, then the strictest that fits', async () => {
    const rules = { 'pay*': 'allow', '*_back': 'ask', '*': 'allow', read_prices: 'allow', 'read_*': 'deny' } as const
    const { decisions } = await run({ rules }, [pay(1), pay(1, 'read_prices'), pay(1, 'pay_back')])
    expect(decisions.map(({ rule, decision }) => [rule, decision])).toEqual([
      ['pay*', 'allow'],
      ['read_prices', 'allow'],
      ['*_back', 'ask'],
    ])
  })

  it('asks the next rule where one says nothing', async () => {
    const rules = { pay: () => undefined, 'p*': () => Promise.resolve(undefined) } as const
    expect((await run({ rules, otherwise: 'allow' }, [pay(1)])).decisions[0]).toMatchObject({ rule: 'otherwise' })
    expect((await run({ rules, otherwise: () => undefined }, [pay(1)])).decisions[0]).toMatchObject({
      decision: 'deny',
      reason: 'There is no rule about calls of pay.',
    })
  })

  it.each([
    ['throws', () => JSON.parse('{') as ToolDecision],
    ['rejects', () => Promise.reject(new Error('The directory is down.'))],
    ['decides nonsense', () => 'yes' as ToolDecision],
    ['decides true', () => true as unknown as ToolDecision],
    ['decides two things', () => ({ ask: 'a', deny: 'b' })],
  ])('refuses the call when its rule %s', async (_what, rule) => {
    const { result, ran: done, decisions } = await run({ rules: { pay: rule, 'p*': 'allow' } }, [pay(1)])
    expect([done, result.stopReason]).toEqual([[], 'completed'])
    expect(decisions[0]!.error).toBeInstanceOf(Error)
    expect(reasons(result)[0]).toContain('The rule about calls of pay failed: ')
  })

  it('lives with an input that does not fit its tool', async () => {
    const rules: ToolPolicyOptions<typeof tools>['rules'] = {
      pay: ({ input }) => (input.euros.toFixed(2) ? 'ask' : 'deny'),
    }
    const { result, ran: done } = await run({ rules }, [
      pay('many'),
      calls(['pay', '{"euros":']),
      calls(['pay', 'null']),
    ])
    expect([done, result.stopReason, result.pendingApprovals]).toEqual([[], 'completed', []])
    expect((await run({ rules: { pay: 'ask' } }, [pay('many')])).result.pendingApprovals).toEqual([])
  })

  it('counts calls by name and pattern, those at once too; refused ones do not count', async () => {
    const rules: ToolPolicyOptions<typeof tools>['rules'] = { pay: ({ input }) => (input.euros > 9 ? 'deny' : 'allow') }
    const three = calls(['pay', { euros: 1 }], ['pay', { euros: 10 }], ['pay', { euros: 2 }], ['pay', { euros: 3 }])
    const { result, ran: done } = await run({ rules, limits: { pay: 2 } }, [three, pay(4)])
    expect(done).toEqual(['pay 1', 'pay 2'])
    expect(reasons(result).slice(1)).toEqual(
      Array.from({ length: 2 }, () => 'All 2 calls of pay of this run are used up. Go on without.'),
    )
    const all = [pay(1), pay(1, 'pay_back'), pay(1, 'read_prices')]
    expect((await run({ otherwise: 'allow', limits: { 'pay*': 1 } }, all)).ran).toEqual(['pay 1', 'read_prices 1'])
    expect((await run({ otherwise: 'allow', limits: { '*': 0 } }, all)).ran).toEqual([])
  })

  it('counts a call under an id that was used before', async () => {
    const again = { toolCalls: [{ toolName: 'pay', input: { euros: 1 }, toolCallId: 'same' }] }
    const { ran: done } = await run({ otherwise: 'allow', limits: { pay: 1 } }, [again, again, again])
    expect(done).toEqual(['pay 1'])
  })

  it('does not count the calls of an attempt that was withdrawn', async () => {
    const picky = {
      id: 'picky',
      processToolCall({
        input,
        retryCount,
        abort,
      }: {
        input: unknown
        retryCount: number
        abort: (reason: string, options: object) => never
      }) {
        if ((input as { euros: number }).euros === 7) abort('Not seven.', { retry: retryCount < 1 })
      },
    }
    const turns = [calls(['pay', { euros: 1 }], ['pay', { euros: 7 }]), pay(2), pay(3)]
    const { ran: done } = await run({ otherwise: 'allow', limits: { pay: 2 } }, turns, {
      others: { outputProcessors: [picky] },
      maxProcessorRetries: 1,
    })
    expect(done).toEqual(['pay 2', 'pay 3'])
  })

  it('runs what a person approved, in another process too, and not what was refused', async () => {
    const options = { rules: { pay: 'ask' }, limits: { pay: 2 } } as const
    const { result } = await run(options, [calls(['pay', { euros: 1 }], ['pay', { euros: 2 }], ['pay', { euros: 3 }])])
    const [one, two] = result.pendingApprovals.map(({ approvalId }) => approvalId)
    expect(result.pendingApprovals).toHaveLength(2)
    ran.length = 0
    const done = await resumed(
      result,
      [
        { approvalId: one!, approved: true },
        { approvalId: two!, approved: false, reason: 'Too much.' },
      ],
      toolPolicy(options),
    )
    expect([ran, done.text, reasons(done).at(-1)]).toEqual([
      ['pay 1'],
      'Resumed.',
      'All 2 calls of pay of this run are used up. Go on without.',
    ])
  })

  it('looks again at an input that a person edited: nobody is asked twice, and a refusal binds', async () => {
    const options: ToolPolicyOptions<typeof tools> = {
      rules: { pay: ({ input }) => (input.euros > 100 ? 'deny' : 'ask') },
      limits: { pay: 1 },
    }
    const edited = async (euros: number) => {
      const { result } = await run(options, [pay(50)])
      ran.length = 0
      const { approvalId } = result.pendingApprovals[0]!
      return resumed(
        result,
        [{ approvalId, approved: true, input: { euros } }],
        toolPolicy(options) as ReturnType<typeof toolPolicy>,
      )
    }
    expect([(await edited(60)).stopReason, ran]).toEqual(['completed', ['pay 60']])
    expect([(await edited(101)).stopReason, ran]).toEqual(['completed', []])
  })

  it('does not show the model what is always refused', async () => {
    const rules = { pay: 'deny', 'read_*': 'allow', 'pay_*': () => 'deny' as const } as const
    const names = (calls: readonly { readonly tools?: readonly { readonly name: string }[] | undefined }[]) =>
      calls[0]!.tools?.map(({ name }) => name)
    expect(names((await run({ rules }, [])).calls)).toEqual(['pay_back', 'read_prices'])
    expect(names((await run({ rules }, [], { activeTools: ['pay', 'read_prices'] })).calls)).toEqual(['read_prices'])
    expect(names((await run({ otherwise: 'ask' }, [])).calls)).toHaveLength(3)
  })

  it('says when it stands where it guards nothing', async () => {
    const others = { inputProcessors: [toolPolicy({ otherwise: 'allow' })] }
    const { result } = await runWith([], { model: [pay(1), 'Done.'], tools, others })
    expect(result.error).toMatchObject({ cause: { code: 'policy-out-of-place' } })
  })

  it('decides the same in whatever order the rules are', async () => {
    const decision = fc.constantFrom<ToolDecision>('allow', 'ask', 'deny')
    const pattern = fc.constantFrom('*', 'p*', '*y', 'pay', 'pay*', '*a*', 'read_*', 'x*')
    await fc.assert(
      fc.asyncProperty(fc.dictionary(pattern, decision), fc.infiniteStream(fc.nat()), async (rules, order) => {
        const entries = Object.entries(rules)
        const shuffled = Object.fromEntries(
          entries
            .map(entry => [order.next().value!, entry] as const)
            .sort(([one], [other]) => one - other)
            .map(([, entry]) => entry),
        )
        const [one, other] = [await run({ rules }, [pay(1)]), await run({ rules: shuffled }, [pay(1)])]
        expect(other.decisions.map(({ decision: made }) => made)).toEqual(
          one.decisions.map(({ decision: made }) => made),
        )
        expect(one.decisions[0]!.decision).toBe(rules['pay'] ?? one.decisions[0]!.decision)
      }),
      { numRuns: runCount(50) },
    )
  })

  it('reads patterns as the engine reads them as expressions, in linear time', () => {
    const fits = (toolName: string, pattern: `${string}*${string}`) => {
      const policy = toolPolicy({ rules: { [pattern]: 'allow' } })
      return (
        policy.processToolCall!({ toolName, toolCallId: 'call', input: {}, stepNumber: 0, state: {} } as never) ===
        undefined
      )
    }
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.', '_'), maxLength: 8 })
    fc.assert(
      fc.property(text, text, text, (beginning, end, name) => {
        const pattern = `${beginning}*${end}` as const
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*')
        expect(fits(name, pattern)).toBe(new RegExp(`^${source}$`, 's').test(name))
      }),
      { numRuns: runCount(500) },
    )
    expect([fits('aba', 'aba*ba'), fits('ababa', 'aba*ba')]).toEqual([false, true])
    expect(fits('a'.repeat(100_000), `${'*a'.repeat(1_000)}b*`)).toBe(false)
  })

  it('refuses rules that are none when it is made', () => {
    for (const rule of ['yes', true, {}, { ask: 1 }, { deny: 'a', ask: 'b' }, null])
      expect(() => toolPolicy({ rules: { pay: rule as unknown as ToolDecision } })).toThrow(
        expect.objectContaining({ code: 'invalid-rule' }) as BuiltinError,
      )
    expect(() => toolPolicy({ limits: { pay: -1 } })).toThrow(
      expect.objectContaining({ code: 'invalid-limit' }) as BuiltinError,
    )
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['tool-policy', { rules: { 'read_*': 'allow' } }])).id).toBe('tool-policy')
  })
})
