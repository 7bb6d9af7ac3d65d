// The three tools that the agent may call. Every output is bounded, and what is not there is an answer, not an exception.
import { tool } from 'ai'
import { z } from 'zod'
import type { DocsIndex } from './docs-index.ts'

const sectionLength = 8_000
const listLength = 50

/** Makes the tools over one index. */
export function docsTools(index: DocsIndex) {
  return {
    searchDocs: tool({
      description:
        'Searches the documents by key words. Gives the best sections with a reference, a heading and a snippet.',
      inputSchema: z.object({
        query: z.string().min(1).max(400).describe('Key words, or a short question'),
        limit: z.number().int().min(1).max(10).default(6).describe('How many sections to give'),
      }),
      execute: ({ query, limit }) => ({ query, hits: index.search(query, limit) }),
    }),

    readSection: tool({
      description: 'Reads one section of a document as Markdown.',
      inputSchema: z.object({
        reference: z.string().min(1).describe('A reference from a search, such as guide/setup.md#install'),
      }),
      execute: ({ reference }) => {
        const section = index.section(reference)
        if (section === undefined) {
          const nearest = index.search(reference, 3).map(hit => hit.reference)
          return { found: false as const, reference, problem: `There is no section "${reference}".`, nearest }
        }
        const { heading, parents, text } = section
        const cut = text.length > sectionLength
        return {
          found: true as const,
          reference: section.reference,
          heading: [...parents, heading].join(' > '),
          text: cut ? text.slice(0, sectionLength) : text,
          ...(cut && { truncated: `The first ${sectionLength} of ${text.length} characters` }),
        }
      },
    }),

    listDocuments: tool({
      description: 'Lists the documents with their titles, by path.',
      inputSchema: z.object({
        prefix: z.string().max(400).default('').describe('Only paths that begin with this, such as guide/'),
      }),
      execute: ({ prefix }) => {
        const matching = index.documents.filter(({ path }) => path.startsWith(prefix))
        const documents = matching.slice(0, listLength).map(({ path, title }) => ({ path, title }))
        return { total: matching.length, documents, notShown: matching.length - documents.length }
      },
    }),
  }
}
