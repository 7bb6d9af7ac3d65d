// The topic of a turn: the key words of its question, and of the earlier ones that it leans on.
import { keyWordsOf, termsOf } from '../docs/words.ts'
import type { Turn } from './prompt-turn.ts'

export type TopicWord = {
  /** The word as the user wrote it. */
  readonly word: string
  /** The terms that stand for it in a text, best first: its stem, then those of words that mean much the same. */
  readonly terms: readonly string[]
  /** A word of the question itself counts more than one of an earlier question. */
  readonly weight: number
}

const opensWithAnd = /^\s*(and|but|so|also|then|or|what about|how about)\b/i
const pointsBack = /\b(it|its|they|them|that|this|those|these)\b/i

const sameMeaning = [
  'stop abort cancel interrupt',
  'change edit modify update',
  'create make build write define add',
  'delete remove drop',
  'error failure exception',
  'install setup installation',
  'save persist store storage',
  'test testing mock',
  'retry repeat again',
  'block veto reject refuse',
  'hide redact mask',
  'example sample demo',
  'option setting parameter configuration configure',
  'start begin run launch',
  'maximum limit',
  'speed fast performance slow',
  'requirement prerequisite require',
  'return result output',
  'withdraw withdrawn withdrew',
].map(group => group.split(' '))

/** Finds the topic. A question such as "and how do I test it?" is about the last question's topic as well. */
export function topicOf({
  question,
  earlierQuestions,
}: Pick<Turn, 'question' | 'earlierQuestions'>): readonly TopicWord[] {
  const own = keyWordsOf(question)
  return questionWords(question, earlierQuestions).map(word => ({
    word,
    terms: termsFor(word),
    weight: own.includes(word) ? 1 : 0.4,
  }))
}

/** Says the topic in other words, for a second search; nothing when there are no others. */
export function inOtherWords(topic: readonly TopicWord[]): string | undefined {
  const others = topic.map(({ word }) => synonymsOf(word)[0] ?? word)
  return others.some((other, position) => other !== topic[position]?.word) ? others.join(' ') : undefined
}

function questionWords(question: string, earlier: readonly string[]): readonly string[] {
  const own = keyWordsOf(question)
  const last = earlier.at(-1)
  const leansBack = own.length === 0 || opensWithAnd.test(question) || (own.length < 4 && pointsBack.test(question))
  return last === undefined || !leansBack
    ? own
    : keyWordsOf([...questionWords(last, earlier.slice(0, -1)), ...own].join(' '))
}

function termsFor(word: string): readonly string[] {
  return [...new Set([word, ...synonymsOf(word)].flatMap(spelling => termsOf(spelling).slice(0, 1)))]
}

function synonymsOf(word: string): readonly string[] {
  const [term] = termsOf(word)
  const group = sameMeaning.find(words => words.some(other => termsOf(other)[0] === term))
  return group?.filter(other => termsOf(other)[0] !== term) ?? []
}
