// Working memory: a small document that the model sees in every step and rewrites by a tool.
import type { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import type { FlexibleSchema } from 'ai'
import { MemoryError } from '../errors.ts'
import { threadIdOf } from '../thread/thread-owner.ts'
import type { ThreadStore } from '../stores/thread-store.ts'

/** What a working memory is. */
export interface WorkingMemoryOptions {
  /** What the document is, for the model and for the check of what it writes: zod, a standard schema, or `jsonSchema()`. */
  readonly schema: FlexibleSchema<unknown>
  /** Whose document it is: the thread's (when absent), or the resource's, in all of its threads. */
  readonly scope?: 'thread' | 'resource'
  /** Says what the document is for, before the document; a sentence of its own when absent. */
  readonly instructions?: string
}

/** The name of the tool that rewrites the document. */
export const workingMemoryToolName = 'updateWorkingMemory'

interface WorkingMemoryState {
  document: unknown
  /** The revision that the model has seen. */
  revision: number
}

const defaultInstructions = 'This is what you keep in mind of the user and the task, as JSON.'

/**
 * Makes the processor of a working memory.
 *
 * *Order*: the document is read before the first step, and shown in each as the last update left it. An update is stored at
 * once, and refused when somebody else wrote since the model saw the document: it is shown the other one, and tries again.
 */
export function workingMemory(store: ThreadStore, options: WorkingMemoryOptions): Processor {
  const { schema, scope = 'thread', instructions = defaultInstructions } = options
  const processor: Processor<string, unknown, WorkingMemoryState> = {
    id: 'working-memory',
    name: 'Working memory',
    async processInputStep({ messageList, state, systemMessages, tools }) {
      const place = placeOf(messageList, scope)
      if (!isRead(state)) Object.assign(state, await readState(store, place.key))
      const shown = state as WorkingMemoryState
      const update = async (value: unknown) => {
        const outcome = await store.writeDocument({ ...place, value, expectedRevision: shown.revision })
        if (outcome.type === 'committed') {
          Object.assign(shown, { document: value, revision: outcome.revision })
          return 'Stored.'
        }
        Object.assign(shown, await readState(store, place.key))
        return 'Not stored: it was changed meanwhile. Look at it again, and update what is there now.'
      }
      return {
        systemMessages: [...systemMessages, { role: 'system', content: contentOf(instructions, shown.document) }],
        tools: {
          ...tools,
          [workingMemoryToolName]: {
            description: 'Replaces the working memory by the whole document as it should be.',
            inputSchema: schema,
            execute: update,
          },
        },
      }
    },
  }
  return processor as Processor
}

function isRead(state: Partial<WorkingMemoryState>): boolean {
  return state.revision !== undefined
}

async function readState(store: ThreadStore, key: string): Promise<WorkingMemoryState> {
  const { value = null, revision = 0 } = (await store.readDocument(key)) ?? {}
  return { document: value, revision }
}

function contentOf(instructions: string, document: unknown): string {
  const text = document === null ? 'It is empty.' : JSON.stringify(document, null, 2)
  return `${instructions} Call ${workingMemoryToolName} when something in it changes.\n\n${text}`
}

/** Throws: `no-thread`, `no-resource`. */
function placeOf(
  list: MessageList,
  scope: 'thread' | 'resource',
): { readonly key: string; readonly threadId?: string } {
  if (scope === 'thread') return { key: `working-memory/thread/${threadIdOf(list)}`, threadId: threadIdOf(list) }
  if (list.resourceId !== undefined) return { key: `working-memory/resource/${list.resourceId}` }
  throw new MemoryError(
    'no-resource',
    "The working memory is the resource's, and the call names none. Pass resourceId to the call or in its requestContext.",
  )
}
