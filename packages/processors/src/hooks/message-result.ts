// What a hook meant by the messages that it returned, and how that gets into the conversation.
import {
  MessageList,
  returnedEdits,
  type AgentMessage,
  type Edit,
  type MessageInput,
  type MessageSource,
  type SystemMessage,
} from '@lockstep/message-list'
import type { StepPosition } from '../context.ts'
import { HookCall, type HookScope } from './hook-call.ts'
import { changedSince, stateOfList } from './list-state.ts'
import { inWords } from '../in-words.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import type { Processor } from '../processor.ts'

/** The messages a hook returns: its own list, an array, or an array and system messages. */
export type MessageResult =
  | MessageList
  | readonly MessageInput[]
  | { readonly messages?: readonly MessageInput[]; readonly systemMessages?: readonly SystemMessage[] }
  | undefined
  | void

/** How a returned array is read. */
export interface ReturnedArrayRules {
  /** What the processor was given: a message that is missing from the returned array was removed by it. */
  readonly given: readonly AgentMessage[]
  /** The source of messages that are new. */
  readonly source: MessageSource
  /** An empty array is refused in input hooks, and no change in output hooks. */
  readonly empty: 'refused' | 'no-change'
}

/** The edits a returned array stands for, and the system messages in it, which are added. */
export interface ReturnedMessages {
  readonly edits: readonly Edit[]
  readonly systemMessages: readonly SystemMessage[]
}

const nothing: ReturnedMessages = { edits: [], systemMessages: [] }

/** Reads a returned array as edits. Throws: `empty-messages` where an empty array would delete everything. */
export function readReturnedArray(
  call: HookCall,
  returned: readonly MessageInput[],
  rules: ReturnedArrayRules,
): ReturnedMessages {
  if (returned.length === 0 && rules.given.length > 0) {
    if (rules.empty === 'no-change') return nothing
    throw call.misused(
      'empty-messages',
      `returned an empty array from ${call.hook}, which would delete all ${rules.given.length} messages. ` +
        'Return nothing for no change; to delete them, call messageList.clear().',
    )
  }
  return returnedEdits(rules.given, returned, { list: call.list, source: rules.source })
}

/** Checks that a list a hook returned is the one it was given. */
export function checkSameList(call: HookCall, returned: unknown): void {
  if (returned instanceof MessageList && call.list.isSameAs(returned)) return
  throw call.misused(
    'external-message-list',
    `returned another messageList from ${call.hook} than the one it was given. Edit the messageList of its arguments instead.`,
  )
}

/** Checks that messages a hook returned are an array. */
export function checkMessages(call: HookCall, returned: unknown): asserts returned is readonly MessageInput[] {
  if (Array.isArray(returned)) return
  throw call.misused(
    'invalid-return',
    `returned messages from ${call.hook} that are no array: ${inWords(returned)}. Return an array of messages.`,
  )
}

/** Refuses keys that mean nothing, so that a misspelt one is not silently without effect. */
export function checkKeys(call: HookCall, returned: unknown, known: readonly string[]): asserts returned is object {
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned))
    throw call.misused(
      'invalid-return',
      `returned ${inWords(returned)} from ${call.hook}. Return nothing, or an object with some of the keys ${known.join(', ')}.`,
    )
  for (const key of Object.keys(returned)) {
    if (known.includes(key)) continue
    throw call.misused(
      'unknown-key',
      `returned an unknown key '${key}' from ${call.hook}. The keys are ${known.join(', ')}.`,
    )
  }
}

/** Commits what a hook returned and notes what changed, in the list or by the list's own methods. */
function applyMessageResult(call: HookCall, result: MessageResult, rules: ReturnedArrayRules): void {
  if (result === undefined || result === null) return
  if (result instanceof MessageList) return checkSameList(call, result)
  if (Array.isArray(result)) return commitReturned(call, result as readonly MessageInput[], rules)
  if (typeof result !== 'object')
    throw call.misused(
      'invalid-return',
      `returned ${String(result)} from ${call.hook}. Return messages, the messageList, or nothing.`,
    )
  checkKeys(call, result, ['messages', 'systemMessages'])
  const { messages, systemMessages } = result as {
    readonly messages?: readonly MessageInput[]
    readonly systemMessages?: readonly SystemMessage[]
  }
  if (messages !== undefined) checkMessages(call, messages)
  if (systemMessages !== undefined) checkMessages(call, systemMessages)
  if (systemMessages) call.list.replaceAllSystemMessages(systemMessages)
  if (messages) commitReturned(call, messages, rules)
}

function commitReturned(call: HookCall, returned: readonly MessageInput[], rules: ReturnedArrayRules): void {
  const { edits, systemMessages } = readReturnedArray(call, returned, rules)
  if (edits.length > 0) call.list.apply(edits)
  if (systemMessages.length > 0) call.list.addSystem(systemMessages)
}

/** A hook that is given messages and may return them. */
export interface MessageHook {
  readonly hook: 'processInput' | 'processOutputStep' | 'processOutputResult'
  /** The messages that the hook is about. */
  readonly given: (list: MessageList) => readonly AgentMessage[]
  readonly source: MessageSource
  readonly empty: ReturnedArrayRules['empty']
  /** Where the run is and what the hook has of its own; read for each processor, since the one before may edit. */
  readonly at: () => { readonly position: StepPosition; readonly own: object }
}

/** Runs a message hook of each processor in order, and commits what each returned before the next is called. */
export function runMessageHook(
  scope: HookScope,
  processors: readonly Processor[],
  about: MessageHook,
): MaybePromise<void> {
  const { hook, source, empty } = about
  return eachInOrder(processors, processor => {
    const { position, own } = about.at()
    const call = new HookCall(scope, processor, { hook, position })
    const before = stateOfList(call.list)
    const given = about.given(call.list)
    const args = { ...call.context(given), ...own } as Parameters<typeof call.run>[0]
    const finish = (result: MessageResult) => {
      applyMessageResult(call, result, { given, source, empty })
      const what = changedSince(before, call.list)
      if (what.length > 0) call.note({ type: 'changed', what })
    }
    const result = call.run(args, undefined)
    return isPromiseLike(result) ? result.then(finish) : finish(result)
  })
}
