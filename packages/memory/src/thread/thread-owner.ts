// Which thread a run is on, and whose it is.
import type { MessageList } from '@lockstep/message-list'
import { MemoryError } from '../errors.ts'
import type { Thread } from '../stores/thread-store.ts'

/** The thread of a run. Throws: `no-thread`. */
export function threadIdOf({ threadId }: MessageList): string {
  if (threadId !== undefined) return threadId
  throw new MemoryError(
    'no-thread',
    'The call names no thread, so there is nothing to load from and nowhere to save to. Pass threadId to the call or in its requestContext; for calls that need no memory, make an agent without one.',
  )
}

/** Refuses somebody else's thread. Throws: `wrong-resource`. */
export function checkOwner(thread: Thread | undefined, { resourceId }: MessageList): void {
  if (thread?.resourceId === undefined || thread.resourceId === resourceId) return
  throw new MemoryError(
    'wrong-resource',
    `The thread "${thread.id}" belongs to "${thread.resourceId}", and the call is for ${resourceId === undefined ? 'nobody' : `"${resourceId}"`}. Pass the resourceId of its owner, or use another thread.`,
  )
}
