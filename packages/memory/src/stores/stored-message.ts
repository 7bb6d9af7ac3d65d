// A row of a store back to a message, and what every store says when a row or an id is not what it should be.
import type { AgentMessage } from '@lockstep/message-list'
import type { MessageRow } from './commit-plan.ts'
import { MemoryError } from '../errors.ts'

/** Reads a row. Throws: `damaged` when it is not what was written. */
export function storedMessageOf({ id, body }: MessageRow): AgentMessage {
  const message = parsed<AgentMessage>(body, `The message "${id}"`)
  if (message.id === id && Array.isArray(message.content?.parts)) return message
  throw damaged(`The message "${id}"`)
}

/** Reads JSON that a store keeps. Throws: `damaged`. */
export function parsed<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw damaged(what, cause)
  }
}

function damaged(what: string, cause?: unknown): MemoryError {
  return new MemoryError(
    'damaged',
    `${what} in the store is not what was written there. Something else wrote to the database; restore the row from a backup or remove it.`,
    { cause },
  )
}

/** The refusal of a `before` that is not there. */
export function unknownMessage(threadId: string, id: string): MemoryError {
  return new MemoryError(
    'unknown-message',
    `The thread "${threadId}" has no message "${id}" to read before. Read again without \`before\`.`,
  )
}

/** The refusal of every call after `close`. */
export function closedStore(): MemoryError {
  return new MemoryError('store-closed', 'The store was closed. Make another one, or close it later.')
}
