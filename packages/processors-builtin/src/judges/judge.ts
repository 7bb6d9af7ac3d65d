// A judge: what it is asked, the categories that it may find, where it looks, and what is done about what it finds.
import type { Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { checkStrategy } from '../strategy.ts'
import type { JudgeRefusal } from './verdict.ts'

/** Refuse · put a placeholder in the place of the text · tell you and leave it. */
export type JudgeStrategy = 'block' | 'redact' | 'warn'

/** What the user wrote · what the model says · what it thinks · what a tool gives. */
export type JudgedPlace = 'input' | 'text' | 'reasoning' | 'tool-output'

/** A category of your own, or a known one with other values. */
export interface CategoryRule {
  /** What belongs to it, in words for the judge. */
  readonly description?: string
  /** The score from which on something is done, from 0 to 1; the judge's when absent. */
  readonly threshold?: number
  /** The judge's when absent. */
  readonly strategy?: JudgeStrategy
}

/** What is done about the categories of a judge: a list of the only ones, or a rule, a strategy or `false` for some. */
export type CategoryChoice<TCategory extends string = string> =
  | readonly TCategory[]
  | { readonly [category in TCategory | (string & {})]?: JudgeStrategy | false | CategoryRule }

/** What every judge can be told about its categories. */
export interface JudgeOptions<TCategory extends string = string> {
  readonly categories?: CategoryChoice<TCategory>
  /** The score from which on something is done, from 0 to 1; 0.5 when absent. */
  readonly threshold?: number
  /** `'block'` when absent. */
  readonly strategy?: JudgeStrategy
  readonly where?: readonly JudgedPlace[]
  /** What the judge should know besides: what is allowed here, what is meant by a category. */
  readonly instructions?: string
}

/** A category as a judge has it. */
export interface Category {
  readonly description: string
  readonly threshold: number
  readonly strategy: JudgeStrategy
}

/** Somebody who is asked about texts. */
export interface Judge {
  readonly id: string
  readonly question: string
  readonly categories: ReadonlyMap<string, Category>
  readonly where: ReadonlySet<JudgedPlace>
  /** What the model should do instead, for another answer. */
  readonly advice: string
  /** Options that say how the judge is asked; they are the panel's when it sits on one. */
  readonly ownOptions: readonly string[]
}

/** A processor that asks one judge, or a panel of them. */
export interface JudgeProcessor<TId extends string = string> extends Processor<TId, JudgeRefusal, JudgeState> {
  readonly judges: readonly Judge[]
}

/** What a judge keeps of a run. */
export interface JudgeState {
  /** How often it has asked for another answer. */
  retries: number
}

/** What a judge is when nothing is said about it. */
export interface JudgeDefaults {
  readonly id: string
  readonly question: string
  readonly advice: string
  readonly where: readonly JudgedPlace[]
  /** The categories that it knows, with their descriptions. */
  readonly known: { readonly [category: string]: string }
  readonly strategy?: JudgeStrategy
}

const judgedPlaces: readonly JudgedPlace[] = ['input', 'text', 'reasoning', 'tool-output']
const strategies: readonly JudgeStrategy[] = ['block', 'redact', 'warn']

/** Makes a judge. Throws: `unknown-category`, `invalid-threshold`, `invalid-strategy`, `empty-judge`. */
export function judgeOf(defaults: JudgeDefaults, options: JudgeOptions, ownOptions: readonly string[]): Judge {
  const { id, advice, known } = defaults
  const { where = defaults.where, instructions } = options
  const categories = new Map(rulesOf(known, options.categories).map(entry => categoryOf(entry, defaults, options)))
  const places = new Set(where)
  const stranger = [...places].find(place => !judgedPlaces.includes(place))
  if (categories.size === 0 || places.size === 0 || stranger !== undefined)
    throw new BuiltinError(
      'empty-judge',
      `The judge '${id}' has ${categories.size === 0 ? 'no category' : stranger === undefined ? 'no place' : `'${stranger}' as a place`} to look at. Give categories, and where: any of ${judgedPlaces.join(', ')}.`,
    )
  const question = instructions === undefined ? defaults.question : `${defaults.question} ${instructions}`
  return { id, question, categories, where: places, advice, ownOptions }
}

type RuleEntry = readonly [category: string, rule: CategoryRule]

function rulesOf(known: JudgeDefaults['known'], choice: CategoryChoice | undefined): readonly RuleEntry[] {
  if (Array.isArray(choice)) return (choice as readonly string[]).map(name => [name, {}])
  const given = choice as Exclude<typeof choice, readonly string[]>
  return [...new Set([...Object.keys(known), ...Object.keys(given ?? {})])].flatMap((name): RuleEntry[] => {
    const rule = given?.[name]
    if (rule === false) return []
    return [[name, typeof rule === 'string' ? { strategy: rule } : (rule ?? {})]]
  })
}

function categoryOf([name, rule]: RuleEntry, defaults: JudgeDefaults, options: JudgeOptions): [string, Category] {
  const description = rule.description ?? (Object.hasOwn(defaults.known, name) ? defaults.known[name] : undefined)
  if (description === undefined)
    throw new BuiltinError(
      'unknown-category',
      `The judge '${defaults.id}' does not know the category '${name}'. Give it a description${listOf(Object.keys(defaults.known))}.`,
    )
  const threshold = rule.threshold ?? options.threshold ?? 0.5
  if (!(threshold >= 0 && threshold <= 1))
    throw new BuiltinError(
      'invalid-threshold',
      `The threshold of '${name}' is ${String(threshold)}. Give a number from 0 to 1.`,
    )
  const strategy = rule.strategy ?? options.strategy ?? defaults.strategy ?? 'block'
  checkStrategy(name, strategy, strategies)
  return [name, { description, threshold, strategy }]
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '' : `, or take one of ${names.join(', ')}`
}
