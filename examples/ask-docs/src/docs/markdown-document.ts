// A Markdown document and its sections. A section is what stands under one heading; its reference is what an answer cites.
import GithubSlugger from 'github-slugger'
import { Lexer, type Token, type Tokens } from 'marked'

export type DocumentSection = {
  /** `path#heading-slug`, with the slugs that GitHub gives; the text above the first heading is just `path`. */
  readonly reference: string
  /** The section's own heading, as plain text. */
  readonly heading: string
  /** The headings above it, outermost first. */
  readonly parents: readonly string[]
  /** The Markdown under the heading, up to the next heading of any depth. */
  readonly text: string
}

export type MarkdownDocument = {
  readonly path: string
  readonly title: string
  readonly sections: readonly DocumentSection[]
}

type OpenHeading = { readonly heading: string; readonly depth: number }

/**
 * Splits one document at its headings. Headings inside code fences, quotes and lists do not split. Sections without text are
 * left out. The title is the front matter's, or the first top heading, or the file's name.
 */
export function parseMarkdownDocument(path: string, source: string): MarkdownDocument {
  const { title: givenTitle, body } = takeFrontMatter(source.replace(/\r\n?/g, '\n'))
  const blocks = new Lexer({ gfm: true }).blockTokens(body)
  const top = blocks.find(block => isHeading(block) && block.depth === 1)
  const title = givenTitle ?? (top && isHeading(top) ? plainHeading(top) : fileName(path))
  const slugger = new GithubSlugger()
  let above: readonly OpenHeading[] = []
  const sections = [{ reference: path, heading: title, parents: [] as readonly string[], blocks: [] as string[] }]
  for (const block of blocks) {
    if (!isHeading(block)) {
      sections.at(-1)?.blocks.push(block.raw)
      continue
    }
    const heading = plainHeading(block) || 'Untitled'
    above = above.filter(({ depth }) => depth < block.depth)
    const parents = above.map(open => open.heading)
    sections.push({ reference: `${path}#${slugger.slug(heading)}`, heading, parents, blocks: [] })
    above = [...above, { heading, depth: block.depth }]
  }
  return {
    path,
    title,
    sections: sections
      .map(({ reference, heading, parents, blocks }) => ({ reference, heading, parents, text: blocks.join('').trim() }))
      .filter(section => section.text !== ''),
  }
}

function isHeading(block: Token): block is Tokens.Heading {
  return block.type === 'heading'
}

function plainHeading(block: Tokens.Heading): string {
  return block.text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|<[^>]*>/g, '')
    .trim()
}

function takeFrontMatter(source: string): { title: string | undefined; body: string } {
  const [whole, fields] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(source) ?? []
  if (whole === undefined) return { title: undefined, body: source }
  const title = /^title:[ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(fields ?? '')?.[2]
  return { title, body: source.slice(whole.length) }
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')
}
