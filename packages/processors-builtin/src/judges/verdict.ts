// What judges said about a text, and what follows from it: a refusal, a placeholder, or nothing.
import type { Abort, RequestContext } from '@lockstep/processors'
import type { LanguageModelUsage } from 'ai'
import type { Judge, JudgedPlace, JudgeStrategy } from './judge.ts'

/** What one judge says of one text. */
export interface Opinion {
  readonly judge: string
  readonly category: string
  /** From 0, not at all, to 1, without doubt. */
  readonly score: number
}

/** An opinion, and what is done about it. */
export interface JudgeFinding extends Opinion {
  /** `'ignore'` when the score is below the threshold. */
  readonly strategy: JudgeStrategy | 'ignore'
}

/** Why there is no verdict: the call failed · took too long · gave something else · the text is too long to ask about. */
export type JudgeFailure = 'call-failed' | 'timeout' | 'invalid-answer' | 'too-long'

/** The metadata of a refusal. */
export interface JudgeRefusal {
  readonly where: JudgedPlace
  /** Those because of which it was refused. */
  readonly findings: readonly JudgeFinding[]
  /** Set when it was refused because there is no verdict. */
  readonly failure?: JudgeFailure
}

/** What was said about one text. */
export interface JudgeVerdict {
  readonly where: JudgedPlace
  readonly text: string
  readonly findings: readonly JudgeFinding[]
  /** It was known, and nobody was asked. */
  readonly cached: boolean
  /** Of the calls that were made for it. A call about several texts is told with the first of them. */
  readonly usages: readonly LanguageModelUsage[]
  readonly failure: JudgeFailure | undefined
  /** What made it fail. */
  readonly error: unknown
  readonly requestContext: RequestContext
}

/** No verdict. */
export class NoVerdict extends Error {
  readonly failure: JudgeFailure

  constructor(failure: JudgeFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.failure = failure
  }
}

/** What came of asking about one text, or a piece of it. */
export interface Ruling {
  readonly opinions: readonly Opinion[]
  readonly cached: boolean
  readonly usages: readonly LanguageModelUsage[]
  readonly error?: NoVerdict
}

/** On a text that says nothing, nobody is asked. */
export const unjudged: Ruling = { opinions: [], cached: true, usages: [] }

/** Tells whether a text says nothing. */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** What a hook lends to those who act on a verdict. */
export interface VerdictScope {
  readonly abort: Abort<JudgeRefusal>
  readonly requestContext: RequestContext
  readonly state: { retries?: number }
}

/** What is done when there is no verdict: refuse · let it pass · fail the run. */
export type JudgeErrorPolicy = 'block' | 'skip' | 'fail'

/** What a verdict is acted on with. */
export interface VerdictPolicy {
  readonly judges: readonly Judge[]
  readonly onError: JudgeErrorPolicy
  readonly maxRetries: number
  readonly onVerdict: ((verdict: JudgeVerdict) => void) | undefined
}

/** The rulings on the pieces of one text, as one. */
export function rulingOf(rulings: readonly Ruling[]): Ruling {
  if (rulings.length === 1) return rulings[0]!
  const error = rulings.find(ruling => ruling.error)?.error
  return {
    opinions: rulings.flatMap(({ opinions }) => opinions),
    cached: rulings.every(({ cached }) => cached),
    usages: rulings.flatMap(({ usages }) => usages),
    ...(error === undefined ? {} : { error }),
  }
}

/** Whether anything that is said after this can change what is done. */
export function decides(policy: VerdictPolicy, ruling: Ruling): boolean {
  if (ruling.error && policy.onError !== 'skip') return true
  return findingsIn(policy.judges, ruling).some(({ strategy }) => strategy === 'block')
}

/**
 * Acts on what was said of a text: gives what is put in its place, or nothing when it stays.
 * Throws: a tripwire.
 */
export function enforce(
  policy: VerdictPolicy,
  { where, text, ruling }: { readonly where: JudgedPlace; readonly text: string; readonly ruling: Ruling },
  scope: VerdictScope,
): string | undefined {
  const { error, cached, usages } = ruling
  const findings = findingsIn(policy.judges, ruling)
  const failure = error?.failure
  const { requestContext } = scope
  policy.onVerdict?.({ where, text, findings, cached, usages, failure, error: error?.cause ?? error, requestContext })
  const blocked = findings.filter(({ strategy }) => strategy === 'block')
  if (blocked.length > 0) refuse(policy, { where, findings: blocked }, scope)
  if (error && policy.onError === 'fail') throw error
  if (error && policy.onError === 'block')
    scope.abort(`${places[where]} could not be judged (${error.failure}).`, {
      metadata: { where, findings: [], failure: error.failure },
    })
  const redacted = findings.filter(({ strategy }) => strategy === 'redact')
  return redacted.length === 0 ? undefined : `[removed: ${namesOf(redacted)}]`
}

function refuse({ judges, maxRetries }: VerdictPolicy, refusal: JudgeRefusal, { abort, state }: VerdictScope): never {
  const count = state.retries ?? 0
  const retry = refusal.where !== 'input' && count < maxRetries
  if (retry) state.retries = count + 1
  const advice = judges
    .filter(({ id }) => refusal.findings.some(({ judge }) => judge === id))
    .map(judge => judge.advice)
  return abort(`${places[refusal.where]} was refused (${namesOf(refusal.findings)}). ${advice.join(' ')}`.trim(), {
    retry,
    metadata: refusal,
  })
}

const places: { readonly [where in JudgedPlace]: string } = {
  input: 'The input',
  text: 'The answer',
  reasoning: 'The reasoning',
  'tool-output': 'The output of a tool',
}

/** One finding for each category: the one with the highest score. */
export function findingsIn(judges: readonly Judge[], { opinions }: Ruling): readonly JudgeFinding[] {
  const findings = new Map<string, JudgeFinding>()
  for (const opinion of opinions) {
    const { judge, category, score } = opinion
    const rule = judges.find(({ id }) => id === judge)!.categories.get(category)!
    const key = `${judge}/${category}`
    if ((findings.get(key)?.score ?? -1) >= score) continue
    findings.set(key, { judge, category, score, strategy: score >= rule.threshold ? rule.strategy : 'ignore' })
  }
  return [...findings.values()]
}

function namesOf(findings: readonly JudgeFinding[]): string {
  return [...new Set(findings.map(({ category }) => category))].join(', ')
}
