// How much of a thread a run remembers: the last messages, as far as their tokens fit.
import type { AgentMessage, MessagePart } from '@lockstep/message-list'
import { MemoryError } from '../errors.ts'
import { estimatedTokens, tokensOfPart } from './token-count.ts'

/** How much of a thread is loaded. */
export interface WindowOptions {
  /** At most so many messages, the newest; 40 when absent. `Infinity` loads all. */
  readonly lastMessages?: number
  /** At most so many tokens, the newest. A response that does not fit as a whole is cut between two of its steps. */
  readonly maxTokens?: number
  /** Counts the tokens of a text; an estimate within some per cent when absent. */
  readonly countTokens?: (text: string) => number
}

/** A message of the window, and how many of its parts at the beginning are left out. */
export interface WindowEntry {
  readonly message: AgentMessage
  readonly skippedPartCount: number
}

/** What a role, an id and the brackets around a message cost, about. */
const tokensOfEnvelope = 4

/** Checks the options of a window. Throws: `invalid-option`. */
export function checkWindow({ lastMessages = 0, maxTokens = 0 }: WindowOptions): void {
  for (const [name, value] of Object.entries({ lastMessages, maxTokens }))
    if (!(value >= 0) || (Number.isFinite(value) && !Number.isInteger(value)))
      throw new MemoryError('invalid-option', `${name} is ${String(value)}. Give a whole number, 0 or more.`)
}

/** The newest of some messages that fit into a window. A call and its result are one part, so they stay together. */
export function windowOf(messages: readonly AgentMessage[], options: WindowOptions): readonly WindowEntry[] {
  const { lastMessages = 40, maxTokens = Infinity, countTokens = estimatedTokens } = options
  const candidates = lastMessages >= messages.length ? messages : messages.slice(messages.length - lastMessages)
  if (maxTokens === Infinity) return candidates.map(message => ({ message, skippedPartCount: 0 }))
  const entries: WindowEntry[] = []
  let left = maxTokens
  for (const message of candidates.toReversed()) {
    const skippedPartCount = firstFitting(message.content.parts, left - tokensOfEnvelope, countTokens)
    if (skippedPartCount === undefined) break
    entries.unshift({ message, skippedPartCount })
    left -= tokensOfEnvelope + tokensOf(message.content.parts, countTokens)
  }
  return entries
}

/** Where a message begins to fit: at its first part, or at one of its steps. Undefined when not even the last one fits. */
function firstFitting(
  parts: readonly MessagePart[],
  budget: number,
  countTokens: (text: string) => number,
): number | undefined {
  let fitting: number | undefined
  let left = budget
  let end = parts.length
  for (let index = parts.length - 1; index >= 0; index--) {
    if (index > 0 && parts[index]!.type !== 'step-start') continue
    left -= tokensOf(parts.slice(index, end), countTokens)
    if (left < 0) return fitting
    fitting = index
    end = index
  }
  return fitting ?? (left >= 0 ? 0 : undefined)
}

function tokensOf(parts: readonly MessagePart[], countTokens: (text: string) => number): number {
  return parts.reduce((sum, part) => sum + tokensOfPart(part, countTokens), 0)
}
