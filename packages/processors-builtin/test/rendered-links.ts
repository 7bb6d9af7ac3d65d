// What a reader's page makes of Markdown: where its links lead, and what it loads without being asked.
import { marked } from 'marked'
import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5'

/** An address of a page. */
export interface RenderedLink {
  readonly address: string
  /** The page loads it by itself. */
  readonly isLoaded: boolean
}

type Node = DefaultTreeAdapterTypes.ChildNode

const single = new Set(['src', 'href', 'xlink:href', 'poster', 'background', 'action', 'formaction', 'data'])
const srcsets = new Set(['srcset', 'imagesrcset'])
const clicked = /^(?:a|area|form|button|input)$/
const cssAddress = /(?:(?<![\w\x80-\uffff-])url\(\s*(?:"([^"\n]*)|'([^'\n]*)|([^\s"'()]+))|@import\s*["']([^"'\n]*))/gi

/** The addresses of a page that shows a text. */
export function renderedLinks(markdown: string): readonly RenderedLink[] {
  return linksOfHtml(marked.parse(markdown, { async: false }))
}

/** The addresses of a page. */
function linksOfHtml(html: string): readonly RenderedLink[] {
  return parseFragment(html).childNodes.flatMap(linksOf)
}

function linksOf(node: Node): readonly RenderedLink[] {
  if (!('tagName' in node)) return []
  const own = node.attrs.flatMap(({ name, prefix, value }) => {
    const attribute = prefix ? `${prefix}:${name}` : name
    if (attribute === 'srcdoc') return linksOfHtml(value)
    return addressesIn(attribute, value).map(address => ({
      address,
      isLoaded: !(clicked.test(node.tagName) && !['src', 'style'].includes(attribute)),
    }))
  })
  const css =
    node.tagName === 'style' ? node.childNodes.flatMap(child => ('value' in child ? inCss(child.value) : [])) : []
  const children = 'content' in node ? node.content.childNodes : node.childNodes
  return [...own, ...css.map(address => ({ address, isLoaded: true })), ...children.flatMap(linksOf)]
}

function addressesIn(attribute: string, value: string): readonly string[] {
  if (single.has(attribute)) return [value]
  if (srcsets.has(attribute)) return value.split(/\s*,\s+|\s+[\d.]+[wx]\s*,?\s*/).filter(Boolean)
  if (attribute === 'ping') return value.split(/\s+/).filter(Boolean)
  if (attribute === 'content') return /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(value)?.slice(1) ?? []
  return attribute === 'style' ? inCss(value) : []
}

function inCss(text: string): readonly string[] {
  const plain = text.replaceAll(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) =>
    String.fromCodePoint(Math.min(parseInt(hex, 16), 0x10ffff)),
  )
  return [...plain.matchAll(cssAddress)].map(([, ...found]) => found.find(address => address !== undefined)!)
}
