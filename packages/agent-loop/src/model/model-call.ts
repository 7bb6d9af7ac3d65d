// One call of the model: transport retries, the raw error, and a stream that stops when the run is aborted.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import { untilAborted, type StepSettings } from '@lockstep/processors'
import { RetryError, type ToolSet } from 'ai'
import { responseFormatOf } from '../object/structured-answer.ts'
import { prepareCallSettings, prepareRetries, prepareToolChoice, prepareTools } from '../ai-internal.ts'

/** What the model is called with, besides the prompt. */
export async function callOptions(
  settings: StepSettings,
  { abortSignal, toolsContext = {} }: { readonly abortSignal: AbortSignal; readonly toolsContext: object | undefined },
): Promise<Omit<LanguageModelV4CallOptions, 'prompt'>> {
  const { headers, maxRetries: _, ...sampling } = settings.modelSettings
  const tools = await describedTools(activeToolsOf(settings), toolsContext)
  return {
    ...prepareCallSettings(sampling),
    ...(tools === undefined ? {} : { tools, toolChoice: prepareToolChoice({ toolChoice: settings.toolChoice }) }),
    ...(settings.structuredOutput === undefined
      ? {}
      : { responseFormat: await responseFormatOf(settings.structuredOutput) }),
    ...(headers === undefined ? {} : { headers }),
    ...(settings.providerOptions === undefined ? {} : { providerOptions: settings.providerOptions }),
    abortSignal,
  }
}

/** The tools that a step may call. */
export function activeToolsOf({ tools, activeTools }: Pick<StepSettings, 'tools' | 'activeTools'>): ToolSet {
  if (activeTools === undefined) return tools
  return Object.fromEntries(activeTools.filter(name => Object.hasOwn(tools, name)).map(name => [name, tools[name]!]))
}

const descriptions = new WeakMap<ToolSet, ReturnType<typeof prepareTools>>()

/** Tool descriptions are made once per set of tools, not once per step, unless they depend on a context. */
function describedTools(tools: ToolSet, toolsContext: object): ReturnType<typeof prepareTools> {
  let described = descriptions.get(tools)
  if (!described) {
    described = prepareTools({ tools, toolsContext })
    if (Object.values(tools).some(tool => typeof tool.description === 'function')) return described
    descriptions.set(tools, described)
  }
  return described
}

/**
 * Starts a call. The transport tries again where that can help (429, 5xx, a connection that could not be made), waiting
 * as `Retry-After` says.
 *
 * *Throws*: the provider's last error, not wrapped.
 */
export async function startModelCall(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  maxRetries: number | undefined,
): Promise<LanguageModelV4StreamResult> {
  const { retry } = prepareRetries({ maxRetries, abortSignal: options.abortSignal })
  try {
    return await retry(() => startedOrAborted(model, options))
  } catch (error) {
    throw RetryError.isInstance(error) ? error.lastError : error
  }
}

/** A provider that does not listen to its signal is not waited for; what it starts late is ended at once. */
async function startedOrAborted(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const { abortSignal } = options
  const call = model.doStream(options)
  if (!abortSignal) return call
  try {
    return await untilAborted(call, abortSignal)
  } catch (error) {
    if (abortSignal.aborted)
      call.then(
        ({ stream }) => stream.cancel(abortSignal.reason).catch(() => {}),
        () => {},
      )
    throw error
  }
}

/** What somebody wants to know of a stream while it is read. */
export interface PartListener {
  heard(part: LanguageModelV4StreamPart | undefined): void
  /** Makes the error that the reader is given. */
  failed(error: unknown): unknown
}

/**
 * Reads a provider's stream. Aborting the signal ends a read that is under way, whether the provider listens or not.
 *
 * *Cost*: one promise a part, besides the stream's own.
 */
export class PartStream {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>
  readonly #signal: AbortSignal
  readonly #listener: PartListener | undefined
  readonly #cancel: () => void

  constructor(stream: ReadableStream<LanguageModelV4StreamPart>, signal: AbortSignal, listener?: PartListener) {
    this.#reader = stream.getReader()
    this.#signal = signal
    this.#listener = listener
    this.#cancel = () => void this.#reader.cancel(signal.reason).catch(() => {})
    if (signal.aborted) this.#cancel()
    signal.addEventListener('abort', this.#cancel, { once: true })
  }

  /** The next part, or undefined at the end. Throws: the signal's reason when it is aborted. */
  next(): Promise<LanguageModelV4StreamPart | undefined> {
    return this.#reader.read().then(this.#take, this.#fail)
  }

  readonly #take = ({ value }: { readonly value?: LanguageModelV4StreamPart | undefined }) => {
    if (this.#signal.aborted) return this.#fail(undefined)
    this.#listener?.heard(value)
    return value
  }

  readonly #fail = (error: unknown): never => {
    const reason: unknown = this.#signal.aborted ? this.#signal.reason : error
    throw this.#listener ? this.#listener.failed(reason) : reason
  }

  /** Leaves the stream, whatever is left in it. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#cancel)
    void this.#reader.cancel().catch(() => {})
  }
}
