// A model call of a processor's own: outside the conversation, outside the stream, inside the accounts.
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { MessageList } from '@lockstep/message-list'
import type { ModelCallRequest, ModelCallResult, StructuredOutput } from '@lockstep/processors'
import type { LanguageModelUsage } from 'ai'
import { asLanguageModelUsage, createNullLanguageModelUsage } from '../ai-internal.ts'
import { LoopError } from '../errors.ts'
import { readObject, responseFormatOf } from '../object/structured-answer.ts'
import { noResponse } from '../step/step-result-of.ts'
import { nextPart, PartStream, startModelCall } from './model-call.ts'

/** What a run has to do with a call that is not its own. */
export interface DetachedCallAccount {
  readonly abortSignal: AbortSignal
  /** Told what the provider reported, also when its answer is of no use. */
  readonly book: (usage: LanguageModelUsage) => void
}

/** Calls a model and collects its text. */
export async function callDetached(
  model: LanguageModelV4,
  request: ModelCallRequest,
  account: DetachedCallAccount,
): Promise<ModelCallResult> {
  const { book } = account
  const abortSignal = request.abortSignal
    ? AbortSignal.any([account.abortSignal, request.abortSignal])
    : account.abortSignal
  const { model: _, instructions: _instructions, prompt: _prompt, structuredOutput, ...settings } = request
  const format = structuredOutput === undefined ? {} : { responseFormat: await responseFormatOf(structuredOutput) }
  const call = { ...settings, ...format, prompt: detachedPrompt(request), abortSignal }
  const { stream } = await startModelCall(model, call, undefined)
  const parts = new PartStream(stream, abortSignal)
  let result: ModelCallResult = {
    text: '',
    object: undefined,
    finishReason: 'other',
    usage: createNullLanguageModelUsage(),
  }
  let finished = false
  try {
    for (let part = await nextPart(parts); part !== undefined; part = await nextPart(parts)) {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') result = { ...result, text: result.text + part.delta }
      if (part.type !== 'finish' || finished) continue
      finished = true
      result = { ...result, finishReason: part.finishReason.unified, usage: asLanguageModelUsage(part.usage) }
      book(result.usage)
    }
  } finally {
    parts.close()
  }
  if (!finished)
    throw new LoopError(
      'incomplete-stream',
      `The stream of '${model.provider}/${model.modelId}' ended without saying that it was finished. Call again.`,
    )
  return structuredOutput === undefined ? result : { ...result, object: await objectOf(result, structuredOutput) }
}

/** The object of an answer. Throws: the AI SDK's `NoObjectGeneratedError`, unless the request says what to do instead. */
async function objectOf(result: ModelCallResult, request: StructuredOutput): Promise<unknown> {
  const { text, finishReason, usage } = result
  const outcome = await readObject(request, text, { finishReason, usage, response: noResponse })
  if ('object' in outcome) return outcome.object
  if (request.errorStrategy === 'fallback') return request.fallbackValue
  if (request.errorStrategy === 'warn') return undefined
  throw outcome.error
}

/** The prompt of a detached call. */
export function detachedPrompt({
  prompt,
  instructions,
}: Pick<ModelCallRequest, 'prompt' | 'instructions'>): LanguageModelV4Prompt {
  const list = new MessageList()
  if (instructions !== undefined) list.addSystem(instructions)
  list.add(prompt as string, 'input')
  return list.get.all.prompt()
}
