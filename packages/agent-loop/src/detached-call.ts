// A model call of a processor's own: outside the conversation, outside the stream, inside the accounts.
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { MessageList } from '@lockstep/message-list'
import type { ModelCallRequest, ModelCallResult } from '@lockstep/processors'
import { asLanguageModelUsage, createNullLanguageModelUsage } from './ai-internal.ts'
import { LoopError } from './errors.ts'
import { PartStream, startModelCall } from './model-call.ts'

/** Calls a model and collects its text. */
export async function callDetached(
  model: LanguageModelV4,
  request: ModelCallRequest,
  abortSignal: AbortSignal,
): Promise<ModelCallResult> {
  const { model: _, instructions, prompt, ...settings } = request
  const { stream } = await startModelCall(
    model,
    { ...settings, prompt: promptOf(prompt, instructions), abortSignal },
    undefined,
  )
  const parts = new PartStream(stream, abortSignal)
  let result: ModelCallResult = { text: '', finishReason: 'other', usage: createNullLanguageModelUsage() }
  let finished = false
  try {
    for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') result = { ...result, text: result.text + part.delta }
      if (part.type !== 'finish') continue
      finished = true
      result = { ...result, finishReason: part.finishReason.unified, usage: asLanguageModelUsage(part.usage) }
    }
  } finally {
    parts.close()
  }
  if (!finished)
    throw new LoopError(
      'incomplete-stream',
      `The stream of '${model.provider}/${model.modelId}' ended without saying that it was finished. Call again.`,
    )
  return result
}

function promptOf(prompt: ModelCallRequest['prompt'], instructions: string | undefined): LanguageModelV4Prompt {
  const list = new MessageList()
  if (instructions !== undefined) list.addSystem(instructions)
  list.add(prompt as string, 'input')
  return list.get.all.prompt()
}
