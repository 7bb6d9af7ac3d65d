// The options of a judging processor, made ready: who is asked about which text, in how many calls, and what is known.
import { untilAborted, type CallModel, type ModelChoice } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { modelJudges, type AskContext, type AskJudges } from './judge-call.ts'
import type { Judge, JudgedPlace } from './judge.ts'
import type { Passage } from './judge-prompt.ts'
import { windowsOf } from './text-windows.ts'
import { decides, enforce, isBlank, NoVerdict, rulingOf, unjudged, type JudgeErrorPolicy } from './verdict.ts'
import type { JudgeVerdict, Opinion, Ruling, VerdictPolicy, VerdictScope } from './verdict.ts'
import { digestOfTexts, VerdictCache } from './verdict-cache.ts'

/** How judges are asked, and what is done with what they say. */
export interface JudgingOptions {
  /** Who judges; the run's own model when absent. */
  readonly model?: ModelChoice
  /** How many characters of an answer are held and judged at once, to the end of a sentence; 400 when absent. */
  readonly window?: number
  /** How long a judge may take; 10,000 when absent. */
  readonly timeoutMs?: number
  /** What is done without a verdict: `'block'` when absent; `'skip'` lets the text pass, `'fail'` fails the run. */
  readonly onError?: JudgeErrorPolicy
  /** How often in a run a refused answer is asked for again; 0 when absent. */
  readonly maxRetries?: number
  /** The characters of the longest input or output of a tool that is judged; 100,000 when absent. */
  readonly maxLength?: number
  /** Judges the last message of the input alone, and not what a client says of the messages before. */
  readonly lastMessageOnly?: boolean
  /** Names of tools whose results are not judged: those that say nothing, or give pictures. */
  readonly exclude?: readonly string[]
  /** How many verdicts are remembered; 1,000 when absent. */
  readonly cacheSize?: number
  /** Is told each verdict. */
  readonly onVerdict?: (verdict: JudgeVerdict) => void
}

/** The names of the options above. */
export const judgingOptionNames: readonly (keyof JudgingOptions)[] = [
  'model',
  'window',
  'timeoutMs',
  'onError',
  'maxRetries',
  'maxLength',
  'lastMessageOnly',
  'exclude',
  'cacheSize',
  'onVerdict',
]

/** A text that is there as a whole is judged in pieces of at most about this length, as many as fit in one call. */
const callLength = 8_000
/** So much of what came before goes with a piece. */
const contextLength = 400

/** What a hook lends. */
export interface JudgingContext extends VerdictScope {
  readonly callModel: CallModel
  readonly abortSignal: AbortSignal
}

/** Judges and their options, for any number of runs. */
export class Judging {
  readonly judges: readonly Judge[]
  readonly policy: VerdictPolicy
  readonly window: number
  readonly lastMessageOnly: boolean
  readonly exclude: readonly string[]
  readonly #maxLength: number
  readonly #ask: AskJudges
  readonly #cacheSize: number
  /** Across runs, where the same model judges in all of them. */
  readonly #cache: VerdictCache | undefined

  /** Throws: `invalid-limit`. */
  constructor(judges: readonly Judge[], options: JudgingOptions, ask?: AskJudges) {
    const { model, window = 400, timeoutMs = 10_000, maxLength = 100_000, cacheSize = 1_000 } = options
    const { onError = 'block', maxRetries = 0, onVerdict, lastMessageOnly = false, exclude = [] } = options
    for (const [name, value] of Object.entries({ window, timeoutMs, maxLength, cacheSize }))
      if (!(value > 0)) throw new BuiltinError('invalid-limit', `${name} is ${String(value)}. Give a number above 0.`)
    this.judges = judges
    this.policy = { judges, onError, maxRetries, onVerdict }
    this.window = window
    this.lastMessageOnly = lastMessageOnly
    this.exclude = exclude
    this.#maxLength = maxLength
    this.#ask = ask ?? modelJudges(model, timeoutMs)
    this.#cacheSize = cacheSize
    this.#cache = model === undefined && ask === undefined ? undefined : new VerdictCache(cacheSize)
  }

  looksAt(where: JudgedPlace): boolean {
    return this.judges.some(judge => judge.where.has(where))
  }

  /** What belongs to one run. */
  open(): JudgedRun {
    const { judges } = this
    return new JudgedRun({ judges, ask: this.#ask, cache: this.#cache ?? new VerdictCache(this.#cacheSize) })
  }

  /** Gives the ruling on one passage, in one call. */
  async rule(run: JudgedRun, passage: Passage, context: AskContext): Promise<Ruling> {
    if (isBlank(passage.text)) return unjudged
    if (passage.text.length > this.#maxLength) return tooLongRuling(this.#maxLength)
    const [ruling] = await run.judge([passage], context)
    return ruling!
  }

  /**
   * Judges texts that are there as a whole and acts on what is said of them: gives what is put in the place of each, or
   * nothing where it stays. Throws: a tripwire.
   */
  async review(
    run: JudgedRun,
    { where, texts }: { readonly where: JudgedPlace; readonly texts: readonly string[] },
    context: JudgingContext,
  ): Promise<readonly (string | undefined)[]> {
    const rulings = new Map<number, Ruling[]>()
    for (const batch of batchesOf(texts, where, this.#maxLength)) {
      const passages = batch.map(({ passage }) => passage)
      const said = passages[0] === tooLong ? [tooLongRuling(this.#maxLength)] : await run.judge(passages, context)
      for (const [index, ruling] of said.entries()) {
        const { textIndex } = batch[index]!
        rulings.set(textIndex, [...(rulings.get(textIndex) ?? []), ruling])
      }
      if (said.some(ruling => decides(this.policy, ruling))) break
    }
    return texts.map((text, index) => {
      const about = rulings.get(index)
      return about && enforce(this.policy, { where, text, ruling: rulingOf(about) }, context)
    })
  }
}

interface BatchEntry {
  readonly textIndex: number
  readonly passage: Passage
}

const tooLong: Passage = { where: 'input', text: '', before: '' }

function tooLongRuling(maxLength: number): Ruling {
  const error = new NoVerdict('too-long', `A text has more than ${maxLength} characters. Give a greater maxLength.`)
  return { opinions: [], cached: false, usages: [], error }
}

/** The passages of some texts, in calls. */
function batchesOf(
  texts: readonly string[],
  where: JudgedPlace,
  maxLength: number,
): readonly (readonly BatchEntry[])[] {
  const batches: BatchEntry[][] = []
  let length = callLength
  for (const [textIndex, text] of texts.entries()) {
    if (isBlank(text)) continue
    if (text.length > maxLength) {
      batches.push([{ textIndex, passage: tooLong }])
      length = callLength
      continue
    }
    let before = ''
    for (const piece of windowsOf(text, callLength)) {
      if (length + piece.length > callLength) batches.push([])
      length = length + piece.length > callLength ? piece.length : length + piece.length
      batches.at(-1)!.push({ textIndex, passage: { where, text: piece, before } })
      before = piece.slice(-contextLength)
    }
  }
  return batches
}

interface RunParts {
  readonly judges: readonly Judge[]
  readonly ask: AskJudges
  readonly cache: VerdictCache
}

/** Asking, in one run: no text twice, and nobody when it is over. */
export class JudgedRun {
  readonly #parts: RunParts
  readonly #over = new AbortController()
  /** Those that somebody is being asked about. */
  readonly #asked = new Map<string, Promise<Ruling>>()

  constructor(parts: RunParts) {
    this.#parts = parts
  }

  /** Gives a ruling on each passage, in one call. Rejects when the run was aborted, and never else. */
  judge(passages: readonly Passage[], context: AskContext): Promise<readonly Ruling[]> {
    return untilAborted(this.#judge(passages, context), context.abortSignal)
  }

  /** Lets go of the calls that nobody waits for any more. */
  end(): void {
    this.#over.abort()
  }

  async #judge(passages: readonly Passage[], context: AskContext): Promise<readonly Ruling[]> {
    const digests = await Promise.all(passages.map(({ where, text, before }) => digestOfTexts([where, before, text])))
    const known = digests.map(digest => this.#known(digest))
    const unknown = [...new Set(digests.filter((_, index) => known[index] === undefined))]
    const asked = unknown.map(digest => passages[digests.indexOf(digest)]!)
    const rulings = unknown.length === 0 ? undefined : this.#ask(asked, unknown, context)
    for (const [index, digest] of unknown.entries()) {
      const ruling = rulings!.then(all => all[index]!)
      this.#asked.set(digest, ruling)
      const forget = () => void this.#asked.delete(digest)
      ruling.then(forget, forget)
    }
    return Promise.all(
      digests.map((digest, index) => {
        const ruling = known[index] ?? this.#asked.get(digest)!
        return digests.indexOf(digest) === index ? ruling : ruling.then(asKnown)
      }),
    )
  }

  #known(digest: string): Promise<Ruling> | undefined {
    const opinions = this.#parts.cache.get(digest)
    return opinions ? Promise.resolve({ opinions, cached: true, usages: [] }) : this.#asked.get(digest)?.then(asKnown)
  }

  async #ask(
    passages: readonly Passage[],
    digests: readonly string[],
    { callModel, abortSignal }: AskContext,
  ): Promise<readonly Ruling[]> {
    const { judges, ask, cache } = this.#parts
    const present = judges.filter(judge => judge.where.has(passages[0]!.where))
    const signal = AbortSignal.any([abortSignal, this.#over.signal])
    const { opinions, usage, error } = await ask(present, passages, { callModel, abortSignal: signal })
    return passages.map((_, index) => {
      const about: readonly Opinion[] = opinions[index] ?? []
      if (!error) cache.set(digests[index]!, about)
      const usages = usage && index === 0 ? [usage] : []
      return { opinions: about, cached: false, usages, ...(error === undefined ? {} : { error }) }
    })
  }
}

/** A ruling that somebody else has asked for. */
function asKnown(ruling: Ruling): Ruling {
  return { ...ruling, cached: true, usages: [] }
}
