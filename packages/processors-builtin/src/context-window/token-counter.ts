// Counts the tokens of prompts: each message and each tool once, however many steps ask.
import {
  isPromiseLike,
  type MaybePromise,
  type ProcessInputStepArgs,
  type ProcessLLMRequestArgs,
} from '@lockstep/processors'
import { asSchema, type Tool } from 'ai'
import { estimateTokenCount } from 'tokenx'
import { headOf } from '../texts/text-ends.ts'

/** How tokens are counted. */
export interface TokenCounting {
  /** Counts the tokens of a text, as a tokenizer does it; an estimate within some per cent when absent. */
  readonly countTokens?: (text: string) => number
  /** What a picture or another file costs; 1,000 when absent. */
  readonly fileTokens?: number
}

/** The prompt of a model call. */
export type Prompt = ProcessLLMRequestArgs['prompt']
/** A message of a prompt. */
export type PromptMessage = Prompt[number]
type Part = Exclude<PromptMessage['content'], string>[number]

/** What a step is given, and where it is noted what that costs. */
export interface ToolsOfStep extends Pick<ProcessInputStepArgs, 'tools' | 'activeTools'> {
  readonly state: { toolTokens?: number }
}

/** What a role and the brackets around a message cost, about. */
const tokensOfEnvelope = 4

/** Counts, and remembers by identity: the messages of prompts are frozen, and the same ones in each step. */
export class TokenCounter {
  readonly #count: (text: string) => number
  readonly #fileTokens: number
  readonly #messages = new WeakMap<PromptMessage, number>()
  readonly #tools = new WeakMap<Tool, number>()

  constructor({ countTokens, fileTokens = 1_000 }: TokenCounting = {}) {
    this.#count = countTokens === undefined ? estimated : text => countInPieces(text, countTokens)
    this.#fileTokens = fileTokens
  }

  ofPrompt(messages: readonly PromptMessage[]): number {
    let sum = 0
    for (const message of messages) sum += this.ofMessage(message)
    return sum
  }

  /** Whether messages have no more tokens than that. The newest are counted first, and no more than it takes to know. */
  fits(messages: readonly PromptMessage[], limit: number): boolean {
    let room = limit
    for (let index = messages.length - 1; index >= 0 && room >= 0; index--) room -= this.ofMessage(messages[index]!)
    return room >= 0
  }

  ofMessage(message: PromptMessage): number {
    let tokens = this.#messages.get(message)
    if (tokens === undefined) {
      const { content } = message
      tokens =
        tokensOfEnvelope +
        (typeof content === 'string'
          ? this.#count(content)
          : content.reduce<number>((sum, part) => sum + this.#ofPart(part), 0))
      this.#messages.set(message, tokens)
    }
    return tokens
  }

  ofText(text: string): number {
    return this.#count(text)
  }

  ofResult({ output }: Extract<Part, { type: 'tool-result' }>): number {
    if (output.type !== 'content') return this.#count(JSON.stringify(output))
    return output.value.reduce(
      (sum, item) => sum + (item.type === 'text' ? this.#count(item.text) : this.#fileTokens),
      0,
    )
  }

  /** Notes what the descriptions of the tools that a step may call have. */
  noteTools({ tools, activeTools, state }: ToolsOfStep): MaybePromise<void> {
    let sum = 0
    const later: PromiseLike<number>[] = []
    for (const name of activeTools ?? Object.keys(tools)) {
      const tokens = Object.hasOwn(tools, name) ? this.#ofTool(name, tools[name]!) : 0
      if (isPromiseLike(tokens)) later.push(tokens)
      else sum += tokens as number
    }
    state.toolTokens = sum
    if (later.length === 0) return
    return Promise.all(later).then(all => {
      state.toolTokens = all.reduce((total, tokens) => total + tokens, sum)
    })
  }

  #ofTool(name: string, tool: Tool): MaybePromise<number> {
    const known = this.#tools.get(tool)
    if (known !== undefined) return known
    const counted = (schema: unknown): number => {
      const description = typeof tool.description === 'string' ? tool.description : ''
      const tokens = this.#count(`${name} ${description} ${JSON.stringify(schema)}`)
      this.#tools.set(tool, tokens)
      return tokens
    }
    const { jsonSchema } = asSchema(tool.inputSchema as Parameters<typeof asSchema>[0])
    return isPromiseLike(jsonSchema) ? jsonSchema.then(counted) : counted(jsonSchema)
  }

  #ofPart(part: Part): number {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#count(part.text)
      case 'file':
      case 'reasoning-file':
        return this.#fileTokens
      case 'tool-call':
        return this.#count(`${part.toolName} ${JSON.stringify(part.input)}`)
      case 'tool-result':
        return this.ofResult(part)
      default:
        return 0
    }
  }
}

const pieceLength = 2_000

/** Tokenizers take time that is quadratic in a text without spaces, so they are given a long one in pieces. */
function countInPieces(text: string, countTokens: (text: string) => number): number {
  let sum = 0
  let begin = 0
  while (text.length - begin > pieceLength) {
    const piece = headOf(text.slice(begin, begin + pieceLength + 1), pieceLength)
    const space = piece.lastIndexOf(' ')
    const length = space > 0 ? space : piece.length
    sum += countTokens(piece.slice(0, length))
    begin += length
  }
  return sum + countTokens(begin === 0 ? text : text.slice(begin))
}

/** An estimate that knows words; data in letters (base64, hexadecimal digits) has a token for about 1.5 of them. */
function estimated(text: string): number {
  let tokens = estimateTokenCount(text)
  for (const [data] of text.matchAll(/[A-Za-z0-9+/_=-]{32,}/g))
    if (data.replaceAll(/\D/g, '').length * 10 >= data.length) tokens += Math.ceil(data.length / 2)
  return tokens
}
