// Markdown as a row of things that can be quoted: sentences, list items, table rows and code. Images, HTML tags and rules are left out.
import { Lexer, type Token, type Tokens } from 'marked'

export type Quotable = { readonly type: 'sentence' | 'item' | 'step' | 'code'; readonly text: string }

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Lists what a Markdown text says, in order: prose sentence by sentence, lists item by item, tables row by row, code as it stands. */
export function quotablesOf(markdown: string): readonly Quotable[] {
  return new Lexer({ gfm: true }).lex(markdown).flatMap(quotablesIn)
}

/** Lists the sentences of a Markdown text in order, items and rows included, code left out. */
export function sentencesOf(markdown: string): readonly string[] {
  return quotablesOf(markdown).flatMap(({ type, text }) => (type === 'code' ? [] : [text]))
}

function quotablesIn(block: Token): readonly Quotable[] {
  switch (block.type) {
    case 'paragraph':
      if (/^<[A-Z]/.test(block.raw)) return insideOf(block.raw)
      return sentences(plain((block as Tokens.Paragraph).tokens ?? []))
    case 'text':
      return sentences(plain((block as Tokens.Paragraph).tokens ?? []))
    case 'list':
      return itemsOf(block as Tokens.List)
    case 'blockquote':
      return (block as Tokens.Blockquote).tokens.flatMap(quotablesIn)
    case 'table':
      return rowsOf(block as Tokens.Table)
    case 'code':
      return [{ type: 'code', text: block.raw.trim() }]
    case 'html':
      return insideOf(block.raw)
    default:
      return []
  }
}

/** MDX and HTML wrap prose in tags. Tags that carry code in their attributes hold no prose. */
function insideOf(html: string): readonly Quotable[] {
  if (html.includes('={')) return []
  const inside = html.replace(/<!--[\s\S]*?-->|<[^>]*>/g, '').replace(/^[ \t]+/gm, '')
  return inside.trim() === '' ? [] : quotablesOf(inside)
}

/** An item is its own text; the items of a list inside it follow it. The items of a numbered list are steps. */
function itemsOf({ items, ordered, start }: Tokens.List): readonly Quotable[] {
  return items.flatMap(({ tokens }, index) => {
    const own = tokens.flatMap(token => (token.type === 'list' ? [] : quotablesIn(token)))
    const text = own.map(quotable => quotable.text).join(' ')
    const inside = tokens.flatMap(token => (token.type === 'list' ? quotablesIn(token) : []))
    const item = ordered
      ? ({ type: 'step', text: `${Number(start) + index}. ${text}` } as const)
      : ({ type: 'item', text } as const)
    return [item, ...inside]
  })
}

/** A row is its first cell, then each cell under its heading. */
function rowsOf({ header, rows }: Tokens.Table): readonly Quotable[] {
  const names = header.map(({ tokens }) => plain(tokens))
  return rows.map(cells => {
    const [first = '', ...rest] = cells.map(({ tokens }) => plain(tokens))
    const named = rest.map((text, index) => (names[index + 1] ? `${names[index + 1]}: ${text}` : text))
    return { type: 'item', text: [first, ...named].join(' – ') }
  })
}

function sentences(prose: string): readonly Quotable[] {
  const line = prose.replace(/\s+/g, ' ').trim()
  return Array.from(segmenter.segment(line), ({ segment }) => ({ type: 'sentence', text: segment.trim() }) as const)
}

function plain(tokens: readonly Token[]): string {
  return tokens
    .map(token => {
      if (token.type === 'codespan') return token.raw
      if (token.type === 'image' || token.type === 'html' || token.type === 'checkbox') return ''
      if (token.type === 'br') return ' '
      if ('tokens' in token && token.tokens) return plain(token.tokens)
      return 'text' in token ? String(token.text) : ''
    })
    .join('')
}
