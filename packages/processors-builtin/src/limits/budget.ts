// What a run may use: steps, model calls, tool calls, tokens, money, time. It warns, takes the tools away, then stops.
import type { Processor, ProcessorContext } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'

/** What can have a limit. */
export type BudgetLimit = 'steps' | 'modelCalls' | 'toolCalls' | 'tokens' | 'outputTokens' | 'money' | 'wallClockMs'

/** A limit that is near or reached, and what was done about it. */
export interface BudgetEvent {
  readonly limit: BudgetLimit
  readonly used: number
  readonly of: number
  /** The model was told · it must answer without tools · a tool call was refused · the run is stopped. */
  readonly action: 'warn' | 'answer' | 'deny' | 'stop'
}

/** Prices for a million tokens, in whatever `money` is in. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
  /** For input that the provider had in its cache; as `input` when absent. */
  readonly cachedInput?: number
}

/** Options of a budget: the limits, and when to warn. */
export interface BudgetOptions {
  readonly steps?: number
  /** Attempts that were refused and calls that failed count too. */
  readonly modelCalls?: number
  /** Of all tools, or by the name of a tool. */
  readonly toolCalls?: number | { readonly [toolName: string]: number }
  /** Input and output of all that providers report: refused attempts and the calls of processors too. */
  readonly tokens?: number
  readonly outputTokens?: number
  /** Needs `price`. */
  readonly money?: number
  readonly price?: TokenPrice
  /** Looked at before each model call; a call that hangs is for the timeouts of the loop. */
  readonly wallClockMs?: number
  /** The part of a limit at which the model is told to come to an end; 0.8 when absent. */
  readonly warnAt?: number
  readonly onLimit?: (event: BudgetEvent) => void
  /** The time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number
}

/** What a budget keeps of a run. */
export interface BudgetState {
  startedAt: number
  modelCalls: number
  /** A call that is looked at again counts once; those of an attempt that was refused do not count. */
  toolCalls: { readonly toolCallId: string; readonly toolName: string; readonly stepNumber: number }[]
  warned: BudgetLimit[]
  /** The step that was to answer without tools. */
  answerStep: number
}

type Context = Pick<ProcessorContext<BudgetEvent, BudgetState>, 'state' | 'steps' | 'totalUsage'>

interface Account {
  readonly limit: BudgetLimit
  readonly used: number
  readonly of: number
  /** What the next step will use at least. */
  readonly next: number
}

const names: { readonly [limit in BudgetLimit]: string } = {
  steps: 'steps',
  modelCalls: 'model calls',
  toolCalls: 'tool calls',
  tokens: 'tokens',
  outputTokens: 'tokens of output',
  money: 'money',
  wallClockMs: 'milliseconds',
}

/** Of these the next step uses one. */
const counted: ReadonlySet<BudgetLimit> = new Set<BudgetLimit>(['steps', 'modelCalls'])

/**
 * A processor that keeps a run within limits: near one it tells the model, at one it asks for an answer without tools, and
 * beyond one it stops the run with a tripwire.
 *
 * *Order*: in `inputProcessors`; with a limit for tools in `outputProcessors` too, the same one.
 * *Throws*: `missing-price`, `invalid-limit`.
 */
export function budget(options: BudgetOptions): Processor<'budget', BudgetEvent, BudgetState> {
  const { warnAt = 0.8, onLimit, now = Date.now } = options
  if (options.money !== undefined && options.price === undefined)
    throw new BuiltinError(
      'missing-price',
      'A budget of money needs prices. Give price: { input, output } for a million tokens.',
    )
  checkLimits(options)
  const told = (account: Account, action: BudgetEvent['action']): BudgetEvent => {
    const event = { limit: account.limit, used: account.used, of: account.of, action }
    onLimit?.(event)
    return event
  }

  return {
    id: 'budget',
    name: 'Budget',
    description: 'Warns, takes the tools away, then stops when a run uses more than it may.',

    processInputStep(context) {
      const { state, stepNumber, systemMessages, abort } = context
      const time = now()
      state.startedAt ??= time
      state.toolCalls = state.toolCalls?.filter(call => call.stepNumber < stepNumber) ?? []
      const accounts = accountsOf(context, options, time)
      const answered = state.answerStep !== undefined && state.answerStep < stepNumber
      const over = accounts.find(({ used, of, next }) => used >= of && (next > 0 || answered))
      if (over) return abort(wordsOf(over), { metadata: told(over, 'stop') })
      const last = accounts.find(({ used, of, next }) => used + next >= of)
      if (last) {
        state.answerStep = stepNumber
        told(last, 'answer')
        return {
          systemMessages: [...systemMessages, systemMessage(`${wordsOf(last)} Answer now with what you have.`)],
          toolChoice: 'none',
        }
      }
      const near = accounts.find(({ limit, used, of }) => used >= warnAt * of && !state.warned?.includes(limit))
      if (!near) return
      state.warned = [...(state.warned ?? []), near.limit]
      told(near, 'warn')
      return { systemMessages: [...systemMessages, systemMessage(`${wordsOf(near)} Come to an end soon.`)] }
    },

    processLLMRequest({ state, abort }) {
      const used = state.modelCalls ?? 0
      const account = { limit: 'modelCalls', used, of: options.modelCalls ?? Infinity, next: 1 } as const
      if (used >= account.of) abort(wordsOf(account), { metadata: told(account, 'stop') })
      state.modelCalls = used + 1
    },

    processToolCall({ toolCallId, toolName, stepNumber, state }) {
      const { toolCalls } = options
      const made = state.toolCalls ?? []
      const isKnown = made.some(call => call.toolCallId === toolCallId && call.stepNumber === stepNumber)
      if (toolCalls === undefined || isKnown) return
      const isTotal = typeof toolCalls === 'number'
      const of = isTotal ? toolCalls : Object.hasOwn(toolCalls, toolName) ? toolCalls[toolName]! : Infinity
      const used = isTotal ? made.length : made.filter(call => call.toolName === toolName).length
      if (used < of) {
        state.toolCalls = [...made, { toolCallId, toolName, stepNumber }]
        return
      }
      told({ limit: 'toolCalls', used, of, next: 0 }, 'deny')
      const whose = isTotal ? 'tool calls' : `calls of ${toolName}`
      return { deny: `All ${of} ${whose} of this run are used up. Go on without.` }
    },
  }
}

/** A limit that is no number is never reached, and one under another name is none. Throws: `invalid-limit`. */
function checkLimits(options: BudgetOptions): void {
  const limits = (Object.keys(names) as BudgetLimit[]).filter(limit => options[limit] !== undefined)
  if (limits.length === 0)
    throw new BuiltinError(
      'invalid-limit',
      `A budget with the options ${JSON.stringify(Object.keys(options))} has no limit. Give one of ${Object.keys(names).join(', ')}.`,
    )
  const given = limits.flatMap((limit): [string, unknown][] => {
    const of = options[limit]
    return typeof of === 'object' && of !== null ? Object.entries(of) : [[limit, of]]
  })
  for (const [name, value] of [...given, ...Object.entries(options.price ?? {}), ['warnAt', options.warnAt ?? 0]])
    if (typeof value !== 'number' || !(value >= 0))
      throw new BuiltinError('invalid-limit', `The budget has ${name}: ${String(value)}. Give a number, 0 or more.`)
}

/** The limits that are set, and what is used of each. */
function accountsOf({ state, steps, totalUsage }: Context, options: BudgetOptions, time: number): readonly Account[] {
  const { toolCalls, price } = options
  const limits = { ...options, toolCalls: typeof toolCalls === 'number' ? toolCalls : undefined }
  const { inputTokens = 0, outputTokens = 0 } = totalUsage
  const used: { readonly [limit in BudgetLimit]: () => number } = {
    steps: () => steps.length,
    modelCalls: () => state.modelCalls ?? 0,
    toolCalls: () => state.toolCalls?.length ?? 0,
    tokens: () => inputTokens + outputTokens,
    outputTokens: () => outputTokens,
    money: () => moneyOf(totalUsage, price!),
    wallClockMs: () => time - (state.startedAt ?? time),
  }
  return (Object.keys(used) as BudgetLimit[]).flatMap(limit => {
    const of = limits[limit]
    return of === undefined ? [] : [{ limit, of, used: used[limit](), next: counted.has(limit) ? 1 : 0 }]
  })
}

function moneyOf(usage: ProcessorContext['totalUsage'], { input, output, cachedInput = input }: TokenPrice): number {
  const cached = usage.inputTokenDetails.cacheReadTokens ?? 0
  const fresh = (usage.inputTokens ?? 0) - cached
  return (fresh * input + cached * cachedInput + (usage.outputTokens ?? 0) * output) / 1_000_000
}

function wordsOf({ limit, used, of }: Account): string {
  const [usedUp, all] = [used, of].map(number => number.toLocaleString('en', { maximumFractionDigits: 4 }))
  return limit === 'money'
    ? `Of the money for this run ${usedUp} of ${all} are spent.`
    : `Of ${all} ${names[limit]} for this run ${usedUp} are used.`
}

function systemMessage(content: string): { readonly role: 'system'; readonly content: string } {
  return { role: 'system', content }
}
