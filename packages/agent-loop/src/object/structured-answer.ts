// From the text of an answer to the object that was asked for, by the AI SDK's own reading of it.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ObjectRequest, StepResult } from '@lockstep/processors'
import { NoObjectGeneratedError, Output } from 'ai'

/** What an answer was read as. */
export type ObjectOutcome = { readonly object: unknown } | { readonly error: unknown }

/** What an error about an answer tells of the call that gave it. */
export type AnswerContext = Pick<StepResult, 'finishReason' | 'usage' | 'response'>

/** An answer that is not the object that the step asked for. `cause` is the AI SDK's `NoObjectGeneratedError`. */
export class InvalidObject extends Error {
  constructor(error: unknown) {
    super(issuesOf(error), { cause: error })
  }
}

const outputs = new WeakMap<ObjectRequest, ReturnType<typeof Output.object>>()

function outputFor(request: ObjectRequest): ReturnType<typeof Output.object> {
  let output = outputs.get(request)
  if (!output) {
    output = Output.object(request)
    outputs.set(request, output)
  }
  return output
}

/** What a provider is told about the object. */
export function responseFormatOf(request: ObjectRequest): PromiseLike<LanguageModelV4CallOptions['responseFormat']> {
  return outputFor(request).responseFormat
}

/** Reads and checks a whole answer. */
export async function readObject(request: ObjectRequest, text: string, context: AnswerContext): Promise<ObjectOutcome> {
  const { finishReason, usage, response } = context
  const { id = '', modelId = '', timestamp = new Date(0), headers } = response
  const metadata = { id, modelId, timestamp, ...(headers === undefined ? {} : { headers: { ...headers } }) }
  try {
    return {
      object: await outputFor(request).parseCompleteOutput({ text }, { finishReason, usage, response: metadata }),
    }
  } catch (error) {
    return { error }
  }
}

/** What is wrong with an answer, as the model reads it. */
function issuesOf(error: unknown): string {
  if (!NoObjectGeneratedError.isInstance(error)) return String(error)
  const { cause, finishReason } = error
  const cut = finishReason === 'length' ? ' It was cut off by the limit of tokens: be shorter.' : ''
  return `${error.message} ${issueLines(cause) ?? (cause instanceof Error ? firstLine(cause.message) : '')}${cut}`.trim()
}

/** The issues of a schema, where it lists them. */
function issueLines(error: unknown): string | undefined {
  const { issues, cause } = (error ?? {}) as { readonly issues?: unknown; readonly cause?: unknown }
  if (!Array.isArray(issues)) return cause === undefined ? undefined : issueLines(cause)
  return issues
    .map(({ path, message }: { readonly path?: readonly unknown[]; readonly message?: string }) => {
      const place = (path ?? []).map(keyOf).join('.')
      return `${place === '' ? 'The object' : place}: ${message ?? 'does not fit'}`
    })
    .join('; ')
}

/** Standard Schema has segments as well as keys in a path. */
function keyOf(segment: unknown): string {
  return String(typeof segment === 'object' && segment !== null && 'key' in segment ? segment.key : segment)
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}

/** Reads answers; one that was read before is not read again. */
export class ObjectReader {
  #last: { readonly request: ObjectRequest; readonly text: string; readonly outcome: ObjectOutcome } | undefined

  async read(request: ObjectRequest, text: string, context: AnswerContext): Promise<ObjectOutcome> {
    if (this.#last?.request === request && this.#last.text === text) return this.#last.outcome
    const outcome = await readObject(request, text, context)
    this.#last = { request, text, outcome }
    return outcome
  }
}
