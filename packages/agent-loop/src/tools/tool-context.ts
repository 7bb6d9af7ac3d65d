// What a tool is given besides its input: the AI SDK's options, and the run's own.
import type { MessageList } from '@lockstep/message-list'
import type { MaybePromise } from '@lockstep/processors'
import type { ModelMessage, ToolSet } from 'ai'
import { validateToolContext } from '../ai-internal.ts'
import { lazyProperty } from '../lazy-property.ts'
import type { Run } from '../run/run.ts'

/** A call of a tool, as far as the tool's options need it. */
export interface ToolUse {
  readonly toolCallId: string
  readonly toolName: string
  readonly signal: AbortSignal
}

/** The options of `execute` and of the callbacks for input. Throws: the issues of a context that does not fit its schema. */
export function toolOptions(run: Run, tool: ToolSet[string], use: ToolUse): MaybePromise<object> {
  const { toolName } = use
  const { contextSchema } = tool
  const given = (run.options.toolsContext as Readonly<Record<string, unknown>> | undefined)?.[toolName]
  if (!contextSchema) return optionsOf(run, use, given)
  return validateToolContext({ toolName, context: given, contextSchema }).then(context => optionsOf(run, use, context))
}

/** Most tools do not ask for them. */
const withMessages = lazyProperty('messages', (list: MessageList): ModelMessage[] => [...list.get.all.model()])

function optionsOf(run: Run, { toolCallId, signal }: ToolUse, context: unknown): object {
  const { requestContext, toolWriter: writer, runId } = run
  return withMessages({ toolCallId, abortSignal: signal, context, requestContext, writer, runId }, run.list)
}
