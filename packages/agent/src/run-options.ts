// From an agent and a call to the options of one run.
import type { RunLoopOptions } from '@lockstep/agent-loop'
import { MessageList, type MessageInput } from '@lockstep/message-list'
import { RequestContext, type Processor } from '@lockstep/processors'
import { loadBuiltin, type BuiltinChoice } from '@lockstep/processors-builtin'
import type { ToolSet } from 'ai'
import type { AgentConfig, AgentInput, CallOptions, PerRequest, ProcessorChoice } from './agent-options.ts'
import { checkList, checkMemory, checkRequestContext } from './check-options.ts'
import { AgentError } from './errors.ts'

/** A call with its input apart from its options. */
export interface AgentCall<TOOLS extends ToolSet, OBJECT> {
  readonly messages: readonly MessageInput[]
  readonly options: CallOptions<TOOLS, OBJECT>
}

/** Reads the forms in which a call may be made. Throws: `invalid-input`. */
export function readCall<TOOLS extends ToolSet, OBJECT>(
  input: AgentInput<TOOLS, OBJECT>,
  options: CallOptions<TOOLS, OBJECT> = {},
): AgentCall<TOOLS, OBJECT> {
  if (typeof input === 'string') return { messages: [input], options }
  if (Array.isArray(input)) return { messages: input as readonly MessageInput[], options }
  if (typeof input !== 'object' || input === null)
    throw new AgentError(
      'invalid-input',
      `The input is ${String(input)}. Give a string, messages, or { prompt } or { messages }.`,
    )
  if ('role' in input) return { messages: [input as MessageInput], options }
  const { prompt, messages, ...own } = input as {
    readonly prompt?: string | readonly MessageInput[]
    readonly messages?: readonly MessageInput[]
  }
  if ((prompt === undefined) === (messages === undefined))
    throw new AgentError(
      'invalid-input',
      `The input has the keys ${JSON.stringify(Object.keys(input))}. Give exactly one of prompt and messages.`,
    )
  return {
    messages: [prompt ?? messages ?? []].flat() as readonly MessageInput[],
    options: { ...own, ...options } as CallOptions<TOOLS, OBJECT>,
  }
}

/** Puts agent, defaults and call together; the call wins, then the defaults. Throws: `invalid-option`. */
export async function runOptionsFor<TOOLS extends ToolSet, OBJECT>(
  config: AgentConfig<TOOLS, OBJECT>,
  call: AgentCall<TOOLS, OBJECT>,
): Promise<RunLoopOptions<TOOLS, OBJECT>> {
  const given = { ...config.defaultGenerateOptions, ...config.defaultOptions, ...definedOf(call.options) }
  const { instructions, context, inputProcessors, outputProcessors, errorProcessors, ...own } = given
  const { threadId: ownThreadId, resourceId: ownResourceId, ...run } = own
  const requestContext = given.requestContext ?? new RequestContext()
  checkRequestContext(requestContext)
  const threadId = ownThreadId ?? textIn(requestContext, 'threadId')
  const resourceId = ownResourceId ?? textIn(requestContext, 'resourceId')
  const resolve = <T>(value: PerRequest<T>) => resolved(value, requestContext)
  const [model, tools, input, output, error, system, memory] = await Promise.all([
    given.model ?? resolve(config.model),
    config.tools === undefined ? undefined : resolve(config.tools),
    processorsOf('inputProcessors', inputProcessors ?? (await resolve(config.inputProcessors))),
    processorsOf('outputProcessors', outputProcessors ?? (await resolve(config.outputProcessors))),
    processorsOf('errorProcessors', errorProcessors ?? (await resolve(config.errorProcessors))),
    instructions ?? resolve(config.instructions),
    resolve(config.memory),
  ])
  checkMemory(memory)
  const processors = { inputProcessors: input, outputProcessors: output, errorProcessors: error }
  const messageList = new MessageList(definedOf({ threadId, resourceId, generateId: given.generateId }))
  if (system !== undefined) messageList.addSystem(system)
  if (context) messageList.add(context, 'context')
  if (call.messages.length > 0) messageList.add(call.messages, 'input')
  const approvalSecret = given.approvalSecret ?? config.approvalSecret
  const maxProcessorRetries = given.maxProcessorRetries ?? config.maxProcessorRetries
  return definedOf({
    ...run,
    model,
    tools,
    messageList,
    requestContext,
    maxProcessorRetries,
    approvalSecret,
    telemetry: { functionId: config.id ?? config.name, ...given.telemetry },
    ...(memory?.around(processors) ?? processors),
  }) as RunLoopOptions<TOOLS, OBJECT>
}

function textIn(context: RequestContext, key: string): string | undefined {
  const value: unknown = context.get(key)
  return typeof value === 'string' ? value : undefined
}

async function resolved<T>(value: PerRequest<T>, requestContext: RequestContext): Promise<T> {
  return typeof value === 'function' ? (value as (request: object) => T | PromiseLike<T>)({ requestContext }) : value
}

/** Loads the builtins that are given by name; everything else is taken as it is, for the plan to check. */
async function processorsOf(
  name: string,
  choices: readonly ProcessorChoice[] | undefined,
): Promise<readonly Processor[]> {
  checkList(name, choices, 'processor')
  const processors: Processor[] = []
  for (const choice of choices ?? []) processors.push(isBuiltin(choice) ? await loadBuiltin(choice) : choice)
  return processors
}

function isBuiltin(choice: ProcessorChoice): choice is BuiltinChoice {
  return typeof choice === 'string' || Array.isArray(choice)
}

function definedOf<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}
