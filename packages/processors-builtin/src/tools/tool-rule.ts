// What a policy says about the calls of a tool: a decision, or a function that decides when the call is there.
import type { MaybePromise, ProcessToolCallArgs } from '@lockstep/processors'
import type { InferToolInput, ToolSet } from 'ai'
import { BuiltinError } from '../errors.ts'
import { fitsToolName } from './tool-name-pattern.ts'

/** The call runs · a person decides · it is refused. The reason is for the person, or for the model. */
export type ToolDecision = 'allow' | 'ask' | 'deny' | { readonly ask: string } | { readonly deny: string }

/** A call that is decided about. `approval` is there when a person has approved it with another input. */
export type JudgedToolCall<INPUT = unknown> = Pick<
  ProcessToolCallArgs,
  'toolCallId' | 'toolName' | 'approval' | 'messages' | 'stepNumber' | 'requestContext' | 'abortSignal'
> & {
  /** As the model wrote it and the processors before left it. It is checked against the schema after the policy. */
  readonly input: INPUT
}

/** A decision for all calls, or for each. Nothing leaves a call to the other rules. */
export type ToolRule<INPUT = unknown> =
  | ToolDecision
  | ((call: JudgedToolCall<INPUT>) => MaybePromise<ToolDecision | void>)

/** Rules by the name of a tool, whose input they know, or by a pattern: `read_*`. */
export type ToolRules<TOOLS extends ToolSet = ToolSet> = {
  readonly [NAME in keyof TOOLS]?: ToolRule<string extends keyof TOOLS ? unknown : InferToolInput<TOOLS[NAME]>>
} & { readonly [pattern: `${string}*${string}`]: ToolRule }

/** What came of looking at a call. */
export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason?: string
  /** The rule that decided: a name, a pattern, `'otherwise'`. */
  readonly rule: string
  /** What a rule threw, and why the call is refused then. */
  readonly error?: unknown
}

const strictness: { readonly [decision in Verdict['decision']]: number } = { allow: 0, ask: 1, deny: 2 }

/** A rule and its name. */
export interface NamedRule {
  readonly rule: string
  readonly decide: ToolRule
}

/** Reads a decision. Throws: a text that says what it is instead, for anything that is none. */
export function verdictOf(rule: string, decision: unknown): Verdict {
  if (decision === 'allow' || decision === 'ask' || decision === 'deny') return { decision, rule }
  if (typeof decision === 'object' && decision !== null && Object.keys(decision).length === 1) {
    const { ask, deny } = decision as { readonly ask?: unknown; readonly deny?: unknown }
    if (typeof ask === 'string') return { decision: 'ask', reason: ask, rule }
    if (typeof deny === 'string') return { decision: 'deny', reason: deny, rule }
  }
  throw new BuiltinError(
    'invalid-rule',
    `The rule for '${rule}' decides ${JSON.stringify(decision) ?? String(decision)}. It can be 'allow', 'ask', 'deny', { ask: reason } or { deny: reason }.`,
  )
}

/** Checks what can be checked before there is a call. Throws: `invalid-rule`. */
export function checkRule({ rule, decide }: NamedRule): void {
  if (typeof decide !== 'function') verdictOf(rule, decide)
}

/** Those of the rules that are about a tool: the one with its very name, and those whose pattern it fits. */
export function rulesFor(
  toolName: string,
  rules: readonly NamedRule[],
): { readonly exact: readonly NamedRule[]; readonly patterns: readonly NamedRule[] } {
  return {
    exact: rules.filter(({ rule }) => rule === toolName),
    patterns: rules.filter(({ rule }) => rule !== toolName && rule.includes('*') && fitsToolName(toolName, rule)),
  }
}

/** The strictest of some verdicts; the first of those that are equally strict. */
export function strictest(verdicts: readonly (Verdict | undefined)[]): Verdict | undefined {
  let found: Verdict | undefined
  for (const verdict of verdicts)
    if (verdict && (found === undefined || strictness[verdict.decision] > strictness[found.decision])) found = verdict
  return found
}
