// The subpath `@lockstep/agent/ui`: a run as a UI message stream, for `useChat` and the AI SDK's other clients.
import { errorText } from '@lockstep/agent-loop'
import {
  planProcessors,
  type Chunk,
  type ChunkNamed,
  type ProcessorArrays,
  type TripwirePayload,
} from '@lockstep/processors'
import {
  createUIMessageStreamResponse,
  type InferUIMessageChunk,
  type InferUITools,
  type ToolSet,
  type UIDataTypes,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import type { AgentStream } from '../stream/agent-stream.ts'
import { UIMessageView } from './ui-message-view.ts'

/** The data parts that a run leaves in a message besides those of the application. */
export type RunDataParts = {
  /** A processor refused what would have followed. What it refused is not in the message. */
  tripwire: Pick<TripwirePayload, 'reason' | 'processorId' | 'metadata'>
  /** The structured output. */
  object: unknown
}

type ToolsOf<AGENT> = AGENT extends { stream(input: never): AgentStream<infer TOOLS, unknown> } ? TOOLS : never

/**
 * A message of a chat with an agent, on both sides: typed by the agent's tools, by what its runs leave in a message, and by
 * the application's own data parts.
 *
 * @example
 * type ShopMessage = InferUIMessage<typeof agent, { retry: { reason: string } }>
 * const { messages } = useChat<ShopMessage>()
 */
export type InferUIMessage<AGENT, DATA extends UIDataTypes = Record<never, unknown>, METADATA = unknown> = UIMessage<
  METADATA,
  RunDataParts & DATA,
  InferUITools<ToolsOf<AGENT>>
>

/** What decides how much of a run may still be taken back, and which tools are the server's to run. */
export type RunPlan = ProcessorArrays & { readonly tools?: ToolSet; readonly hold?: 'step' | 'run' }

/** What the client is told. */
export interface UIMessageStreamOptions<UI_MESSAGE extends UIMessage = UIMessage> {
  /** True when absent. */
  readonly sendReasoning?: boolean
  /** False when absent. */
  readonly sendSources?: boolean
  /** The text for an error of the run, and for errors of tools when `redactToolErrors` says so. `'An error occurred.'` when absent. */
  readonly onError?: (error: unknown) => string
  /** Gives errors of tools to `onError` too. True with `onError`; else the client reads what the model read. */
  readonly redactToolErrors?: boolean
  /** Metadata of the message: what it gives for `start` and `finish` is merged. */
  readonly messageMetadata?: (chunk: ChunkNamed<'start' | 'finish'>) => UI_MESSAGE['metadata'] | undefined
  /** The messages that the client sent. When an assistant's is the last, the client goes on in it, and so does the stream. */
  readonly originalMessages?: readonly UI_MESSAGE[]
  /**
   * What the run was started with. Without it every step counts as one that may be taken back, and every tool as the
   * client's, which is never wrong and shows some things later.
   */
  readonly plan?: () => PromiseLike<RunPlan> | RunPlan
}

/**
 * Makes the stream that `useChat` reads.
 *
 * *Order*: a step that is tried again is taken back with `reset-step`; a refused response is taken back whole and leaves a
 * `data-tripwire` part. A client's own tools become available when the run ends waiting for them.
 * *Reading*: nothing runs before the first read. Cancelling it leaves the chunks, and with them the run when nobody else
 * reads or awaits it.
 */
export function toUIMessageStream<UI_MESSAGE extends UIMessage = UIMessage>(
  chunks: AsyncIterable<Chunk>,
  options: UIMessageStreamOptions<UI_MESSAGE> = {},
): ReadableStream<InferUIMessageChunk<UI_MESSAGE>> {
  const source = chunks[Symbol.asyncIterator]()
  let view: UIMessageView | undefined
  return new ReadableStream<InferUIMessageChunk<UI_MESSAGE>>(
    {
      async pull(controller) {
        view ??= viewOf(options as UIMessageStreamOptions, await options.plan?.())
        let told: readonly UIMessageChunk[] = []
        while (told.length === 0) {
          const next = await source.next()
          if (next.done) return controller.close()
          told = view.read(next.value)
        }
        for (const chunk of told) controller.enqueue(chunk as InferUIMessageChunk<UI_MESSAGE>)
      },
      async cancel() {
        await source.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** `toUIMessageStream` as the response of a server, as server-sent events. */
export function toUIMessageStreamResponse<UI_MESSAGE extends UIMessage = UIMessage>(
  chunks: AsyncIterable<Chunk>,
  options: UIMessageStreamOptions<UI_MESSAGE> & UIResponseInit = {},
): Response {
  const { status, statusText, headers, keepAliveMs, consumeSseStream, ...view } = options
  const init = { status, statusText, headers, keepAliveMs, consumeSseStream }
  const stream = toUIMessageStream<UI_MESSAGE>(chunks, view)
  return createUIMessageStreamResponse({ ...init, stream } as Parameters<typeof createUIMessageStreamResponse>[0])
}

/** Of the response: status, headers, how it is kept alive, and who reads along. */
export type UIResponseInit = Omit<Parameters<typeof createUIMessageStreamResponse>[0], 'stream'>

function viewOf(options: UIMessageStreamOptions, plan: RunPlan | undefined): UIMessageView {
  const { onError = () => 'An error occurred.', redactToolErrors = options.onError !== undefined } = options
  return new UIMessageView({
    tools: plan?.tools,
    mayWithdrawResponse: plan === undefined || mayWithdrawResponse(plan),
    sendReasoning: options.sendReasoning ?? true,
    sendSources: options.sendSources ?? false,
    error: onError,
    toolError: redactToolErrors ? onError : errorText,
    continuedId: continuedId(options.originalMessages),
    metadata: chunk => options.messageMetadata?.(chunk),
  })
}

function continuedId(messages: readonly UIMessage[] = []): string | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' ? last.id : undefined
}

/** A processor that sees the end of the response may refuse all of it, unless nothing of it was shown until then. */
function mayWithdrawResponse(plan: RunPlan): boolean {
  const { processors, processOutputResult, processOutputStream } = planProcessors(plan)
  const isHeld = plan.hold === 'run' || processors.some(({ hold }) => hold === 'run')
  return !isHeld && processOutputResult.length + processOutputStream.length > 0
}
