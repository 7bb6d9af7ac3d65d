// What a part of a message costs in tokens, about.
import { isToolPart, type MessagePart } from '@lockstep/message-list'
import { estimateTokenCount } from 'tokenx'

/** What a picture or another file costs, whatever its length in letters. */
const tokensOfFile = 1_000

/** What a part has as a prompt shows it. */
export function tokensOfPart(part: MessagePart, countTokens: (text: string) => number): number {
  if (part.type === 'text' || part.type === 'reasoning') return countTokens(part.text)
  if (!isToolPart(part)) return part.type === 'file' ? tokensOfFile : 0
  const { input, modelOutput, output, errorText } = part as ToolContent
  const call = (result: unknown) => countTokens(JSON.stringify([part.type, input, result]))
  if (modelOutput?.type !== 'content' || !modelOutput.value) return call(modelOutput ?? output ?? errorText)
  const texts = modelOutput.value.filter(({ type }) => type === 'text')
  return call(texts) + tokensOfFile * (modelOutput.value.length - texts.length)
}

interface ToolContent {
  readonly input?: unknown
  readonly output?: unknown
  readonly errorText?: unknown
  readonly modelOutput?: {
    readonly type: string
    readonly value?: readonly { readonly type: string }[]
  }
}

/** An estimate that knows words; data in letters (base64, hexadecimal digits) has a token for about 1.5 of them. */
export function estimatedTokens(text: string): number {
  let tokens = estimateTokenCount(text)
  for (const [data] of text.matchAll(/[A-Za-z0-9+/_=-]{32,}/g))
    if (data.replaceAll(/\D/g, '').length * 10 >= data.length) tokens += Math.ceil(data.length / 2)
  return tokens
}
