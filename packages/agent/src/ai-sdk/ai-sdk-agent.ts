// The subpath `@lockstep/agent/ai-sdk`: an agent as the AI SDK knows agents, for everything that takes one.
import {
  UnsupportedFunctionalityError,
  type Agent as AISDKAgent,
  type AgentCallParameters,
  type AgentStreamParameters,
  type ModelMessage,
  type TextStreamPart,
  type TimeoutConfiguration,
  type ToolSet,
} from 'ai'
import type { CallOptions } from '../agent-options.ts'
import { holdsSteps, orThrow, type AgentStream } from '../stream/agent-stream.ts'
import { AISDKParts } from './ai-sdk-parts.ts'
import { generatedOf, stepOf, streamedOf } from './ai-sdk-result.ts'

/** What the AI SDK has to know about an agent besides itself. */
export interface AISDKAgentOptions<TOOLS extends ToolSet> {
  /** The agent's tools: with them the SDK checks and converts the messages of a client. */
  readonly tools?: TOOLS
  /**
   * How long output is kept, since what the SDK has read cannot be taken back. When absent, a step is kept until it was
   * accepted if something in the run may withdraw it, and shown as it comes otherwise.
   */
  readonly hold?: 'step' | 'run'
}

/** An agent of any tools and any object: all that the adapter needs of one. */
export interface AdaptableAgent {
  readonly id: string
  readonly stream: (input: readonly ModelMessage[], options: AdaptedCall) => Pick<AgentStream, 'fullStream' | 'result'>
}

type AdaptedCall = Pick<CallOptions, 'abortSignal' | 'timeout' | 'onStepFinish' | 'hold'>

type Call<TOOLS extends ToolSet> = AgentCallParameters<never, TOOLS> & AgentStreamParameters<never, TOOLS>

/**
 * Makes an agent of the AI SDK of one of ours. It works in `createAgentUIStreamResponse`, `pipeAgentUIStreamToResponse`,
 * `DirectChatTransport` and wherever else an `Agent` is taken.
 *
 * *Order*: a step that may be withdrawn is shown when it was accepted, since the SDK's stream cannot take anything back. A
 * tripwire ends the stream with the finish reason `other`. For retries and refusals that a page can show, use `toUIMessageStream`.
 * *Throws*: `UnsupportedFunctionalityError` for a parameter of a call that would be ignored.
 */
export function toAISDKAgent<TOOLS extends ToolSet = {}>(
  agent: AdaptableAgent,
  options: AISDKAgentOptions<TOOLS> = {},
): AISDKAgent<never, TOOLS> {
  const { tools = {} as TOOLS, hold } = options
  const start = (call: Call<TOOLS>) =>
    agent.stream(promptOf(call), { ...runOptionsOf(call), ...(hold === undefined ? {} : { hold }) })
  return {
    version: 'agent-v1',
    id: agent.id,
    tools,
    async generate(call) {
      return generatedOf<TOOLS>(orThrow(await start(call as Call<TOOLS>).result)) as never
    },
    async stream(parameters) {
      const call = parameters as Call<TOOLS>
      const stream = start(call)
      const open = () => transformed(partsOf<TOOLS>(stream, hold), call, tools)
      const result = async () => orThrow(await stream.result)
      return Promise.resolve(streamedOf<TOOLS>({ open, tools, result })) as never
    },
  }
}

const known: ReadonlySet<string> = new Set<keyof Call<ToolSet>>([
  'prompt',
  'messages',
  'abortSignal',
  'timeout',
  'onStepEnd',
  'onStepFinish',
  'experimental_transform',
])

function promptOf<TOOLS extends ToolSet>(call: Call<TOOLS>): readonly ModelMessage[] {
  for (const [key, value] of Object.entries(call))
    if (value !== undefined && !known.has(key))
      throw new UnsupportedFunctionalityError({ functionality: `the parameter '${key}' of an adapted agent` })
  const given = call.prompt ?? call.messages ?? []
  return typeof given === 'string' ? [{ role: 'user', content: given }] : given
}

function runOptionsOf<TOOLS extends ToolSet>(call: Call<TOOLS>): AdaptedCall {
  const { abortSignal, timeout } = call
  const onStepEnd = call.onStepEnd ?? call.onStepFinish
  return {
    ...(abortSignal ? { abortSignal } : {}),
    ...(timeout === undefined ? {} : { timeout: timeoutsOf(timeout) }),
    ...(onStepEnd ? { onStepFinish: step => onStepEnd(stepOf('', step) as never) } : {}),
  }
}

/** The SDK names the limit of a tool `<name>Ms`. */
function timeoutsOf<TOOLS extends ToolSet>(timeout: TimeoutConfiguration<TOOLS>): NonNullable<CallOptions['timeout']> {
  if (typeof timeout === 'number' || timeout.tools === undefined) return timeout as NonNullable<CallOptions['timeout']>
  const tools = Object.entries(timeout.tools as Record<string, number>).map(([key, ms]) => [key.replace(/Ms$/, ''), ms])
  return { ...timeout, tools: Object.fromEntries(tools) as Record<string, number> }
}

function partsOf<TOOLS extends ToolSet>(
  stream: Pick<AgentStream, 'fullStream' | 'result'>,
  hold: 'step' | 'run' | undefined,
): ReadableStream<TextStreamPart<TOOLS>> {
  const { fullStream } = stream
  let view: AISDKParts | undefined
  return new ReadableStream<TextStreamPart<TOOLS>>(
    {
      async pull(controller) {
        view ??= new AISDKParts(hold === undefined && (await holdsSteps(stream as AgentStream)))
        let parts: readonly TextStreamPart<ToolSet>[] = []
        while (parts.length === 0) {
          const next = await fullStream.next()
          if (next.done) return controller.close()
          parts = view.read(next.value)
        }
        for (const part of parts) controller.enqueue(part as TextStreamPart<TOOLS>)
      },
      async cancel() {
        await fullStream.return()
      },
    },
    { highWaterMark: 0 },
  )
}

/** The transforms of a call, in their order; `stopStream` of any ends what it gives. */
function transformed<TOOLS extends ToolSet>(
  stream: ReadableStream<TextStreamPart<TOOLS>>,
  { experimental_transform: given = [] }: Call<TOOLS>,
  tools: TOOLS,
): ReadableStream<TextStreamPart<TOOLS>> {
  const transforms = [given].flat()
  if (transforms.length === 0) return stream
  const stop = new AbortController()
  const source = transforms.reduce((piped, transform) => {
    const stopStream = () => stop.abort()
    return piped.pipeThrough(transform({ tools, stopStream }))
  }, stream)
  return source.pipeThrough(
    new TransformStream<TextStreamPart<TOOLS>, TextStreamPart<TOOLS>>({
      transform(part, controller) {
        if (stop.signal.aborted) controller.terminate()
        else controller.enqueue(part)
      },
    }),
  )
}
