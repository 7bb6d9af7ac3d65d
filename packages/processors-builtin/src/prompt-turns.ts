// A prompt in its parts: instructions, the turns of earlier, and what the run itself is about.
import { MessageList, type AgentMessage } from '@lockstep/message-list'
import type { Prompt, PromptMessage } from './token-counter.ts'

/** A message that stays, however old it is. */
export interface Pinning {
  /** Pins messages besides those with `metadata.pinned` and those that were put there as context. Their turns stay. */
  readonly pin?: (message: AgentMessage) => boolean
}

/** A question, and all that was said and done until the next one. */
export interface Turn {
  readonly messages: readonly PromptMessage[]
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

/**
 * Divides a prompt. The run begins with the last question before its first response. Where its beginning is not found,
 * since somebody has edited the prompt, all of the prompt belongs to it.
 */
export function promptTurns(prompt: Prompt, list: MessageList, pinning: Pinning = {}): PromptTurns {
  const messages = list.getMessages()
  const begin = beginOfRun(messages, list)
  const first = prompt.findIndex(({ role }) => role !== 'system')
  const question = begin === 0 ? undefined : placeOf(messages[begin]!, prompt, list)
  const end = Math.max(first, question ?? first)
  const pinned = pinnedPlaces(messages.slice(0, begin), { prompt, list, pinning })
  const turns: { messages: PromptMessage[]; isPinned: boolean }[] = []
  for (let index = Math.max(first, 0); index < end; index++) {
    const message = prompt[index]!
    const isQuestion = message.role === 'user' && prompt[index - 1]?.role !== 'user'
    if (turns.length === 0 || isQuestion) turns.push({ messages: [], isPinned: false })
    const turn = turns.at(-1)!
    turn.messages.push(message)
    if (message.role === 'system' || pinned.has(index)) turn.isPinned = true
  }
  return { system: prompt.slice(0, Math.max(first, 0)), turns, current: prompt.slice(Math.max(end, 0)) }
}

/** The prompt with some of its turns. */
export function promptOf({ system, current }: PromptTurns, turns: readonly Turn[]): Prompt {
  return [...system, ...turns.flatMap(turn => turn.messages), ...current]
}

/** The last question before the first response; without a response, the last question. */
function beginOfRun(messages: readonly AgentMessage[], list: MessageList): number {
  const response = list.get.response.db()[0]
  let begin = response === undefined ? messages.length : messages.indexOf(response)
  while (begin > 0 && messages[begin - 1]!.role !== 'user') begin--
  while (begin > 0 && messages[begin - 1]!.role === 'user') begin--
  return begin
}

interface Surroundings {
  readonly prompt: Prompt
  readonly list: MessageList
  readonly pinning: Pinning
}

function pinnedPlaces(history: readonly AgentMessage[], { prompt, list, pinning }: Surroundings): ReadonlySet<number> {
  const context = new Set(list.get.context.db())
  const places = new Set<number>()
  for (const message of history) {
    const isPinned =
      message.content.metadata?.['pinned'] === true || context.has(message) || pinning.pin?.(message) === true
    const place = isPinned ? placeOf(message, prompt, list) : undefined
    if (place !== undefined) places.add(place)
  }
  return places
}

/** Where a message of the list begins in a prompt. */
function placeOf(message: AgentMessage, prompt: Prompt, list: MessageList): number | undefined {
  const piece = firstPieceOf(message)
  if (piece === undefined) return undefined
  const same = prompt.indexOf(piece)
  if (same >= 0) return same
  // An edited message stands where it stood, as long as none was added or left out.
  const unedited = list.get.all.prompt()
  const place = unedited.length === prompt.length ? unedited.indexOf(piece) : -1
  if (place >= 0) return place
  const similar = prompt.findIndex(other => sharesPart(other, piece))
  return similar < 0 ? undefined : similar
}

const pieces = new WeakMap<AgentMessage, PromptMessage>()

/** Prompts are made of pieces that are made once for a message, so it is the same one in every prompt. */
function firstPieceOf(message: AgentMessage): PromptMessage | undefined {
  const known = pieces.get(message)
  if (known !== undefined) return known
  const prompt = new MessageList().add(message, 'memory').get.all.prompt()
  const piece = prompt.find(({ role }) => role === message.role)
  if (piece !== undefined) pieces.set(message, piece)
  return piece
}

function sharesPart({ content }: PromptMessage, piece: PromptMessage): boolean {
  if (typeof content === 'string' || typeof piece.content === 'string') return false
  const parts: readonly object[] = piece.content
  return content.some(part => parts.includes(part))
}
