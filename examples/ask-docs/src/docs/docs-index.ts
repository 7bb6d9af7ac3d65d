// The full-text index over the sections of a folder. Ranking is the library's (BM25+), times the share of the query that a section covers.
import MiniSearch from 'minisearch'
import type { DocumentSection, MarkdownDocument } from './markdown-document.ts'
import { sentencesOf } from './markdown-sentences.ts'
import { termSetOf, termsOf, wordsOf } from './words.ts'

export type SearchHit = {
  readonly reference: string
  readonly document: string
  readonly heading: string
  readonly snippet: string
  readonly score: number
}

export type DocsIndex = {
  readonly documents: readonly MarkdownDocument[]
  /** The best sections for a query, best first. Nothing that matches is an empty array. */
  search(query: string, limit: number): readonly SearchHit[]
  /** The section of a reference. A bare path also finds the first section of that document. */
  section(reference: string): DocumentSection | undefined
}

type IndexEntry = DocumentSection & { readonly title: string; readonly defines: string }

type IndexedSection = { readonly document: MarkdownDocument; readonly section: DocumentSection }

const snippetLength = 240
const snippetSearchLength = 20_000

/** Indexes documents by title, headings and text. *Cost:* about a second for 10 MB of Markdown. */
export function createDocsIndex(documents: readonly MarkdownDocument[]): DocsIndex {
  const byReference = new Map<string, IndexedSection>()
  for (const document of documents) {
    const [first] = document.sections
    if (first !== undefined) byReference.set(document.path, { document, section: first })
    for (const section of document.sections) byReference.set(section.reference, { document, section })
  }
  const index = new MiniSearch<IndexEntry>({
    idField: 'reference',
    fields: ['title', 'heading', 'parents', 'defines', 'text'],
    tokenize: text => [...wordsOf(text)],
    processTerm: word => [...termsOf(word)],
    extractField: (section, field) =>
      field === 'parents' ? section.parents.join(' ') : String(section[field as keyof typeof section]),
  })
  for (const { path, title, sections } of documents) {
    // The title counts once a document, at its first section, so that one document does not fill every place.
    sections.forEach((section, position) =>
      index.add({
        ...section,
        title: position === 0 ? `${title} ${path.replace(/\.[^./]+$/, '')}` : '',
        defines: definedIn(section.text),
      }),
    )
  }

  return {
    documents,
    search(query, limit) {
      const results = index.search(query, {
        boost: { title: 2, heading: 3, parents: 1.5, defines: 2 },
        fuzzy: fuzziness,
      })
      const asked = termSetOf(query).size
      return results
        .map(({ id, score, queryTerms }) => ({ reference: String(id), score: score * (queryTerms.length / asked) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, limit)
        .flatMap(({ reference, score }) => {
          const found = byReference.get(reference)
          return found === undefined ? [] : [hit(found, score, query)]
        })
    },
    section: reference => byReference.get(reference)?.section,
  }
}

/** What opens a list item or a table row is usually what the rest of it explains. */
function definedIn(text: string): string {
  return Array.from(
    text.matchAll(/^[ \t]*(?:[-*]|\|)[ \t]+([^|\n]{1,40}?)[ \t]*(?:\||:| [-–—] )/gm),
    ([, term]) => term,
  ).join('\n')
}

/** Long words may be misspelled by one letter in six. */
function fuzziness(term: string): number {
  return term.length > 5 ? 0.17 : 0
}

function hit({ document, section }: IndexedSection, score: number, query: string): SearchHit {
  return {
    reference: section.reference,
    document: document.title,
    heading: section.heading,
    snippet: snippetOf(section.text, termSetOf(query)),
    score: Math.round(score * 100) / 100,
  }
}

function snippetOf(text: string, terms: ReadonlySet<string>): string {
  const sentences = sentencesOf(text.slice(0, snippetSearchLength))
  const overlap = (sentence: string): number => [...termSetOf(sentence)].filter(term => terms.has(term)).length
  const best = sentences.reduce((a, b) => (overlap(b) > overlap(a) ? b : a), sentences[0] ?? text)
  return best.length <= snippetLength ? best : `${best.slice(0, snippetLength - 1).trimEnd()}…`
}
