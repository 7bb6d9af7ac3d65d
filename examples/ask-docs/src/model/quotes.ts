// Chooses what to quote: the sentences that say most about a topic, with the code or list that they announce.
import type { Quotable } from '../docs/markdown-sentences.ts'
import { termSetOf, wordsOf } from '../docs/words.ts'
import type { TopicWord } from './topic.ts'

export type Source = { readonly reference: string; readonly heading: string; readonly quotables: readonly Quotable[] }
export type Quote = { readonly reference: string; readonly text: string }

type Candidate = {
  readonly source: Source
  readonly position: number
  readonly text: string
  readonly terms: ReadonlySet<string>
  readonly score: number
}

const sentenceCount = 4
const announcedItems = 6
const longestItem = 320
const announcedCodeLines = 16
const shareOfBest = 0.4

/** Quotes the best sentences, at most four. *Order:* that of the sources, which come best first, and in them that of the text. */
export function chooseQuotes(sources: readonly Source[], topic: readonly TopicWord[]): readonly Quote[] {
  const chosen = distinct(rank(sources, topic)).slice(0, sentenceCount)
  return sources.flatMap(source => {
    const positions = chosen.filter(candidate => candidate.source === source).map(({ position }) => position)
    const lines = positions.sort((a, b) => a - b).flatMap(position => withAnnounced(source.quotables, position))
    return lines.length === 0 ? [] : [{ reference: source.reference, text: join(lines) }]
  })
}

/** Lists the topic words that no source says, in its text or heading. */
export function wordsNotIn(topic: readonly TopicWord[], sources: readonly Source[]): readonly string[] {
  const said = termSetOf(
    sources.map(({ heading, quotables }) => [heading, ...quotables.map(({ text }) => text)].join(' ')).join(' '),
  )
  return topic.filter(({ terms }) => !terms.some(term => said.has(term))).map(({ word }) => word)
}

function rank(sources: readonly Source[], topic: readonly TopicWord[]): readonly Candidate[] {
  const candidates = sources.flatMap(source =>
    source.quotables.flatMap(({ type, text }, position) =>
      type === 'code' || text.length < 20 ? [] : [{ source, position, text, terms: termSetOf(text) }],
    ),
  )
  const weights = topic.map(word =>
    worth(
      word,
      candidates.map(({ terms }) => terms),
    ),
  )
  const scored = candidates.map(candidate => {
    const heading = termSetOf(candidate.source.heading)
    const subject = termSetOf(wordsOf(candidate.text).slice(0, 5).join(' '))
    const said = topic.reduce((sum, word, index) => {
      const weight = weights[index] ?? 0
      return sum + weight * (says(candidate.terms, word) + says(heading, word) / 2 + says(subject, word) / 4)
    }, 0)
    return { ...candidate, score: (said * shape(candidate)) / (1 + sources.indexOf(candidate.source) / 4) }
  })
  const best = Math.max(0, ...scored.map(({ score }) => score))
  return scored.filter(({ score }) => score > best * shareOfBest).sort((a, b) => b.score - a.score)
}

/** A word that every sentence says decides nothing; one that few say decides much. */
function worth(word: TopicWord, texts: readonly ReadonlySet<string>[]): number {
  const count = texts.filter(terms => says(terms, word) > 0).length
  return word.weight * Math.log(1 + texts.length / (1 + count))
}

/** How surely a text says a word: fully by its own stem, less by a word of like meaning. */
function says(terms: ReadonlySet<string>, { terms: [own = '', ...others] }: TopicWord): number {
  return terms.has(own) ? 1 : others.some(term => terms.has(term)) ? 0.5 : 0
}

/**
 * Opening sentences tend to explain, and so does one that announces code. A long one buries what it says, a lead-in to nothing
 * says nothing, and an item torn out of its list says half. A step brings the steps after it.
 */
function shape({ source, position, text }: Pick<Candidate, 'source' | 'position' | 'text'>): number {
  const opening = position === 0 ? 1.3 : position === 1 ? 1.1 : 1
  const length = text.length > 320 ? 0.6 : 1
  const leadIn = !text.endsWith(':') ? 1 : withAnnounced(source.quotables, position).length > 1 ? 1.2 : 0.3
  const torn = source.quotables[position]?.type === 'item'
  const kind = !torn ? 1 : text.length > longestItem ? 0.4 : 0.75
  return opening * length * leadIn * kind
}

function distinct(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(
    (candidate, index) => !candidates.slice(0, index).some(earlier => sameWords(earlier.terms, candidate.terms)),
  )
}

function sameWords(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].filter(term => b.has(term)).length >= 0.8 * Math.min(a.size, b.size)
}

function withAnnounced(quotables: readonly Quotable[], position: number): readonly Quotable[] {
  const quoted = quotables[position]
  const next = quotables[position + 1]
  if (quoted === undefined || next === undefined) return quoted === undefined ? [] : [quoted]
  const announces = quoted.text.endsWith(':') || quoted.type === 'step'
  if (!announces) return [quoted]
  if (next.type === 'code') return next.text.split('\n').length <= announcedCodeLines ? [quoted, next] : [quoted]
  const rest = quotables.slice(position + 1)
  const end = rest.findIndex(({ type }) => type !== 'item' && type !== 'step')
  return [quoted, ...rest.slice(0, Math.min(end < 0 ? rest.length : end, announcedItems))]
}

function join(quoted: readonly Quotable[]): string {
  let text = ''
  let before: Quotable['type'] | undefined
  for (const { type, text: next } of new Set(quoted)) {
    const gap = before === undefined ? '' : before === 'sentence' && type === 'sentence' ? ' ' : '\n'
    text += gap + (type === 'item' ? `- ${shortened(next)}` : type === 'step' ? shortened(next) : next)
    before = type
  }
  return text
}

function shortened(text: string): string {
  return text.length <= longestItem ? text : `${text.slice(0, longestItem - 1).trimEnd()}…`
}
