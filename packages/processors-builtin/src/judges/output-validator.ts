// A processor that checks answers, and has the model answer again with what was wrong.
import type { AgentMessage } from '@lockstep/message-list'
import type { Processor, RequestContext, StepResult } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { judgeOf, type Judge } from './judge.ts'
import { Judging, type JudgedRun, type JudgingOptions } from './judging.ts'
import { enforce, findingsIn, type JudgeRefusal } from './verdict.ts'

export type { JudgeErrorPolicy, JudgeFailure, JudgeFinding, JudgeRefusal, JudgeVerdict } from './verdict.ts'

/** An answer to check. */
export interface AnswerToCheck {
  readonly text: string
  /** The conversation, the answer included. */
  readonly messages: readonly AgentMessage[]
  readonly steps: readonly StepResult[]
  readonly requestContext: RequestContext
  readonly abortSignal: AbortSignal
}

/** What is wrong with an answer, in words for the model. Nothing when it is right. */
export type AnswerIssues = string | readonly string[] | undefined | void

/** An answer that was not right, and what was done. */
export interface InvalidAnswer {
  readonly issues: readonly string[]
  /** How often the run has asked for another answer before. */
  readonly retryCount: number
  readonly action: 'retry' | 'block' | 'warn'
}

/** Options of the output validator. One of `validate` and `criteria` has to be there. */
export interface OutputValidatorOptions extends Pick<
  JudgingOptions,
  'model' | 'timeoutMs' | 'onError' | 'maxLength' | 'cacheSize' | 'onVerdict'
> {
  /** Checks an answer. What it throws fails the run. */
  readonly validate?: (answer: AnswerToCheck) => AnswerIssues | PromiseLike<AnswerIssues>
  /** What every answer has to do, each in a sentence; a model judges it. */
  readonly criteria?: readonly string[]
  /** How often in a run the model answers again; 2 when absent. */
  readonly maxRetries?: number
  /** What is done with an answer that is still not right: `'block'` when absent; `'warn'` lets it pass. */
  readonly strategy?: 'block' | 'warn'
  readonly onInvalid?: (answer: InvalidAnswer) => void
}

/** The metadata of a refusal. */
export type OutputRefusal = { readonly issues: readonly string[] } | JudgeRefusal

/** What the validator keeps of a run. */
export interface OutputValidatorState {
  retries: number
}

/**
 * A processor that checks the answers of steps that call no tool. The model is told what is wrong and answers again, a few
 * times; then the answer is refused.
 *
 * *Order*: in `outputProcessors`. The run has to allow retries: `maxProcessorRetries`.
 * *Cost*: with `criteria` a model call for each answer; what `validate` costs.
 * *Throws*: `empty-judge` without `validate` and `criteria`, `invalid-limit`.
 */
export function outputValidator(
  options: OutputValidatorOptions,
): Processor<'output-validator', OutputRefusal, OutputValidatorState> {
  const { validate, criteria = [], maxRetries = 2, strategy = 'block', onInvalid } = options
  if (!validate && criteria.length === 0)
    throw new BuiltinError('empty-judge', 'An output validator has nothing to check. Give validate, or criteria.')
  const judging = criteria.length === 0 ? undefined : new Judging([criteriaJudge(criteria)], options)
  const runs = new WeakMap<object, JudgedRun>()

  return {
    id: 'output-validator',
    name: 'Output validator',
    description: 'Checks answers, and has the model answer again with what was wrong.',

    async processOutputStep(context) {
      const { text, toolCalls, messages, steps, requestContext, abortSignal, state, abort } = context
      if (toolCalls.length > 0) return
      const found = [(await validate?.({ text, messages, steps, requestContext, abortSignal })) ?? []].flat()
      const issues = found.length > 0 || !judging ? found : await unmet(judging, context)
      if (issues.length === 0) return
      const retryCount = state.retries ?? 0
      const action = retryCount < maxRetries ? 'retry' : strategy
      onInvalid?.({ issues, retryCount, action })
      if (action === 'warn') return
      state.retries = retryCount + 1
      abort(issues.join('\n'), { retry: action === 'retry', metadata: { issues } })
    },

    processRunEnd: ({ state }) => runs.get(state)?.end(),
  }

  /** The criteria that an answer does not meet. */
  async function unmet(judges: Judging, context: CheckedContext): Promise<readonly string[]> {
    const { text, state } = context
    const run = runs.get(state) ?? judges.open()
    runs.set(state, run)
    const ruling = await judges.rule(run, { where: 'text', text, before: questionIn(context.messages) }, context)
    enforce(judges.policy, { where: 'text', text, ruling }, context)
    return findingsIn(judges.judges, ruling)
      .filter(finding => finding.strategy !== 'ignore')
      .map(({ category }) => criteria[Number(category) - 1]!)
  }
}

/** So much of the question goes with an answer. */
const questionLength = 4_000

type CheckedContext = Parameters<
  NonNullable<Processor<'output-validator', OutputRefusal, OutputValidatorState>['processOutputStep']>
>[0]

function criteriaJudge(criteria: readonly string[]): Judge {
  const known = Object.fromEntries(criteria.map((criterion, index) => [String(index + 1), `not met: ${criterion}`]))
  const question = 'Which of these criteria does the text not meet, as an answer to what came before it?'
  return judgeOf({ id: 'criterion', question, advice: '', where: ['text'], known, strategy: 'warn' }, {}, [])
}

/** What the user asked last. */
function questionIn(messages: readonly AgentMessage[]): string {
  const question = messages.findLast(({ role }) => role === 'user')
  const texts = question?.content.parts.flatMap(part => (part.type === 'text' ? [part.text] : [])) ?? []
  return texts.join('\n').slice(-questionLength)
}
