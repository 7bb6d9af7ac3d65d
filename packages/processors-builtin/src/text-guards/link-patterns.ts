// Where links stand in a text: what a reader's Markdown, HTML or CSS takes for one, and addresses that are made links.
import { decodedEntities, isReachable } from './link-target.ts'

type MatchParts = readonly [before: string, address: string, behind: string]

/** A pattern, and how to find the address in what it matched. */
export interface LinkPattern {
  readonly pattern: RegExp
  /** Splits a match: what is before the address, the address, what is behind it. */
  readonly parts: (match: string) => MatchParts
  /** What is to be looked at in the address, when that is not the address itself. */
  readonly addressesIn?: (address: string, match: string) => readonly string[]
  /** The page loads it without being asked; of images it does, and `](` may end one. */
  readonly loads?: boolean | 'image'
  /** What a stricter reader takes for the address: when that one goes, this one need not. */
  readonly strictOf?: (match: string) => string
  /** What it matches is one address for every reader, and nothing in it is another link. */
  readonly isOne?: boolean
  /** Whether a match hides an address, whatever that is. */
  readonly hides?: (match: string) => boolean
}

const scheme = '(?:https?|ftps?|wss?)'
const schemes = ['https', 'ftps', 'wss', 'javascript', 'vbscript', 'data']
/** A reader who is strict stops at what the others read over. */
const bare = '[^\\s<>"\'`()[\\]{}|]'
/** Those of ASCII: to HTML, CSS and Markdown the others are characters of an address. */
const spaces = ' \\t\\n\\f\\r'
/** More than a name can have: it is there to hide something. */
const longestHost = 255
const entitiesAtEnd = /(?:&[a-z0-9]+|[.,:;!?*_~)])*$/i
const destination = `(?:<[^<>\\n]*>?|[^${spaces}<>()\\]](?:[^${spaces}()<>\\]\\\\]|\\\\[^${spaces}]|\\([^${spaces}()]*\\))*)`
const value = `(?:"[^"]*"?|'[^']*'?|[^${spaces}"'<>][^${spaces}<>]*)`
/** A line of a quotation begins in a sign of its own. */
const gap = '\\s*(?:\\n[\\s>]*)?'
/** Only where an attribute may begin: what begins everywhere is read everywhere. */
const attribute =
  '(?<![^\\s"\'/])(?:src|href|srcset|imagesrcset|poster|background|action|formaction|ping|longdesc|manifest|xlink:href|data|content|style)'
const css = `(?<![\\p{L}\\p{N}_-])url\\(${gap}`

const whole = upToEnd(/[.,!?]/, /[.,:;!*_~]/)
const bracketed = splitBy(/^(\]?[(:]?[\s>]*<?)([^]*?)(>?)$/)
const quoted = splitBy(/^(@import[\s>]*["']?|[^=(]*[=(][\s>]*["']?)([^]*?)(["']?)$/i)

/** Behind other characters some readers see no address. */
const plainStart = '(?<=^|[^\\p{L}\\p{N}\\p{S}_]|[<>])'

/** Attributes whose value has addresses among other things. */
const mixed = /^(?:srcset|imagesrcset|ping|data|content|style)/i

function addressesInValue(value: string, match: string): readonly string[] {
  if (!mixed.test(match)) return [value]
  const isLeading = (word: string) =>
    /[/\\&]/.test(word) || /^(?:https?|ftp|wss?|javascript|vbscript|data|mailto):/i.test(word)
  const wordsOf = (text: string) => text.split(/[\s,;=("']+/)
  return [value, ...wordsOf(value), ...wordsOf(decodedEntities(value))].filter(isLeading)
}

/** An address, and those that begin within it: for a reader to whom the first is none, they are the first. */
function addressesWithin(address: string): readonly string[] {
  const begins = address.matchAll(/(?!^)(?<![/\\]{2})(?:(?:https?|ftps?|wss?):[/\\]|www\.)/gi)
  return [address, ...Array.from(begins, ({ index }) => withScheme(address.slice(index)))]
}

function withScheme(address: string): string {
  return /^www\./i.test(address) ? `https://${address}` : address
}

/** Every reader takes such an address for one, up to a character that may end what stands around it. */
function addressesInPlain(address: string): readonly string[] {
  const [one] = /^\w+:\/\/[a-z\d.-]+(?::\d+)?(?=[/?#]|$)[^*_~]*/i.exec(address) ?? ['']
  return one === address ? [address] : [address, ...addressesWithin(address).slice(1)]
}

/** The patterns. Of what begins at the same place the longest counts, and of those the first. */
export const linkPatterns: readonly LinkPattern[] = [
  lenient(`${scheme}:[/\\\\]{2,}`),
  lenient('www\\.', 'https://'),
  { ...link(`${plainStart}${scheme}://${bare}*`, whole, addressesInPlain), isOne: true },
  { ...link(`${scheme}:[/\\\\]{2,}${bare}*`, whole, addressesWithin), isOne: true },
  // A name and a password may have what ends an address in running text.
  { ...link(`${scheme}:[/\\\\]{2,}[^\\s</?#]*@${bare}*`, whole, addressesWithin), isOne: true },
  { ...link(`www\\.${bare}+`, whole, address => addressesWithin(`https://${address}`)), isOne: true },
  {
    ...link(`(?<![\\p{L}\\p{N}_:/])//[\\p{L}\\p{N}.-]+\\.\\p{L}{2,24}(?::\\d+)?[/?#]${bare}*`, whole, addressesWithin),
    isOne: true,
  },
  link(
    '<(?:[a-z][a-z0-9+.-]*:[/\\\\]|(?:https?|ftp|mailto|javascript|vbscript|data|file|blob|intent):)[^\\s<>]*',
    bracketed,
  ),
  link("<[a-z0-9.!#$%&'*+/=^_`{|}~-]*\\?[^\\s<>@]*@[^\\s<>]*", bracketed, address => [`mailto:${address}`]),
  { ...link(`\\]\\(${gap}${destination}`, bracketed), loads: 'image' },
  { ...link(`\\]:${gap}${destination}`, bracketed), loads: true },
  { ...link(`${attribute}${gap}=${gap}${value}`, quoted, addressesInValue), loads: true },
  { ...link(`${css}(?:"[^"\\n]*"?|'[^'\\n]*'?|[^${spaces}"'()][^${spaces}()]*)`, quoted), loads: true },
  { ...link(`@import${gap}(?:"[^"\\n]*"?|'[^'\\n]*'?)`, quoted), loads: true },
  // An address that begins in entities or escapes, wherever it stands.
  link(
    `(?<![^\\s<>"'()[\\]=])(?:${schemes.map(beginningOf).join('|')}|[/\\\\]{1,2})?` +
      `(?:&(?:#x?[0-9a-f]+|colon|sol|tab|newline)|\\\\[:/])[^\\s<>"'()[\\]=]*`,
    whole,
  ),
  hiding(`(?:\\][(:]|${attribute}\\s*=\\s*["']?|${css}["']?)[\\s>]{64,}`),
]

/** The host as GFM's autolinks have it, whatever characters that are, and a character of what follows. */
function lenient(beginning: string, scheme = ''): LinkPattern {
  const strict = new RegExp(`^${beginning}${bare}*`, 'iu')
  const addressesIn = (address: string) =>
    [address, address.replace(entitiesAtEnd, ''), address.replace(/[\s\]][^]*/, '')]
      .map(one => scheme + one)
      .filter(isReachable)
  return {
    ...link(
      `${beginning}[^${spaces}</?#]{0,${longestHost}}(?:[/\\\\?#][.,:;!?)]*[^${spaces}<]?)?`,
      upToEnd(/[.,!?)]/),
      addressesIn,
    ),
    strictOf: match => scheme + whole(strict.exec(match)?.[0] ?? match)[1],
    hides: match => match.length > longestHost,
  }
}

function splitBy(expression: RegExp): LinkPattern['parts'] {
  return match => {
    const [, before = '', address = match, behind = ''] = expression.exec(match) ?? []
    return [before, address, behind]
  }
}

/** Leaves out what stands at the end: characters of the first kind, and before them of the second. */
function upToEnd(...kinds: readonly RegExp[]): LinkPattern['parts'] {
  return match => {
    let end = match.length
    for (const kind of kinds) while (end > 0 && kind.test(match[end - 1]!)) end--
    return ['', match.slice(0, end), match.slice(end)]
  }
}

/** Any beginning of a word. */
function beginningOf(word: string): string {
  return Array.from(word).reduceRight((rest, letter) => (rest === '' ? letter : `${letter}(?:${rest})?`), '')
}

function hiding(source: string): LinkPattern {
  return { pattern: new RegExp(source, 'iu'), parts: splitBy(/^(\S*)([^]*)()$/), hides: () => true }
}

function link(source: string, parts: LinkPattern['parts'], addressesIn?: LinkPattern['addressesIn']): LinkPattern {
  return { pattern: new RegExp(source, 'iu'), parts, ...(addressesIn && { addressesIn }) }
}
