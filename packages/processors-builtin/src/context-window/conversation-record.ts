// A conversation as a record: for a model that is to read it, and not to do what it says.
import { shortened, textOf } from './shown-results.ts'
import { headOf } from '../texts/text-ends.ts'
import type { PromptMessage, TokenCounter } from './token-counter.ts'

/** How a record is made. */
export interface RecordOptions {
  readonly counter: TokenCounter
  /** What one line may have, about. */
  readonly lineTokens: number
}

/** What calls were given and gave is shortened to so many tokens. */
const mostCallTokens = 2_000

/** Messages as lines. A text that has more tokens than a line may have goes on in the next; reasoning is left out. */
export function recordOf(messages: readonly PromptMessage[], options: RecordOptions): readonly string[] {
  return messages.flatMap(message =>
    entriesOf(message, options.counter).flatMap(([key, text]) =>
      piecesOf(text, options).map(piece => recordLine({ [key]: piece })),
    ),
  )
}

/** A value as a line of JSON: whatever text is in it, it stays within its quotes, and closes no tag around the record. */
export function recordLine(value: Readonly<Record<string, string>>): string {
  return JSON.stringify(value).replaceAll('</', String.raw`<\/`)
}

type Entry = readonly [key: string, text: string]
type Part = Exclude<PromptMessage['content'], string>[number]

function entriesOf({ role, content }: PromptMessage, counter: TokenCounter): readonly Entry[] {
  if (typeof content === 'string') return [[role, content]]
  return content.flatMap((part: Part): readonly Entry[] => {
    switch (part.type) {
      case 'text':
        return [[role, part.text]]
      case 'file':
        return [[role, `[a file: ${part.filename ?? part.mediaType}]`]]
      case 'tool-call':
        return [[`call of ${part.toolName}`, withRoom(JSON.stringify(part.input), counter)]]
      case 'tool-result':
        return [[`result of ${part.toolName}`, withRoom(textOf(part.output), counter)]]
      default:
        return []
    }
  })
}

function withRoom(text: string, counter: TokenCounter): string {
  const tokens = counter.ofText(text)
  return tokens > mostCallTokens ? shortened(text, mostCallTokens / tokens) : text
}

function piecesOf(text: string, { counter, lineTokens }: RecordOptions): readonly string[] {
  const length = Math.max(2, Math.ceil(text.length / Math.ceil(counter.ofText(text) / lineTokens)))
  const pieces: string[] = []
  for (let begin = 0; begin < text.length; begin += pieces.at(-1)!.length)
    pieces.push(headOf(text.slice(begin, begin + length + 1), length))
  return pieces
}
