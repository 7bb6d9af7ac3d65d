// A processor that lets the model say only so much.
import type { Chunk, Processor, ProcessorContext } from '@lockstep/processors'
import { estimateTokenCount } from 'tokenx'
import { CappedText, type CappingRules, type TextBudget } from './capped-text.ts'
import { BuiltinError } from '../errors.ts'
import { checkStrategy } from '../strategy.ts'
import { RewrittenStream } from '../texts/rewritten-stream.ts'

/** What limits an answer. */
export interface MaxOutputOptions {
  /** The unit: one of the three. Characters are counted as `length` does. */
  readonly characters?: number
  readonly words?: number
  readonly tokens?: number
  /** Counts the tokens of a word; an estimate when absent. */
  readonly countTokens?: (text: string) => number
  /**
   * `'truncate'` when absent: the text ends, the run goes on. `'end'` also drops tool calls that come after it, so that
   * the step is the last. `'block'` refuses the answer.
   */
  readonly strategy?: 'truncate' | 'end' | 'block'
  /** What stands where the text was cut: `'…'` when absent. */
  readonly notice?: string
  /** A block asks the model for a shorter answer. */
  readonly retry?: boolean
  readonly onLimit?: (limit: OutputLimit) => void
}

/** The limit that was reached. */
export interface OutputLimit {
  readonly unit: 'characters' | 'words' | 'tokens'
  readonly limit: number
}

type Context = ProcessorContext<OutputLimit>

interface OpenAttempt {
  readonly stream: RewrittenStream<Context>
  readonly budget: TextBudget
}

const margins = { characters: 240, words: 40, tokens: 60 } as const
const ideograph = /[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}]/u
const droppedAtEnd: readonly string[] = ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call']

/** A model that does the same again and again is not asked for ever. */
const maxRetryCount = 3

/**
 * A processor that ends an answer that is too long: after a sentence when one ends near the limit, otherwise after a
 * word. The text of all steps of a run counts together; reasoning does not.
 *
 * *Order*: in `outputProcessors`, after processors that write text.
 * *Throws*: `invalid-limit`, `invalid-strategy`.
 */
export function maxOutput(options: MaxOutputOptions): Processor<'max-output', OutputLimit> {
  const limit = limitOf(options)
  const { strategy = 'truncate', notice = '…' } = options
  checkStrategy('max-output', strategy, ['truncate', 'end', 'block'])
  const costOf = costIn(limit.unit, options.countTokens ?? estimateTokenCount)
  const attempts = new WeakMap<object, OpenAttempt>()

  const beginAttempt = ({ state, steps }: Context): OpenAttempt => {
    const used = steps.reduce((sum, { text }) => sum + textCost(text, costOf), 0)
    const budget = { limit: limit.limit, used, isOver: used >= limit.limit }
    const rules = (current: () => Context): CappingRules => ({
      budget,
      costOf,
      margin: Math.min(margins[limit.unit], limit.limit),
      splits: limit.unit === 'characters',
      notice() {
        options.onLimit?.(limit)
        if (strategy !== 'block') return notice
        const { abort, retryCount } = current()
        return abort(reasonOf(limit), { retry: options.retry === true && retryCount < maxRetryCount, metadata: limit })
      },
    })
    const stream = new RewrittenStream<Context>((where, current) =>
      where === 'text' ? new CappedText(rules(current)) : undefined,
    )
    const attempt = { stream, budget }
    attempts.set(state, attempt)
    return attempt
  }

  return {
    id: 'max-output',
    name: 'Max output',
    description: 'Ends answers that are too long.',

    processOutputStream(context) {
      const { part, state, streamParts } = context
      const open = streamParts.length > 1 ? attempts.get(state) : undefined
      const { stream, budget } = open ?? beginAttempt(context)
      if (part.type === 'text-delta') return stream.pass(part, context)
      if (!budget.isOver) return part
      if (strategy === 'end' && droppedAtEnd.includes(part.type) && !isOfProvider(part)) return null
      if (part.type !== 'step-finish') return part
      return { ...part, payload: { ...part.payload, finishReason: 'length' } }
    },

    flush: context => attempts.get(context.state)?.stream.flush(context.blockId, context.runId, context),
  }
}

function limitOf({ characters, words, tokens }: MaxOutputOptions): OutputLimit {
  const given = Object.entries({ characters, words, tokens }).filter(([, limit]) => limit !== undefined)
  const [unit, limit] = given[0] ?? []
  if (given.length !== 1 || !(limit! > 0))
    throw new BuiltinError(
      'invalid-limit',
      `An answer cannot be limited to ${JSON.stringify({ characters, words, tokens })}. Give one of characters, words and tokens, above 0.`,
    )
  return { unit: unit as OutputLimit['unit'], limit: limit! }
}

function costIn(unit: OutputLimit['unit'], countTokens: (text: string) => number): (piece: string) => number {
  if (unit === 'characters') return piece => piece.length
  if (unit === 'tokens') return countTokens
  // A long word comes in pieces: the first has no letter before it, and is not told from the others.
  return piece => (/[\p{L}\p{N}]/u.test(piece) || ideograph.test(piece) ? 1 : 0)
}

/** What a text costs that was said before. */
function textCost(text: string, costOf: (piece: string) => number): number {
  const counted: TextBudget = { limit: Infinity, used: 0, isOver: false }
  const reader = new CappedText({ budget: counted, costOf, margin: 0, splits: false, notice: () => '' })
  reader.push(text)
  reader.end()
  return counted.used
}

function isOfProvider(part: Chunk): boolean {
  return 'payload' in part && 'providerExecuted' in part.payload && part.payload.providerExecuted === true
}

function reasonOf({ unit, limit }: OutputLimit): string {
  return `The answer is longer than ${limit} ${unit}. Give a shorter one.`
}
