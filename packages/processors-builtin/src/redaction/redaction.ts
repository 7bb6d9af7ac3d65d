// What is to be found, and what is done with it where: the options of a redactor, made ready to scan.
import { BuiltinError } from '../errors.ts'
import { checkStrategy } from '../strategy.ts'
import { PatternMachine } from '../texts/pattern-machine.ts'
import { piiPatterns, type PiiKind } from './pii-patterns.ts'
import { chainTexts, watchText, type RewrittenText, type TextPlace } from '../texts/rewritten-text.ts'
import { secretPatterns, type SecretKind } from './secret-patterns.ts'
import { maskAll, type SensitivePattern } from './sensitive-pattern.ts'
import { digestOf } from '../texts/text-digest.ts'
import { TextScanner, type Match } from '../texts/text-scanner.ts'
import { tokenOf, tokenPattern, valueOf, type TokenVault } from './token-vault.ts'

/**
 * What is done with a match. `redact` puts a word in its place, `mask` stars, `hash` a keyed digest, `tokenize` a token
 * that only the model sees; `block` refuses the whole; `warn` tells and leaves it.
 */
export type RedactionStrategy = 'redact' | 'mask' | 'hash' | 'tokenize' | 'block' | 'warn'

/** The kinds that have patterns here. */
export type SensitiveKind = PiiKind | SecretKind

/** Where something was found. */
export type FindingPlace = TextPlace

/** That something was found; never what. */
export interface Finding {
  readonly kind: string
  readonly strategy: RedactionStrategy
  readonly where: FindingPlace
}

/** A pattern of your own. One of a known kind takes the place of those that are there. */
export interface CustomPattern extends SensitivePattern {
  /** The redactor's own strategy when absent. */
  readonly strategy?: RedactionStrategy
}

/** Options of a redactor. */
export interface RedactorOptions {
  /**
   * The kinds to look for, or what is done with each: `false` leaves a kind alone, and those that are not named stay as
   * they are by default.
   */
  readonly kinds?: readonly SensitiveKind[] | { readonly [K in SensitiveKind]?: RedactionStrategy | false }
  /** `'redact'` when absent. */
  readonly strategy?: RedactionStrategy
  readonly patterns?: readonly CustomPattern[]
  /** Texts that are nobody's secret: a match that is one of these, or that one of these matches, stays. */
  readonly allow?: readonly (string | RegExp)[]
  /** What takes the place of a match; `[redacted <kind>]` when absent. */
  readonly replacement?: (kind: string) => string
  /** The key of `'hash'`. Without one, anybody could find a phone number by trying all. */
  readonly hashKey?: string
  /** Who gets the value of a token back. */
  readonly restore?: {
    /** The text that is shown and stored; true when absent. */
    readonly text?: boolean
    /** The inputs of tools: all when absent, none, or those of the tools named. */
    readonly tools?: boolean | readonly string[]
  }
  /** The most characters that are held; 4,096 when absent. A longer match is replaced in pieces of this length. */
  readonly maxLength?: number
  /** Is told of each match, once for each place; matches in prompts are not told. */
  readonly onFinding?: (finding: Finding) => void
  /** A block in the answer asks the model for another one. */
  readonly retry?: boolean
}

/** What a scan needs to know of the run. */
export interface RedactionScope {
  /** The tokens of the run. */
  vault(): TokenVault
  /** Refuses what has been found, or gives what takes its place where nothing can be refused any more. */
  block(finding: Finding): string
}

interface Rule extends SensitivePattern {
  readonly strategy: RedactionStrategy
}

interface RuleSet {
  readonly rules: readonly Rule[]
  readonly machine: PatternMachine
}

const strategies: readonly RedactionStrategy[] = ['redact', 'mask', 'hash', 'tokenize', 'block', 'warn']
const editing: readonly RedactionStrategy[] = ['redact', 'mask', 'hash']
const restoring: RuleSet = {
  rules: [{ kind: 'token', pattern: tokenPattern, strategy: 'tokenize' }],
  machine: new PatternMachine([{ pattern: tokenPattern }]),
}

/** The kinds that have a pattern here. */
export const sensitiveKinds: readonly SensitiveKind[] = [
  ...new Set([...secretPatterns, ...piiPatterns].map(({ kind }) => kind)),
]

/** The options of a redactor, made ready. One serves any number of runs. */
export class Redaction {
  readonly options: RedactorOptions
  readonly #rules: readonly Rule[]
  readonly #sets = new Map<string, RuleSet | undefined>()
  readonly #restoresText: boolean

  /** Throws: a `BuiltinError` for a kind or strategy that does not exist, a pattern that cannot be read, a hash without a key. */
  constructor(options: RedactorOptions, defaultKinds: ReadonlySet<string>) {
    this.options = options
    this.#rules = rulesOf(options, defaultKinds)
    const has = (strategy: RedactionStrategy) => this.#rules.some(rule => rule.strategy === strategy)
    if (has('hash') && !options.hashKey)
      throw new BuiltinError('missing-hash-key', "The strategy 'hash' has no key. Give a secret text as hashKey.")
    this.#restoresText = has('tokenize') && options.restore?.text !== false
    for (const pattern of options.patterns ?? []) new PatternMachine([pattern])
  }

  /** Tells whether something is kept from the model only. */
  get tokenizes(): boolean {
    return this.#rules.some(rule => rule.strategy === 'tokenize')
  }

  /** Opens a text that comes in pieces. */
  open(where: FindingPlace, scope: RedactionScope): RewrittenText {
    const scan = (set: RuleSet | undefined) => (set ? [this.#scanner(set, where, scope)] : [])
    if (where === 'prompt') return chainTexts(scan(this.#setOf([...editing, 'tokenize', 'block'])))
    const warned = this.#setOf(['warn'])
    const blocked = this.#setOf(['block'])
    const hidden = this.#setOf(this.#restoresText || where === 'input' ? editing : [...editing, 'tokenize'])
    return chainTexts([
      ...scan(warned).map(watchText),
      ...scan(blocked),
      ...scan(hidden),
      ...(this.#restoresText && (where === 'text' || where === 'result') ? [this.#restorer(scope)] : []),
    ])
  }

  /** Redacts a whole text. */
  redact(text: string, where: FindingPlace, scope: RedactionScope): string {
    if (text === '') return text
    const opened = this.open(where, scope)
    return opened.push(text) + opened.end()
  }

  /** What takes the place of a match. */
  replacementOf(kind: string): string {
    return (this.options.replacement ?? defaultReplacement)(kind)
  }

  /** Gives the values of tokens back. */
  restore(text: string, scope: RedactionScope): string {
    if (!text.includes('<')) return text
    const opened = this.#restorer(scope)
    return opened.push(text) + opened.end()
  }

  /** Tells whether a tool gets values for tokens. */
  restoresFor(toolName: string): boolean {
    const tools = this.options.restore?.tools ?? true
    return this.tokenizes && (typeof tools === 'boolean' ? tools : tools.includes(toolName))
  }

  #restorer(scope: RedactionScope): RewrittenText {
    const { rules, machine } = restoring
    return new TextScanner({
      machine,
      patterns: rules,
      maxLength: 64,
      replace: ({ text }) => valueOf(scope.vault(), text),
    })
  }

  #scanner({ rules, machine }: RuleSet, where: FindingPlace, scope: RedactionScope): RewrittenText {
    return new TextScanner({
      machine,
      patterns: rules,
      maxLength: this.options.maxLength ?? 4096,
      replace: match => this.#replace(rules[match.pattern]!, match, { where, scope }),
    })
  }

  #replace(
    rule: Rule,
    { text, whole }: Match,
    { where, scope }: { readonly where: FindingPlace; readonly scope: RedactionScope },
  ): string {
    const { kind, strategy } = rule
    const { allow, hashKey, onFinding } = this.options
    if (allow?.some(allowed => (typeof allowed === 'string' ? allowed === text : text.search(allowed) >= 0)))
      return text
    if (where !== 'prompt') onFinding?.({ kind, strategy, where })
    if (strategy === 'warn') return text
    if (strategy === 'mask') return whole && rule.mask ? rule.mask(text) : maskAll(text)
    if (strategy === 'hash') return `[${kind} ${digestOf(text, hashKey!)}]`
    if (strategy === 'tokenize') return tokenOf(scope.vault(), kind, text)
    if (strategy === 'block' && where !== 'prompt') return scope.block({ kind, strategy, where })
    return this.replacementOf(kind)
  }

  /** The rules with one of the strategies and a machine for them. */
  #setOf(strategies: readonly RedactionStrategy[]): RuleSet | undefined {
    const key = strategies.join()
    if (this.#sets.has(key)) return this.#sets.get(key)
    const rules = this.#rules.filter(rule => strategies.includes(rule.strategy))
    const set = rules.length === 0 ? undefined : { rules, machine: machineOf(rules) }
    this.#sets.set(key, set)
    return set
  }
}

const machines = new Map<string, PatternMachine>()
const builtin: ReadonlySet<SensitivePattern['pattern']> = new Set(
  [...secretPatterns, ...piiPatterns].map(({ pattern }) => pattern),
)

/** The machine of the rules; those without a pattern of the user's own are shared by all redactors. */
function machineOf(rules: readonly Rule[]): PatternMachine {
  if (!rules.every(({ pattern }) => builtin.has(pattern))) return new PatternMachine(rules)
  const key = rules.map(({ pattern }) => pattern.source).join('\n')
  let machine = machines.get(key)
  if (!machine) machines.set(key, (machine = new PatternMachine(rules)))
  return machine
}

function rulesOf(options: RedactorOptions, defaultKinds: ReadonlySet<string>): readonly Rule[] {
  const { kinds = {}, strategy = 'redact', patterns = [] } = options
  const chosen: { readonly [kind: string]: RedactionStrategy | false | undefined } = isList(kinds)
    ? Object.fromEntries(kinds.map(kind => [kind, strategy]))
    : kinds
  checkKinds(Object.keys(chosen), patterns)
  const byDefault = (kind: string) => !isList(kinds) && defaultKinds.has(kind) && strategy
  const own = patterns.map(pattern => ({ ...pattern, strategy: chosen[pattern.kind] ?? pattern.strategy ?? strategy }))
  const given = [...secretPatterns, ...piiPatterns]
    .filter(({ kind }) => !patterns.some(pattern => pattern.kind === kind))
    .map(pattern => ({ ...pattern, strategy: chosen[pattern.kind] ?? byDefault(pattern.kind) }))
  const rules = [...own, ...given].filter((rule): rule is Rule => rule.strategy !== false)
  for (const rule of rules) checkStrategy(rule.kind, rule.strategy, strategies)
  return rules
}

function checkKinds(kinds: readonly string[], patterns: readonly CustomPattern[]): void {
  for (const kind of kinds)
    if (!sensitiveKinds.includes(kind as SensitiveKind) && !patterns.some(pattern => pattern.kind === kind))
      throw new BuiltinError(
        'unknown-kind',
        `There is no kind '${kind}'. The kinds are: ${sensitiveKinds.join(', ')}. Give what else you look for as patterns.`,
      )
  for (const { kind } of patterns)
    if (!/^[a-z][a-z0-9-]*$/.test(kind))
      throw new BuiltinError(
        'unknown-kind',
        `The kind '${kind}' cannot be used as a name. Use lower case letters, digits and hyphens.`,
      )
}

function isList(kinds: NonNullable<RedactorOptions['kinds']>): kinds is readonly SensitiveKind[] {
  return Array.isArray(kinds)
}

function defaultReplacement(kind: string): string {
  return `[redacted ${kind}]`
}
