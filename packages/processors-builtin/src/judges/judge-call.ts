// One model call about some texts: what it asks, how long it may take, and what counts as an answer.
import { untilAborted, type CallModel, type ModelChoice } from '@lockstep/processors'
import type { LanguageModelUsage } from 'ai'
import type { Judge } from './judge.ts'
import { answerSchema, instructionsOf, promptOf, type Opinions, type Passage } from './judge-prompt.ts'
import { NoVerdict } from './verdict.ts'
import { digestOfTexts } from './verdict-cache.ts'

/** What a run lends to a call. */
export interface AskContext {
  readonly callModel: CallModel
  /** Ends the call: the run's, and that of whoever waits for it. */
  readonly abortSignal: AbortSignal
}

/** An answer about some passages, or why there is none, and what it cost. */
export interface JudgeAnswer {
  readonly opinions: Opinions
  readonly usage?: LanguageModelUsage
  readonly error?: NoVerdict
}

/** Asks about some passages of one place. Never rejects. */
export type AskJudges = (
  judges: readonly Judge[],
  passages: readonly Passage[],
  context: AskContext,
) => Promise<JudgeAnswer>

/** Asks a model. */
export function modelJudges(model: ModelChoice | undefined, timeoutMs: number): AskJudges {
  return async (judges, passages, { callModel, abortSignal }) => {
    const digest = await digestOfTexts(passages.flatMap(({ text, before }) => [before, text]))
    const timer = new AbortController()
    const timeout = setTimeout(() => timer.abort(), timeoutMs)
    const signal = AbortSignal.any([abortSignal, timer.signal])
    const schema = answerSchema(judges, passages.length)
    try {
      signal.throwIfAborted()
      const call = callModel({
        ...(model === undefined ? {} : { model }),
        instructions: instructionsOf(judges),
        prompt: promptOf(passages, digest.slice(0, 32)),
        structuredOutput: { name: 'verdict', schema, errorStrategy: 'warn' },
        abortSignal: signal,
      })
      const { object, usage, text } = await untilAborted(call, signal)
      if (object !== undefined) return { opinions: object, usage }
      const error = new NoVerdict('invalid-answer', `A judge gave ${JSON.stringify(text.slice(0, 200))}.`)
      return { opinions: [], usage, error }
    } catch (error) {
      const noVerdict = timer.signal.aborted
        ? new NoVerdict('timeout', `A judge gave no answer within ${timeoutMs} ms.`)
        : new NoVerdict('call-failed', 'The call of a judge failed.', error)
      return { opinions: [], error: noVerdict }
    } finally {
      clearTimeout(timeout)
    }
  }
}
