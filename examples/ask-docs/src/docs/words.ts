// Words: how text is cut into comparable terms. The index and the retrieval model use the same cut, so that what one finds the other can quote.
import { stemmer } from 'stemmer'

const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being but by can could did do does doing each for
   from get gets getting give gives had has have having he help her here him his how i if in into is it its itself just kind
   know let like long make makes many may me mean means might more most much must my myself need no not number of off on once one only or
   other our out over own please shall she should show so some such tell than that the their them then there these they this
   those through to too us use used uses using very want was way we were what when where which while who whom whose why will
   with within without work works would you your explain describe happen happens possible exactly actually really thing things`.split(
    /\s+/,
  ),
)

const wordPattern = /[\p{L}\p{N}]+/gu
const withoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
const known = new Map<string, readonly string[]>()

/** Cuts a text into its words, in order, as they are written. Scripts that put no space between words are segmented. */
export function wordsOf(text: string): readonly string[] {
  const words = text.match(wordPattern) ?? []
  if (!withoutSpaces.test(text)) return words
  return words.flatMap(word =>
    withoutSpaces.test(word) ? Array.from(segmenter.segment(word), ({ segment }) => segment) : word,
  )
}

/** Cuts a question down to the words that carry it: no grammar, no repetition, in order, as they are written. */
export function keyWordsOf(text: string): readonly string[] {
  const byTerm = new Map<string, string>()
  for (const word of wordsOf(text)) {
    const [term] = termsOf(word)
    if (term !== undefined && !byTerm.has(term)) byTerm.set(term, word)
  }
  return [...byTerm.values()]
}

/**
 * Turns one word into the terms under which it is found: its stem and, for a `camelCase` name, the stems of its parts.
 * Words of grammar have no term.
 */
export function termsOf(word: string): readonly string[] {
  let terms = known.get(word)
  if (terms === undefined) known.set(word, (terms = computeTerms(word)))
  return terms
}

/** Collects the distinct terms of a whole text. */
export function termSetOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).flatMap(termsOf))
}

function computeTerms(word: string): readonly string[] {
  const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u)
  const spellings = parts.length > 1 ? [word, ...parts] : [word]
  return [
    ...new Set(
      spellings
        .map(spelling => spelling.toLowerCase())
        .filter(carriesMeaning)
        .map(stemmer),
    ),
  ]
}

function carriesMeaning(word: string): boolean {
  return !stopWords.has(word) && (word.length > 1 || withoutSpaces.test(word) || /\p{N}/u.test(word))
}
