// A prompt in its parts: instructions, the turns of earlier, and what the run itself is about.
import type { AgentMessage, MessageList } from '@lockstep/message-list'
import { PromptPlaces } from './prompt-places.ts'
import type { Prompt, PromptMessage } from './token-counter.ts'

/** A message that stays, however old it is. */
export interface Pinning {
  /** Pins messages besides those with `metadata.pinned` and those that were put there as context. Their turns stay. */
  readonly pin?: (message: AgentMessage) => boolean
}

/** A question, and all that was said and done until the next one. */
export interface Turn {
  readonly messages: readonly PromptMessage[]
  /** Where it begins in the prompt. */
  readonly start: number
  readonly isPinned: boolean
}

/** A prompt in its parts, in order. */
export interface PromptTurns {
  readonly system: readonly PromptMessage[]
  /** Oldest first. */
  readonly turns: readonly Turn[]
  /** The question of the run, what was steered in, and what the run has said and done. */
  readonly current: readonly PromptMessage[]
}

/** What a message of a prompt says of itself when it is no message of the conversation and has to stay. */
export const pinnedPiece = { lockstep: { pinned: true } } as const

/**
 * Divides a prompt. The run begins with the last question before its first response. Where its beginning is not found,
 * since somebody has edited the prompt, all of the prompt belongs to it.
 */
export function promptTurns(prompt: Prompt, list: MessageList, pinning: Pinning = {}): PromptTurns {
  const messages = list.getMessages()
  const places = new PromptPlaces(prompt, list)
  const begin = beginOfRun(messages, list)
  const first = prompt.findIndex(({ role }) => role !== 'system')
  const question = begin === 0 ? undefined : places.of(messages[begin]!)
  const end = Math.max(first, question ?? first)
  const pinned = pinnedPlaces(messages.slice(0, begin), { places, list, pinning })
  const turns: { messages: PromptMessage[]; start: number; isPinned: boolean }[] = []
  for (let index = Math.max(first, 0); index < end; index++) {
    const message = prompt[index]!
    const before = prompt[index - 1]
    const isQuestion = message.role === 'user' && (before?.role !== 'user' || isPinnedPiece(before))
    if (turns.length === 0 || isQuestion) turns.push({ messages: [], start: index, isPinned: false })
    const turn = turns.at(-1)!
    turn.messages.push(message)
    if (message.role === 'system' || isPinnedPiece(message) || pinned.has(index)) turn.isPinned = true
  }
  return { system: prompt.slice(0, Math.max(first, 0)), turns, current: prompt.slice(Math.max(end, 0)) }
}

/** The prompt with some of its turns. */
export function promptOf({ system, current }: PromptTurns, turns: readonly Turn[]): Prompt {
  return [...system, ...turns.flatMap(turn => turn.messages), ...current]
}

/** The place of the last question before the first response; without a response, of the last question. */
export function beginOfRun(messages: readonly AgentMessage[], list: MessageList): number {
  const response = list.get.response.db()[0]
  let begin = response === undefined ? messages.length : messages.indexOf(response)
  while (begin > 0 && messages[begin - 1]!.role !== 'user') begin--
  while (begin > 0 && messages[begin - 1]!.role === 'user') begin--
  return begin
}

function isPinnedPiece({ providerOptions }: PromptMessage): boolean {
  return providerOptions?.['lockstep']?.['pinned'] === true
}

interface Surroundings {
  readonly places: PromptPlaces
  readonly list: MessageList
  readonly pinning: Pinning
}

function pinnedPlaces(history: readonly AgentMessage[], { places, list, pinning }: Surroundings): ReadonlySet<number> {
  const context = new Set(list.get.context.db())
  const found = new Set<number>()
  for (const message of history) {
    const isPinned =
      message.content.metadata?.['pinned'] === true || context.has(message) || pinning.pin?.(message) === true
    const place = isPinned ? places.of(message) : undefined
    if (place !== undefined) found.add(place)
  }
  return found
}
