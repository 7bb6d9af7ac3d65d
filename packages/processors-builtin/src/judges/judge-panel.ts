// A processor that asks several judges about a text in one model call.
import { BuiltinError } from '../errors.ts'
import type { JudgeProcessor } from './judge.ts'
import { judgingProcessor } from './judging-processor.ts'
import type { JudgingOptions } from './judging.ts'

export type { JudgedPlace, JudgeProcessor, JudgeStrategy } from './judge.ts'
export type { JudgeErrorPolicy, JudgeFailure, JudgeFinding, JudgeRefusal, JudgeVerdict } from './verdict.ts'

/** Options of a panel: how it is asked. The judges say what they are asked, where, and what follows. */
export interface JudgePanelOptions<TId extends string = string> extends JudgingOptions {
  /** `'judge-panel'` when absent. */
  readonly id?: TId
  readonly judges: readonly JudgeProcessor[]
}

/**
 * A processor in the place of several that judge: one model call asks all of them that look at a text.
 *
 * *Cost*: one model call where each of the judges would make one.
 * *Throws*: `empty-judge` without judges or with two of one id, `panel-option` when a judge says how it is to be asked.
 *
 * @example judgePanel({ model, judges: [moderation(), promptInjection()] })
 */
export function judgePanel<TId extends string = 'judge-panel'>(options: JudgePanelOptions<TId>): JudgeProcessor<TId> {
  const { id = 'judge-panel' as TId } = options
  const judges = options.judges.flatMap(processor => processor.judges)
  if (judges.length === 0 || new Set(judges.map(judge => judge.id)).size < judges.length)
    throw new BuiltinError(
      'empty-judge',
      `The panel '${id}' has ${judges.length === 0 ? 'no judges' : `the judges ${judges.map(judge => judge.id).join(', ')}`}. Give each judge once, with an id of its own.`,
    )
  const own = judges.find(({ ownOptions }) => ownOptions.length > 0)
  if (own)
    throw new BuiltinError(
      'panel-option',
      `The judge '${own.id}' has ${own.ownOptions.join(', ')} of its own, and shares a call with others. Give that to the panel '${id}'.`,
    )
  return judgingProcessor(
    { id, name: 'Panel of judges', description: `Has texts judged by ${judges.map(judge => judge.id).join(', ')}.` },
    judges,
    options,
  )
}
