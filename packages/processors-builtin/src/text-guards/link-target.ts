// Where a link leads, for the one who reads it: written in Markdown, HTML or CSS, with whatever escapes.

/** Where a link leads. */
export interface LinkTarget {
  /** Without a dot at the end, as the platform's own parser writes it; empty for what has no host. */
  readonly host: string
  /** More than the name of a host: a slash behind it, a query, a subdomain, a port, a name and a password. */
  readonly carriesData: boolean
}

/** Two, since `https:host` is a path on a page of the same scheme. */
const pages = ['https://page.invalid/', 'http://page.invalid/']
const pageHost = 'page.invalid'

/** Schemes that lead to a host. */
const hosted: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:', 'ws:', 'wss:'])

/** The names of entities that stand for a character of ASCII which means something in a URL. */
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    AMP: '&',
    apos: "'",
    ast: '*',
    bsol: '\\',
    colon: ':',
    comma: ',',
    commat: '@',
    dollar: '$',
    equals: '=',
    excl: '!',
    gt: '>',
    lbrack: '[',
    lowbar: '_',
    lpar: '(',
    lt: '<',
    NewLine: '\n',
    num: '#',
    percnt: '%',
    period: '.',
    plus: '+',
    quest: '?',
    quot: '"',
    rbrack: ']',
    rpar: ')',
    semi: ';',
    sol: '/',
    Tab: '\t',
    vert: '|',
  }),
)
const entity = /&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z]{2,8})(?:;|(?![A-Za-z0-9]))/g
const markdownEscape = /\\([!-/:-@[-`{-~])/g
const cssEscape = /\\([0-9a-fA-F]{1,6})\s?/g
const invisible = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Where a text leads that stands where a link's address does. Two readers may read it in two ways: all ways are given.
 * Nothing for what stays on the page.
 */
export function targetsOf(address: string): readonly LinkTarget[] {
  const targets = new Map<string, LinkTarget>()
  for (const form of formsOf(address))
    for (const page of pages) {
      const target = targetOn(page, form)
      if (target !== undefined) targets.set(`${target.host} ${target.carriesData}`, target)
    }
  return [...targets.values()]
}

/** A name under a top-level domain, or a number: what a name server or a router can lead somewhere. */
const reachable = /(?:^|\.)(?:\p{L}[\p{L}\p{N}-]+|\d+)\.?$|^\[/u

/** Whether an address leads to a host that can be reached, and not to what only has the form of one. */
export function isReachable(address: string): boolean {
  return targetsOf(address).some(({ host }) => reachable.test(host))
}

/** A text with the characters that its entities stand for. */
export function decodedEntities(text: string): string {
  return text.replaceAll(entity, entityOf)
}

function formsOf(address: string): ReadonlySet<string> {
  const decoded = decodedEntities(address)
  const forms = [address, decoded]
  if (decoded.includes('\\'))
    forms.push(
      decoded.replaceAll('\\', '%5C'),
      decoded.replaceAll(markdownEscape, '$1'),
      decoded.replaceAll(cssEscape, (_, hex: string) => characterOf(parseInt(hex, 16))),
    )
  return new Set(forms.flatMap(form => [form, form.replaceAll(invisible, '').normalize('NFKC')]))
}

function entityOf(text: string): string {
  const name = text.replace(/^&|;$/g, '')
  if (!name.startsWith('#')) return entities.get(name) ?? text
  return characterOf(/^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1)))
}

function characterOf(codePoint: number): string {
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\ufffd'
}

function targetOn(page: string, address: string): LinkTarget | undefined {
  const url = URL.parse(address, page)
  // What no parser reads may be read by one that is less strict.
  if (url === null)
    return /[/\\]{2}|^\s*(?:https?|ftp|wss?):/i.test(address) ? { host: '', carriesData: true } : undefined
  const { protocol, hostname, search } = url
  if (hosted.has(protocol)) {
    const host = hostname.replace(/\.$/, '')
    return host === pageHost ? undefined : { host, carriesData: carriesData(url, address) }
  }
  if (protocol === 'tel:' || (protocol === 'mailto:' && search === '')) return undefined
  return { host: '', carriesData: true }
}

/** What ends an address for this reader may go on with it for another, once there is a slash: `https://host/]data`. */
function carriesData({ hostname, username, password, port, href }: URL, address: string): boolean {
  const labels = hostname.replace(/^www\.|\.$/g, '').split('.')
  const named = address.trim().replace(/^(?:[a-z]+:)?[/\\]*/i, '')
  return labels.length > 2 || `${username}${password}${port}` !== '' || /[/\\?#]/.test(named) || /[?#]/.test(href)
}
