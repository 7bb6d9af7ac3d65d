// Lets a model summarise the older turns of a long conversation; prompts have the summary in their place.
import type { MessageList } from '@lockstep/message-list'
import {
  isPromiseLike,
  type MaybePromise,
  type ModelChoice,
  type ProcessLLMRequestArgs,
  type Processor,
} from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { findSummary, keepSummary, summaryMessage, type KeptSummary } from './kept-summary.ts'
import { PromptPlaces } from './prompt-places.ts'
import { beginOfRun, promptOf, promptTurns, type Pinning, type PromptTurns } from './prompt-turns.ts'
import { summarise } from './summariser.ts'
import { TokenCounter, type Prompt, type PromptMessage, type TokenCounting } from './token-counter.ts'

/** What was summarised. */
export interface Compacted {
  readonly summary: string
  /** How many more turns the summary stands for. */
  readonly turnCount: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** How many calls the summariser took. */
  readonly callCount: number
}

/** Options of the compaction. */
export interface CompactionOptions extends TokenCounting, Pinning {
  /** A prompt may have so many tokens, tools included, before turns are summarised; 50,000 when absent. */
  readonly trigger?: number
  /** How many tokens of the newest turns are left as they are; a quarter of `trigger` when absent. */
  readonly keep?: number
  /** Writes the summaries; the run's own model when absent. */
  readonly model?: ModelChoice
  /** What the summariser is told besides its task. */
  readonly instructions?: string
  /** What a summary may have, about; 1,000 tokens when absent. */
  readonly summaryTokens?: number
  /** What the summariser can read in one call; as much as `trigger` when absent. */
  readonly callTokens?: number
  /** When there is no summary: the call is made with what there is (`'skip'`, when absent), or the run fails. */
  readonly onError?: 'fail' | 'skip'
  readonly onCompaction?: (compacted: Compacted) => void
  /** Is told why there is no summary. */
  readonly onFailure?: (error: unknown) => void
}

/** What the compaction keeps of a run. */
export interface CompactionState {
  toolTokens: number
  /** The summary that prompts have; null when there is none. */
  summary: KeptSummary | null
  /** The run's answer is to carry the summary. */
  isToKeep: boolean
  /** After a failure the next try waits for a prompt of so many tokens. */
  waitsFor: number
}

type Request = ProcessLLMRequestArgs<unknown, CompactionState>

/**
 * A processor that has the older turns of a long conversation summarised. Their summary stands in prompts from then on,
 * until the conversation has grown as long again; then it is written anew, from itself and the turns since. Pinned turns
 * stay beside it, the run's own are not summarised. The conversation is not changed, but that the run's answer carries the summary.
 *
 * *Order*: in `inputProcessors`, after what clears results, before a token limiter.
 * *Cost*: one model call now and then, which is booked to it.
 * *Throws*: `invalid-limit`.
 */
export function compaction(options: CompactionOptions = {}): Processor<'compaction', unknown, CompactionState> {
  const { onError = 'skip', onCompaction, onFailure } = options
  const limits = limitsOf(options)
  const counter = new TokenCounter(options)
  const summariser = { counter, model: options.model, instructions: options.instructions, ...limits }
  const shown = new WeakMap<object, { readonly text: string; readonly message: PromptMessage }>()

  /** The same message while the summary is the same: it is counted once. */
  function messageOf(state: object, { text }: KeptSummary): PromptMessage {
    const known = shown.get(state)
    if (known?.text === text) return known.message
    const message = summaryMessage(text)
    shown.set(state, { text, message })
    return message
  }

  function sizeOf(prompt: Prompt, { toolTokens = 0 }: Request['state']): number {
    return toolTokens + counter.ofPrompt(prompt)
  }

  function withSummary({ prompt, messageList, state }: Request): CompactedPrompt {
    const parts = promptTurns(prompt, messageList, options)
    const { summary } = state
    if (!summary) return { parts, coveredCount: 0, prompt }
    const coveredCount = coveredBy(summary, { parts, prompt, list: messageList })
    return { parts, coveredCount, prompt: compactedPrompt(parts, coveredCount, messageOf(state, summary)) }
  }

  async function compact(request: Request, before: CompactedPrompt): Promise<CompactedPrompt> {
    const { prompt, messageList, state, callModel } = request
    const { parts, coveredCount } = before
    const cut = cutOf(parts, { coveredCount, keep: limits.keep, counter })
    const end = startOfKept(parts, { cut, least: coveredCount, prompt, list: messageList })
    const read = end === undefined ? [] : parts.turns.slice(coveredCount, end.turn)
    const old = read.filter(({ isPinned }) => !isPinned)
    const gain = old.reduce((sum, { messages }) => sum + counter.ofPrompt(messages), 0)
    if (end === undefined || gain < 2 * limits.summaryTokens) return before
    // A turn that is pinned now may not be for ever.
    const messages = read.flatMap(turn => turn.messages)
    const earlier = state.summary?.text
    const { text, callCount } = await summarise(summariser, { earlier, messages, callModel })
    const summary = { from: end.from, text }
    const after = compactedPrompt(parts, end.turn, messageOf(state, summary))
    const [tokensBefore, tokensAfter] = [sizeOf(before.prompt, state), sizeOf(after, state)]
    if (tokensAfter >= tokensBefore)
      throw new BuiltinError(
        'no-summary',
        `The summary is longer than what it stands for: ${tokensAfter} tokens are left of ${tokensBefore}. Give another model.`,
      )
    state.summary = summary
    state.isToKeep = true
    state.waitsFor = 0
    onCompaction?.({ summary: text, turnCount: old.length, tokensBefore, tokensAfter, callCount })
    return { parts, coveredCount: end.turn, prompt: after }
  }

  async function compactOrGoOn(request: Request, before: CompactedPrompt): Promise<Prompt> {
    try {
      return (await compact(request, before)).prompt
    } catch (error) {
      if (request.abortSignal.aborted) throw error
      request.state.waitsFor = sizeOf(before.prompt, request.state) * 1.2
      onFailure?.(error)
      if (onError === 'fail') throw error
      return before.prompt
    }
  }

  return {
    id: 'compaction',
    name: 'Compaction',
    description: 'Lets a model summarise the older turns of a long conversation.',
    onError,

    processInputStep: step => counter.noteTools(step),

    processLLMRequest(request) {
      const { prompt, messageList, state } = request
      if (state.summary === undefined) {
        const found = findSummary(messageList)
        state.summary = found?.summary ?? null
        state.isToKeep = found?.isOld === true
      }
      if (state.summary === null && sizeOf(prompt, state) <= limits.trigger) return undefined
      const before = withSummary(request)
      const isLong = sizeOf(before.prompt, state) > Math.max(limits.trigger, state.waitsFor ?? 0)
      const resultOf = (made: Prompt) => (made === prompt ? undefined : { prompt: made })
      const shorter: MaybePromise<Prompt> = isLong ? compactOrGoOn(request, before) : before.prompt
      return isPromiseLike(shorter) ? shorter.then(resultOf) : resultOf(shorter as Prompt)
    },

    processStepEnd({ messageList, state }) {
      if (state.isToKeep && state.summary) keepSummary(messageList, state.summary)
    },
  }
}

interface Limits {
  readonly trigger: number
  readonly keep: number
  readonly summaryTokens: number
  readonly callTokens: number
}

function limitsOf(options: CompactionOptions): Limits {
  const { trigger = 50_000, keep = trigger / 4, summaryTokens = 1_000, callTokens = trigger } = options
  const limits = { trigger, keep, summaryTokens, callTokens }
  for (const [name, value] of Object.entries(limits))
    if (!(value > 0 || (name === 'keep' && value === 0)))
      throw new BuiltinError(
        'invalid-limit',
        `The option ${name} is ${String(value)}. Give a number of tokens above 0.`,
      )
  if (keep >= trigger)
    throw new BuiltinError(
      'invalid-limit',
      `Nothing can be summarised of ${trigger} tokens when ${keep} are kept. Let keep be less than trigger.`,
    )
  return limits
}

interface CompactedPrompt {
  readonly parts: PromptTurns
  /** How many of the turns the summary stands for, pinned ones included. */
  readonly coveredCount: number
  readonly prompt: Prompt
}

function compactedPrompt(parts: PromptTurns, coveredCount: number, summary: PromptMessage): Prompt {
  const kept = parts.turns.filter(({ isPinned }, index) => isPinned || index >= coveredCount)
  return promptOf({ ...parts, system: [...parts.system, summary] }, kept)
}

interface Conversation {
  readonly parts: PromptTurns
  readonly prompt: Prompt
  readonly list: MessageList
}

/** How many turns end before the message from which on the summary says nothing. All count where it is not known. */
function coveredBy({ from }: KeptSummary, { parts, prompt, list }: Conversation): number {
  const messages = list.getMessages()
  const places = new PromptPlaces(prompt, list)
  let index = messages.findIndex(({ id }) => id === from)
  let place: number | undefined
  for (; index >= 0 && index < messages.length && place === undefined; index++) place = places.of(messages[index]!)
  if (place === undefined) return 0
  const uncovered = parts.turns.findIndex(({ start, messages: said }) => start + said.length > place)
  return uncovered < 0 ? parts.turns.length : uncovered
}

/** The turn from which on all fit into `keep`. */
function cutOf(
  { turns }: PromptTurns,
  {
    coveredCount,
    keep,
    counter,
  }: { readonly coveredCount: number; readonly keep: number; readonly counter: TokenCounter },
): number {
  let cut = turns.length
  for (let room = keep; cut > coveredCount; cut--) {
    const { messages, isPinned } = turns[cut - 1]!
    room -= isPinned ? 0 : counter.ofPrompt(messages)
    if (room < 0) break
  }
  return cut
}

/** The message with which the turns begin that are kept: those from the cut on, or more where it is not known which begins there. */
function startOfKept(
  { turns }: PromptTurns,
  { cut, least, prompt, list }: Omit<Conversation, 'parts'> & { readonly cut: number; readonly least: number },
): { readonly turn: number; readonly from: string } | undefined {
  const messages = list.getMessages()
  const places = new PromptPlaces(prompt, list)
  const last = turns.at(-1)
  const startOf = (turn: number) => turns[turn]?.start ?? last!.start + last!.messages.length
  let turn = cut
  for (let index = beginOfRun(messages, list); index >= 0 && turn > least; index--) {
    const message = messages[index]!
    const place = message.role === 'user' ? places.of(message) : undefined
    if (place === undefined) continue
    while (turn > least && startOf(turn) > place) turn--
    if (turn > least && startOf(turn) === place) return { turn, from: message.id }
  }
  return undefined
}
