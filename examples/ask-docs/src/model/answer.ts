// The answer of the retrieval model: quotes from what it read, with or without citations, or a plain word that there is nothing.
import { quotablesOf } from '../docs/markdown-sentences.ts'
import { termSetOf } from '../docs/words.ts'
import type { Turn } from './prompt-turn.ts'
import { chooseQuotes, wordsNotIn, type Source } from './quotes.ts'
import type { TopicWord } from './topic.ts'

/**
 * Answers a turn. Citations are given only when a system message says "cite" in so many words: the model knows no other way to
 * be asked, which is how a guard that wants citations gets to retry it.
 */
export function answerFrom(turn: Turn, topic: readonly TopicWord[]): string {
  if (topic.length === 0) return 'I see no key words in that question. Ask with words that the documents would use.'
  const sources = sourcesOf(turn)
  if (sources.length === 0 && turn.called.length === 0) return 'I have not looked in the documents, so I cannot answer.'
  const missing = wordsNotIn(topic, sources)
  const quotes = saysEnough(topic, missing, sources) ? chooseQuotes(sources, topic) : []
  if (quotes.length === 0) return nothingFound(turn, missing.length > 0 ? missing : topic.map(({ word }) => word))
  const cites = isAskedToCite(turn)
  const paragraphs = quotes.map(({ reference, text }) =>
    cites ? `${text}${text.includes('\n') ? '\n' : ' '}[${reference}]` : text,
  )
  const note = missing.length === 0 ? [] : [`(The sections that I read do not speak of ${listed(missing)}.)`]
  return [...paragraphs, ...note].join('\n\n')
}

/** The sections that were read; without any, the snippets of the search, each section once. */
function sourcesOf({ sections, searches }: Turn): readonly Source[] {
  if (sections.length > 0) return sections.map(({ text, ...section }) => ({ ...section, quotables: quotablesOf(text) }))
  const hits = new Map(searches.flat().map(hit => [hit.reference, hit]))
  return [...hits.values()].map(({ snippet, ...hit }) => ({ ...hit, quotables: quotablesOf(snippet) }))
}

/** More than half of the topic's words must be there; exactly half will do when a heading has one of them as it is. */
function saysEnough(topic: readonly TopicWord[], missing: readonly string[], sources: readonly Source[]): boolean {
  const share = 1 - missing.length / topic.length
  return share > 0.5 || (share === 0.5 && sources.some(({ heading }) => names(heading, topic)))
}

function names(heading: string, topic: readonly TopicWord[]): boolean {
  const terms = termSetOf(heading)
  return topic.some(({ terms: [own = ''] }) => terms.has(own))
}

function nothingFound(turn: Turn, missing: readonly string[]): string {
  const { searches, sections, documents } = turn
  const references = [...new Set([...sections, ...searches.flat()].map(({ reference }) => reference))]
  const near = references.map(reference => (isAskedToCite(turn) ? `- [${reference}]` : `- ${reference}`))
  const listedNear = documents.map(({ path, title }) => `- ${path}${title === '' ? '' : ` (${title})`}`)
  const nearest = (near.length > 0 ? near : listedNear).slice(0, 5)
  const plainly = `I found nothing about ${listed(missing)} in the documents.`
  return nearest.length === 0 ? plainly : `${plainly} The nearest are:\n\n${nearest.join('\n')}`
}

function isAskedToCite({ instructions }: Turn): boolean {
  return /\bcit(e|es|ed|ing|ations?)\b/i.test(instructions)
}

function listed(words: readonly string[]): string {
  return words.map(word => `“${word}”`).join(', ')
}
