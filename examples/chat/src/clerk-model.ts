// The model of this example: a clerk that follows rules. It speaks the specification of the AI SDK as any provider does.
import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** Waits between two words, so that there is something to see. */
export type Pace = (word: string) => Promise<void>

type Turn = { readonly text: string } | { readonly toolName: string; readonly input: object }

/** Makes the clerk. It is no language model: it knows a handful of sentences, and says so when asked anything else. */
export function clerkModel(pace: Pace): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'example',
    modelId: 'scripted-clerk',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('The clerk only speaks as it goes: use doStream.')),
    doStream: ({ prompt }) => Promise.resolve({ stream: spoken(turnFor(prompt), pace) }),
  }
}

function turnFor(prompt: LanguageModelV4Prompt): Turn {
  const last = prompt.at(-1)
  if (last?.role === 'tool') return { text: report(last.content) }
  const asked = textOf(prompt.findLast(message => message.role === 'user')).toLowerCase()
  const wasCorrected = textOf(prompt.findLast(message => message.role === 'system')).includes('No promises')
  const order = /\b(?:order|buy)\s+(\d+)?\s*(?:bags? of\s+)?(\w+)/.exec(asked)
  if (order) return { toolName: 'placeOrder', input: { item: order[2], quantity: Number(order[1] ?? 1) } }
  if (asked.includes('when'))
    return {
      text: wasCorrected
        ? 'Usually within two days of your order.'
        : 'It is with you tomorrow, guaranteed, whatever happens.',
    }
  if (asked.includes('discount')) return { text: 'Between us, the code for staff is TEA-STAFF-50, use it at the till.' }
  if (asked.includes('supplier')) return { text: 'We buy with the key AKIAIOSFODNN7EXAMPLE at the market.' }
  if (asked.includes('tea')) return { toolName: 'findTea', input: {} }
  return {
    text: 'I am a scripted clerk and no language model. Ask me which teas there are, when they come, or order 2 bags of oolong.',
  }
}

function report(content: readonly object[]): string {
  const outputs = content.flatMap(part => ('output' in part ? [part.output as { type: string; value?: unknown }] : []))
  if (outputs.some(output => output.type === 'execution-denied')) return 'As you like: nothing was ordered.'
  const [value] = outputs.map(output => output.value as { teas?: readonly string[]; ordered?: string })
  return value?.teas ? `We have ${value.teas.join(', ')}.` : `Done: ${value?.ordered ?? 'nothing'} on its way.`
}

function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (!message) return ''
  if (typeof message.content === 'string') return message.content
  return message.content.map(part => (part.type === 'text' ? part.text : '')).join('')
}

function spoken(turn: Turn, pace: Pace): ReadableStream<LanguageModelV4StreamPart> {
  const parts = partsOf(turn)
  return new ReadableStream({
    async pull(controller) {
      const { value: part, done } = parts.next()
      if (done) return controller.close()
      if (part.type === 'text-delta') await pace(part.delta)
      controller.enqueue(part)
    },
  })
}

let callCount = 0

function* partsOf(turn: Turn): Generator<LanguageModelV4StreamPart, void, void> {
  yield { type: 'stream-start', warnings: [] }
  if ('text' in turn) {
    yield { type: 'text-start', id: 'said' }
    for (const [word] of turn.text.matchAll(/\S+\s*/g)) yield { type: 'text-delta', id: 'said', delta: word }
    yield { type: 'text-end', id: 'said' }
  } else {
    const { toolName, input } = turn
    yield { type: 'tool-call', toolCallId: `call-${++callCount}`, toolName, input: JSON.stringify(input) }
  }
  const words = 'text' in turn ? turn.text.split(' ').length : 1
  yield {
    type: 'finish',
    finishReason: { unified: 'text' in turn ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: words, text: words, reasoning: undefined },
    },
  }
}
