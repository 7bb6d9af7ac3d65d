// Repairs a conversation that a provider refuses because it ends with the assistant: a prefilled answer.
import type { Processor } from '@lockstep/processors'

/** Options of the prefill repair. */
export interface PrefillRepairOptions {
  /** What the model is told after its own words; `'Continue.'` when absent. */
  readonly message?: string
}

/**
 * A processor that asks for a retry when the provider refuses a prompt that ends with an assistant message. The retry has
 * a word of the user at its end, as context: it is no input, and a memory does not store it. Once in a run: a provider
 * that refuses that too has another reason.
 *
 * *Cost*: nothing until a call fails; then one more call.
 */
export function prefillRepair(
  options: PrefillRepairOptions = {},
): Processor<'prefill-repair', unknown, { isRepaired: boolean }> {
  const { message = 'Continue.' } = options
  return {
    id: 'prefill-repair',
    name: 'Prefill repair',
    description: 'Ends the conversation with the user where a provider wants that.',

    processAPIError({ error, messages, messageList, state }) {
      if (state.isRepaired || messages.at(-1)?.role !== 'assistant' || !refusesPrefill(error)) return
      state.isRepaired = true
      messageList.add(message, 'context')
      return { retry: true }
    },
  }
}

/** How providers say it: Anthropic and Bedrock, Mistral, Perplexity, Google. */
const refusals =
  /prefill|must end with a user message|end with a user role|last (message|role)[^.]{0,60}\b(user|tool)\b/i

function refusesPrefill(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { statusCode, message, responseBody } = error as {
    readonly statusCode?: unknown
    readonly message?: unknown
    readonly responseBody?: unknown
  }
  const isRefusal = statusCode === undefined || statusCode === 400 || statusCode === 422
  return isRefusal && [message, responseBody].some(text => typeof text === 'string' && refusals.test(text))
}
