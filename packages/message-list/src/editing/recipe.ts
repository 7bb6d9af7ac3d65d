// Editing in place, safely: immer drafts of a message or of all of them. This is the only file that knows immer.
import { enablePatches, Immer, type Draft, type Patch as ImmerPatch } from 'immer'
import type { Patch } from './change.ts'
import { MessageListError } from '../errors.ts'
import type { AgentMessage } from '../message.ts'

export type { Draft }

enablePatches()

// Freezing is left to the door: what a recipe puts in belongs to its caller and is copied there.
const immer = new Immer({ autoFreeze: false })

/** Runs a recipe on a draft of a message. The result shares what the recipe did not touch, and is not frozen. */
export function draftOfMessage(message: AgentMessage, recipe: (draft: Draft<AgentMessage>) => void): AgentMessage {
  // immer copies a frozen array forty times slower than an ordinary one, so it gets an ordinary one to begin with.
  const base: AgentMessage = { ...message, content: { ...message.content, parts: [...message.content.parts] } }
  const edited = run(base, recipe)
  return edited === base ? message : edited
}

/** Runs a recipe on a draft of all messages. The result shares what the recipe did not touch, and is not frozen. */
export function draftOfAll(
  messages: readonly AgentMessage[],
  recipe: (draft: Draft<AgentMessage>[]) => void,
): readonly AgentMessage[] {
  const base = [...messages]
  const edited = run(base as readonly AgentMessage[], recipe as (draft: Draft<readonly AgentMessage[]>) => void)
  return edited === base ? messages : edited
}

/** Applies patches to a message. The result shares what they do not touch, and is not frozen. */
export function patched(message: AgentMessage, patches: readonly Patch[]): AgentMessage {
  try {
    return immer.applyPatches(message, patches as unknown as readonly ImmerPatch[])
  } catch (cause) {
    throw new MessageListError(
      'invalid-edit',
      `The patches for message "${message.id}" do not fit it. Make them from the message as it is now.`,
      { cause },
    )
  }
}

function run<T extends object>(base: T, recipe: (draft: Draft<T>) => void): T {
  return immer.produce(base, draft => {
    // An arrow function may return what `push` returned; only a promise means that the recipe is not done yet.
    const returned: unknown = recipe(draft)
    if (isPromise(returned)) {
      throw new MessageListError(
        'invalid-recipe',
        'The recipe returned a promise, and a draft lives only while it runs. Await first, then edit.',
      )
    }
  }) as T
}

function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
