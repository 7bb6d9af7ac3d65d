// Conversations over routes: the agent's model, tools and processors for the turns of a batch executor.
import type { RespondOptions, Route, Session, RawValues, TurnContext } from '@lockstep/batch-executor'
import { MessageList } from '@lockstep/message-list'
import type { ToolSet } from 'ai'
import type { AgentConfig, CallOptions } from './agent-options.ts'
import { AgentError } from './errors.ts'
import { runOptionsFor } from './run-options.ts'

/** What a turn may say: everything that a call may, and where the conversation stands. */
export type RespondCallOptions<TData, TContext = unknown, TOOLS extends ToolSet = ToolSet> = Omit<
  CallOptions<TOOLS>,
  'context' | 'structuredOutput' | 'hold' | 'abortSignal'
> &
  Omit<TurnContext<TData, TContext>, 'session'> & {
    /** The session that the last turn gave; absent: a new one. */
    readonly session?: Session<TData>
    /** Instead of the routes that the agent has. */
    readonly routes?: readonly Route<TData, TContext>[]
    /** What the user gave in another way than words. */
    readonly values?: RawValues<NoInfer<TData>>
    /** The conversation so far: `messageList` of the last turn. */
    readonly messageList?: MessageList
  }

/** A turn that is about to be made. */
export interface RespondCall<TData, TContext, TOOLS extends ToolSet> {
  readonly routes: readonly Route<TData, TContext>[]
  readonly options: RespondCallOptions<TData, TContext, TOOLS>
}

/**
 * Puts agent, defaults and turn together. The memory stays out: what a batch writes to itself is no conversation, and the
 * session and the list of each turn are the caller's to keep.
 *
 * Throws: `no-routes`.
 */
export async function respondOptionsFor<TData, TContext, TOOLS extends ToolSet>(
  config: AgentConfig<TOOLS, never>,
  { routes, options }: RespondCall<TData, TContext, TOOLS>,
): Promise<RespondOptions<TData, TContext, TOOLS>> {
  if (routes.length === 0)
    throw new AgentError(
      'no-routes',
      'The agent has no route to respond on. Make one with agent.createRoute(…), or give { routes }.',
    )
  const { session, values, messageList, ...rest } = options
  const { context, routes: _, ...call } = rest as typeof rest & { readonly context?: TContext }
  const { memory: _memory, ...own } = config
  const run = await runOptionsFor<TOOLS, never>(own, { messages: [], options: call as CallOptions<TOOLS, never> })
  const conversation = (messageList ?? run.messageList).fork()
  conversation.replaceAllSystemMessages(run.messageList.getAllSystemMessages())
  const { structuredOutput: _asked, hold: _hold, ...settings } = run
  return {
    ...settings,
    messageList: conversation,
    routes,
    ...(session === undefined ? {} : { session }),
    ...(values === undefined ? {} : { values }),
    ...(context === undefined ? {} : { context }),
  } as unknown as RespondOptions<TData, TContext, TOOLS>
}
