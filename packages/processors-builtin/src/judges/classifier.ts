// A processor that has texts sorted into categories of your own.
import type { CategoryRule, JudgeOptions, JudgeProcessor, JudgeStrategy } from './judge.ts'
import { judgeProcessor } from './judging-processor.ts'
import type { JudgingOptions } from './judging.ts'

export type { Category, CategoryRule, Judge, JudgedPlace, JudgeProcessor, JudgeStrategy } from './judge.ts'
export type { JudgeErrorPolicy, JudgeFailure, JudgeFinding, JudgeRefusal, JudgeVerdict } from './verdict.ts'

/** Options of the classifier. */
export interface ClassifierOptions<TId extends string = string>
  extends Omit<JudgeOptions, 'categories'>, JudgingOptions {
  /** `'classifier'` when absent; two in one array need two. */
  readonly id?: TId
  /** What is to be found out about the text. */
  readonly question: string
  /** By name, what belongs to each; with a rule, also what is done about it. */
  readonly categories: { readonly [category: string]: string | (CategoryRule & { readonly description: string }) }
  /** `'warn'` when absent: `onVerdict` is told, and nothing else is done. */
  readonly strategy?: JudgeStrategy
}

/**
 * A processor that has a model sort texts into categories, to be told of them, or to refuse or replace some.
 *
 * *Order*: in `inputProcessors` for the input, which is what it looks at unless `where` says otherwise.
 * *Cost*: one model call for each input.
 * *Throws*: a `BuiltinError` for a category, a threshold or a limit that cannot be.
 */
export function classifier<TId extends string = 'classifier'>(options: ClassifierOptions<TId>): JudgeProcessor<TId> {
  const { id = 'classifier' as TId, question, categories, ...rest } = options
  const rules = Object.entries(categories).map(([name, rule]) => [
    name,
    typeof rule === 'string' ? { description: rule } : rule,
  ])
  return judgeProcessor(
    { id, name: 'Classifier', description: 'Has texts sorted into categories.' },
    { question, advice: 'Answer otherwise.', where: ['input'], known: {}, strategy: 'warn' },
    { ...rest, categories: Object.fromEntries(rules) as { readonly [category: string]: CategoryRule } },
  )
}
