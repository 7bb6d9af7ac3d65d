// Which tools a model may call: allowed, refused, or as a person decides; by name, by pattern, by what the call says.
import { isPromiseLike, type MaybePromise, type Processor, type ProcessToolCallArgs } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import { BuiltinError } from '../errors.ts'
import { fitsToolName } from './tool-name-pattern.ts'
import {
  checkRule,
  rulesFor,
  strictest,
  verdictOf,
  type JudgedToolCall,
  type NamedRule,
  type ToolRule,
  type ToolRules,
  type Verdict,
} from './tool-rule.ts'

export type { JudgedToolCall, ToolDecision, ToolRule, ToolRules } from './tool-rule.ts'

/** A decision about a call. */
export interface PolicyDecision extends Verdict {
  readonly toolCallId: string
  readonly toolName: string
}

/** Options of the policy. */
export interface ToolPolicyOptions<TOOLS extends ToolSet = ToolSet> {
  /** The rule with a tool's very name decides; without one, the strictest of those whose pattern fits. */
  readonly rules?: ToolRules<TOOLS>
  /** The rule for all other tools; `'deny'` when absent. */
  readonly otherwise?: ToolRule
  /** How many calls a run may make, by name or pattern. Calls that were refused do not count. */
  readonly limits?: { readonly [nameOrPattern: string]: number }
  readonly onDecision?: (decision: PolicyDecision) => void
}

/** What the policy keeps of a run. */
export interface ToolPolicyState {
  /** It is among the output processors: otherwise it would only look as if it guarded. */
  isGuarding: boolean
  /** The calls that were not refused: a call that is looked at again counts once. */
  calls: { toolCallId: string; toolName: string; stepNumber: number }[]
}

type Call = ProcessToolCallArgs<unknown, ToolPolicyState>

/**
 * A processor that decides about each tool call before it runs. What a rule throws refuses the call.
 *
 * *Order*: last in `outputProcessors`, so that it sees inputs as tools will; the same one in `inputProcessors` hides tools
 * that are always refused.
 * *Throws*: `invalid-rule`, `invalid-limit`; in a run `policy-out-of-place`.
 */
export function toolPolicy<TOOLS extends ToolSet = ToolSet>(
  options: ToolPolicyOptions<TOOLS> = {},
): Processor<'tool-policy', unknown, ToolPolicyState> {
  const { otherwise = 'deny', limits = {}, onDecision } = options
  const rules = Object.entries((options.rules ?? {}) as Readonly<Record<string, ToolRule>>).map(
    ([rule, decide]): NamedRule => ({ rule, decide }),
  )
  const last: NamedRule = { rule: 'otherwise', decide: otherwise }
  for (const rule of [...rules, last]) checkRule(rule)
  for (const [name, limit] of Object.entries(limits))
    if (!(limit >= 0))
      throw new BuiltinError('invalid-limit', `The limit of calls of '${name}' is ${limit}. Give 0 or more.`)

  const told = ({ toolCallId, toolName }: Call, verdict: Verdict): Verdict => {
    onDecision?.({ toolCallId, toolName, ...verdict })
    return verdict
  }
  const decided = (call: Call, judged: Verdict) => {
    const { toolCallId, toolName, stepNumber, state } = call
    const calls = (state.calls ??= [])
    const isKnown = calls.some(known => known.toolCallId === toolCallId && known.stepNumber === stepNumber)
    const full = judged.decision === 'deny' || isKnown ? undefined : fullLimit(toolName, calls, limits)
    const { decision, reason } = told(call, full ?? judged)
    if (decision === 'deny') return { deny: reason ?? `Calls of ${toolName} are not allowed.` }
    if (!isKnown) state.calls = [...calls, { toolCallId, toolName, stepNumber }]
    return decision === 'ask' ? { ask: reason ?? `Calls of ${toolName} need approval.` } : undefined
  }

  return {
    id: 'tool-policy',
    name: 'Tool policy',
    description: 'Decides which tool calls run, which are refused and which a person decides about.',

    processInputStep({ tools, activeTools, stepNumber, state }) {
      if (stepNumber > 0 && !state.isGuarding)
        throw new BuiltinError(
          'policy-out-of-place',
          'The tool policy is in inputProcessors alone, where it refuses no call. Give the same one to outputProcessors.',
        )
      const names = activeTools ?? Object.keys(tools)
      const kept = names.filter(name => !isAlwaysRefused(name, rules, last))
      return kept.length === names.length ? undefined : { activeTools: kept }
    },

    processOutputStep({ stepNumber, state }) {
      state.isGuarding = true
      if (state.calls?.some(call => call.stepNumber >= stepNumber))
        state.calls = state.calls.filter(call => call.stepNumber < stepNumber)
    },

    processToolCall(call) {
      const judged = judge(call, rules, last)
      return isPromiseLike(judged) ? judged.then(verdict => decided(call, verdict)) : decided(call, judged as Verdict)
    },
  }
}

/** Tells whether no call of a tool can pass, whatever it says. */
function isAlwaysRefused(toolName: string, rules: readonly NamedRule[], otherwise: NamedRule): boolean {
  const { exact, patterns } = rulesFor(toolName, rules)
  const refuses = ({ rule, decide }: NamedRule) =>
    typeof decide !== 'function' && verdictOf(rule, decide).decision === 'deny'
  if (exact[0] !== undefined && typeof exact[0].decide !== 'function') return refuses(exact[0])
  if (exact[0] !== undefined) return false
  return patterns.length > 0 ? patterns.some(refuses) : refuses(otherwise)
}

/** The name decides, then the patterns, then the rule for all others; each may leave it to the next. */
function judge(call: Call, rules: readonly NamedRule[], otherwise: NamedRule): MaybePromise<Verdict> {
  const { exact, patterns } = rulesFor(call.toolName, rules)
  return firstOf([exact, patterns, [otherwise]], call)
}

function firstOf(groups: readonly (readonly NamedRule[])[], call: Call): MaybePromise<Verdict> {
  for (const [index, group] of groups.entries()) {
    const verdicts = group.map(rule => verdict(rule, call))
    if (verdicts.some(isPromiseLike))
      return settled(verdicts).then(all => strictest(all) ?? firstOf(groups.slice(index + 1), call))
    const found = strictest(verdicts as readonly (Verdict | undefined)[])
    if (found !== undefined) return found
  }
  return { decision: 'deny', rule: 'otherwise', reason: `There is no rule about calls of ${call.toolName}.` }
}

async function settled<T>(values: readonly MaybePromise<T>[]): Promise<readonly T[]> {
  const all: T[] = []
  for (const value of values) all.push(await value)
  return all
}

/** What one rule says. A rule that fails refuses: a guard that is broken lets nothing pass. */
function verdict({ rule, decide }: NamedRule, call: Call): MaybePromise<Verdict | undefined> {
  if (typeof decide !== 'function') return verdictOf(rule, decide)
  const refuse = (error: unknown): Verdict => {
    const text = error instanceof Error ? error.message : String(error)
    return { decision: 'deny', rule, reason: `The rule about calls of ${call.toolName} failed: ${text}`, error }
  }
  const read = (decision: unknown) => (decision === undefined ? undefined : verdictOf(rule, decision))
  try {
    const decision = decide(judged(call))
    return isPromiseLike(decision) ? decision.then(read).then(undefined, refuse) : read(decision)
  } catch (error) {
    return refuse(error)
  }
}

function judged(call: Call): JudgedToolCall {
  const { toolCallId, toolName, input, approval, messages, stepNumber, requestContext, abortSignal } = call
  return { toolCallId, toolName, input, approval, messages, stepNumber, requestContext, abortSignal }
}

/** The limit that one more call would exceed. */
function fullLimit(
  toolName: string,
  calls: ToolPolicyState['calls'],
  limits: NonNullable<ToolPolicyOptions['limits']>,
): Verdict | undefined {
  for (const [name, limit] of Object.entries(limits)) {
    if (!fitsToolName(toolName, name)) continue
    if (calls.filter(call => fitsToolName(call.toolName, name)).length < limit) continue
    const reason = `All ${limit} calls of ${name === '*' ? 'tools' : name} of this run are used up. Go on without.`
    return { decision: 'deny', rule: name, reason }
  }
  return undefined
}
