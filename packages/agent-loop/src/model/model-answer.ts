// The answer of the model, read to its end: each part through the reader and the processors, whatever the provider does.
import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  frozenCopy,
  isPromiseLike,
  type CachedResponse,
  type Chunk,
  type ChunkNamed,
  type MaybePromise,
  type StepSettings,
  type ToolOutcome,
} from '@lockstep/processors'
import type { Attempt } from '../step/attempt.ts'
import { LoopError } from '../errors.ts'
import { activeToolsOf, callSettings } from './call-settings.ts'
import { PartStream, startModelCall, type PartListener, type PartRead, type PartSource } from './model-call.ts'
import { PartReader } from './part-reader.ts'
import type { Run } from '../run/run.ts'
import { StreamWatch } from '../run/timeouts.ts'
import { parseToolCall } from '../tools/tool-input.ts'

/** A failure of the provider, so that it is not mistaken for one of a processor. `cause` is the provider's own error. */
export class ProviderFailure extends Error {
  constructor(error: unknown) {
    super('The model call failed.', { cause: error })
  }
}

/** What is asked: a prompt, and an answer when a processor had one already. */
export interface AnswerRequest {
  readonly prompt: LanguageModelV4Prompt
  readonly response: CachedResponse | undefined
}

/**
 * Reads the model's answer into the attempt. Gives the raw parts when some processor wants them.
 *
 * *Throws*: `ProviderFailure`, what a processor threw, or the reason of an abort.
 */
export async function readAnswer(
  run: Run,
  attempt: Attempt,
  request: AnswerRequest,
): Promise<readonly LanguageModelV4StreamPart[] | undefined> {
  const { settings } = attempt.prepared!
  const recorded: LanguageModelV4StreamPart[] | undefined =
    run.runner.plan.processLLMResponse.length > 0 ? [] : undefined
  const reader = readerFor(run, settings)
  if (run.telemetry) await run.telemetry.promptReady(settings, request.prompt)
  const parts = await partsFor(run, attempt, request)
  try {
    for (;;) {
      const coming = parts.read()
      if (attempt.hasWishes) await attempt.releaseUntil(coming)
      let read: PartRead
      try {
        read = await coming
      } catch (error) {
        throw parts.failed(error)
      }
      const part = parts.took(read)
      if (part === undefined) break
      recorded?.push(part)
      if (part.type === 'tool-call') attempt.writtenInputs.set(part.toolCallId, part.input)
      const isFirstEnd = part.type === 'finish' && !reader.summary
      const chunks = reader.read(part)
      const taken = takeAll(
        run,
        attempt,
        isPromiseLike(chunks) ? await run.whileRunning(chunks) : (chunks as Chunk | readonly Chunk[] | undefined),
      )
      if (isPromiseLike(taken)) await taken
      if (isFirstEnd) run.usage.book(reader.summary!.usage)
      if (reader.failure) throw new ProviderFailure(reader.failure.error)
    }
  } finally {
    parts.close()
  }
  for (const chunk of reader.close()) await attempt.takeInOrder(chunk)
  const flushed = attempt.flush('finish')
  if (flushed) await flushed
  attempt.info.warnings = frozenCopy(reader.warnings)
  attempt.summary = reader.summary
  if (!reader.summary) throw new ProviderFailure(incomplete(settings))
  return recorded
}

function readerFor(run: Run, settings: StepSettings): PartReader {
  return new PartReader({
    runId: run.runId,
    idPrefix: `${run.stepNumber}.${run.attemptNumber}.`,
    parseToolCall: call =>
      parseToolCall(call, {
        tools: activeToolsOf(settings),
        repairToolCall: run.options.repairToolCall,
        abortSignal: run.signal,
      }),
  })
}

function takeAll(run: Run, attempt: Attempt, chunks: Chunk | readonly Chunk[] | undefined): MaybePromise<void> {
  if (chunks === undefined) return
  if (Array.isArray(chunks)) return takeEach(run, attempt, chunks as readonly Chunk[])
  return takeOne(run, attempt, chunks as Chunk)
}

async function takeEach(run: Run, attempt: Attempt, chunks: readonly Chunk[]): Promise<void> {
  for (const chunk of chunks) await takeOne(run, attempt, chunk)
}

function takeOne(run: Run, attempt: Attempt, chunk: Chunk): MaybePromise<void> {
  if (chunk.type === 'tool-call') {
    const { toolCallId, input, invalid, error } = chunk.payload
    const shown = frozenCopy(input)
    attempt.parsedCalls.set(toolCallId, { input, shown, error: invalid ? error : undefined, stored: undefined })
    return attempt.takeInOrder({ ...chunk, payload: { ...chunk.payload, input: shown } })
  }
  if (chunk.type === 'tool-result' || chunk.type === 'tool-error') return takeProviderResult(run, attempt, chunk)
  if (chunk.type === 'response-metadata') attempt.info.metadata = { ...attempt.info.metadata, ...chunk.payload }
  return attempt.takeInOrder(chunk)
}

/** A result of the provider passes processToolResult as any other: the model has seen it, nobody else has. */
function takeProviderResult(
  run: Run,
  attempt: Attempt,
  chunk: ChunkNamed<'tool-result' | 'tool-error'>,
): MaybePromise<void> {
  if (run.runner.plan.processToolResult.length === 0) return attempt.takeInOrder(chunk)
  const { toolCallId, toolName } = chunk.payload
  const input = attempt.parsedCalls.get(toolCallId)?.shown
  const outcome: ToolOutcome =
    chunk.type === 'tool-error'
      ? { error: chunk.payload.error }
      : { output: chunk.payload.output, preliminary: chunk.payload.preliminary === true }
  const toolCall = { toolCallId, toolName, input, providerExecuted: true }
  const reviewed = run.runner.runProcessToolResult({ position: run.position, toolCall, outcome })
  const take = (result: ToolOutcome) => {
    // A value on the way to the last that a processor made an error of is not shown.
    if (outcome.preliminary && result.error !== undefined) return
    return attempt.takeInOrder(withOutcome(chunk, result))
  }
  return isPromiseLike(reviewed) ? reviewed.then(take) : take(reviewed as ToolOutcome)
}

/** The chunk of what the processors left of a result: an error may have become an output, or an output an error. */
function withOutcome(chunk: ChunkNamed<'tool-result' | 'tool-error'>, { error, output }: ToolOutcome): Chunk {
  const envelope = { runId: chunk.runId, from: chunk.from } as const
  if (chunk.type === 'tool-result') {
    const { output: _, preliminary, ...call } = chunk.payload
    if (error !== undefined) return { ...envelope, type: 'tool-error', payload: { ...call, error } }
    return { ...envelope, type: 'tool-result', payload: { ...call, output, ...(preliminary ? { preliminary } : {}) } }
  }
  const { error: _, ...call } = chunk.payload
  if (error !== undefined) return { ...envelope, type: 'tool-error', payload: { ...call, error } }
  return { ...envelope, type: 'tool-result', payload: { ...call, output } }
}

/** The parts of the answer: those that a processor had, or the provider's as they come. */
async function partsFor(run: Run, attempt: Attempt, { prompt, response }: AnswerRequest): Promise<PartSource> {
  if (response) return replay(response)
  const { settings } = attempt.prepared!
  const watch = new AnswerWatch(run)
  try {
    const known = callSettings(settings, run.options.toolsContext)
    const options = { ...(isPromiseLike(known) ? await known : known), prompt, abortSignal: watch.signal }
    const call = () => startModelCall(settings.model, options, settings.modelSettings.maxRetries)
    const answer = await (run.telemetry ? run.telemetry.callModel(settings.model, options, call) : call())
    if (answer.request?.body !== undefined) attempt.info.request = Object.freeze({ body: answer.request.body })
    attempt.info.headers = frozenCopy(answer.response?.headers)
    return new PartStream(answer.stream, watch.signal, watch)
  } catch (error) {
    throw watch.failed(error)
  }
}

/** Keeps the provider to its time, and tells who listens what it sends. */
class AnswerWatch implements PartListener {
  readonly #run: Run
  readonly #time: StreamWatch

  constructor(run: Run) {
    this.#run = run
    this.#time = new StreamWatch(run.timeouts, run.signal)
  }

  get signal(): AbortSignal {
    return this.#time.signal
  }

  awaited(): void {
    this.#time.wait()
  }

  heard(part: LanguageModelV4StreamPart | undefined): void {
    this.#time.heard()
    this.#run.telemetry?.heard(part)
  }

  failed(error: unknown): unknown {
    this.#time.close()
    const { signal } = this.#run
    return signal.aborted ? signal.reason : new ProviderFailure(error)
  }

  closed(): void {
    this.#time.close()
  }
}

function replay({ chunks }: CachedResponse): PartSource {
  const parts = chunks.values()
  return {
    read: () => Promise.resolve({ value: parts.next().value }),
    took: ({ value }) => value,
    failed: error => error,
    close: () => {},
  }
}

function incomplete({ model: { provider, modelId } }: StepSettings): LoopError {
  return new LoopError(
    'incomplete-stream',
    `The stream of '${provider}/${modelId}' ended without saying that it was finished, so what came cannot be taken for an answer. Try again.`,
  )
}
