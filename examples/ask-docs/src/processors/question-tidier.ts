// Edits the input: a question typed in haste becomes a clean sentence before anybody else sees it.
import type { Processor } from '@lockstep/processors'

const asks = /^(who|what|when|where|which|why|how|can|could|do|does|is|are|may|should)\b/i

/** Trims the user's text, closes up white space and repeated marks, and ends a question with a question mark. */
export function questionTidier(): Processor<'question-tidier'> {
  return {
    id: 'question-tidier',
    processInput: ({ messages }) =>
      messages.map(message => {
        if (message.role !== 'user') return message
        const parts = message.content.parts.map(part =>
          part.type === 'text' ? { ...part, text: tidy(part.text) } : part,
        )
        return { ...message, content: { ...message.content, parts } }
      }),
  }
}

/** The sentence as it should have been typed. Tidying twice changes nothing more. */
export function tidy(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/\s*([?!])[?!\s]*$/, '$1')
    .trim()
  const sentence = asks.test(line) && !/\p{P}$/u.test(line) ? `${line}?` : line
  return sentence.replace(/^\p{Ll}/u, first => first.toUpperCase())
}
