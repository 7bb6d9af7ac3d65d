// What a prompt shows of tools' results: something shorter in their place, with the calls that they belong to.
import { headOf, tailOf } from '../texts/text-ends.ts'
import type { Prompt, PromptMessage } from './token-counter.ts'

/** A result in a prompt. */
export type PromptResult = Extract<
  Extract<PromptMessage, { role: 'tool' }>['content'][number],
  { readonly type: 'tool-result' }
>

/** The results of a prompt, oldest first. Those that a provider made itself it wants back as they were. */
export function resultsIn(prompt: readonly PromptMessage[]): readonly PromptResult[] {
  const results: PromptResult[] = []
  for (const message of prompt)
    if (message.role === 'tool') for (const part of message.content) if (part.type === 'tool-result') results.push(part)
  return results
}

/** Those that the model has not answered to. */
export function unreadIn(prompt: readonly PromptMessage[]): readonly PromptResult[] {
  return resultsIn(prompt.slice(prompt.findLastIndex(({ role }) => role === 'assistant') + 1))
}

/** A part of a text: its beginning and its end. */
export function shortened(text: string, part: number): string {
  const length = Math.floor(text.length * part)
  const head = headOf(text, Math.ceil(length * 0.7))
  const tail = tailOf(text, length - head.length)
  return `${head}\n[${text.length - head.length - tail.length} characters were left out here, since there is no room for them.]\n${tail}`
}

/** What a tool gave, as text. */
export function textOf(output: PromptResult['output']): string {
  if (output.type === 'content')
    return output.value.map(item => (item.type === 'text' ? item.text : `[${item.type}]`)).join('\n')
  if (output.type === 'execution-denied') return `[denied] ${output.reason ?? ''}`
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
}

/** Shows results as texts, in messages that are the same ones each time: what is known of them is known by identity. */
export class ResultTexts {
  readonly #shown = new WeakMap<PromptMessage, { readonly texts: string; readonly message: PromptMessage }>()

  /** The prompt with some results shown as texts. */
  apply(prompt: Prompt, texts: ReadonlyMap<PromptResult, string>): Prompt {
    return prompt.map(message => (message.role === 'tool' ? this.#message(message, texts) : message))
  }

  #message(message: Extract<PromptMessage, { role: 'tool' }>, texts: ReadonlyMap<PromptResult, string>): PromptMessage {
    const said = message.content.map(part => texts.get(part as PromptResult))
    if (said.every(text => text === undefined)) return message
    const key = JSON.stringify(said)
    const known = this.#shown.get(message)
    if (known?.texts === key) return known.message
    const content = message.content.map((part, index) =>
      said[index] === undefined ? part : ({ ...part, output: { type: 'text', value: said[index] } } as PromptResult),
    )
    const shown = { ...message, content }
    this.#shown.set(message, { texts: key, message: shown })
    return shown
  }
}
