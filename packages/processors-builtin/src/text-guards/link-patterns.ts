// Where links stand in a text: what a reader's Markdown, HTML or CSS takes for one, and addresses that are made links.
/** A pattern, and how to find the address in what it matched. */
export interface LinkPattern {
  readonly pattern: RegExp
  /** Splits a match: what is before the address, the address, what is behind it. */
  readonly parts: RegExp
  /** What is to be looked at in the address, when that is not the address itself. */
  readonly addressesIn?: (address: string, match: string) => readonly string[]
  /** What it matches is one address for every reader, and nothing in it is another link. */
  readonly isOne?: boolean
  /** It hides an address, whatever that is. */
  readonly hides?: boolean
}

const scheme = '(?:https?|ftps?|wss?)'
const schemes = ['https', 'ftps', 'wss', 'javascript', 'vbscript', 'data']
/** What ends an address in running text, for a reader who is strict. */
const bare = '[^\\s<>"\'`()[\\]{}|]'
const destination = '(?:<[^<>\\n]*>?|[^\\s<>()\\]](?:[^\\s()<>\\]\\\\]|\\\\[^\\s]|\\([^\\s()]*\\))*)'
const value = '(?:"[^"]*"?|\'[^\']*\'?|[^\\s"\'<>][^\\s<>]*)'
/** Only where an attribute may begin: what begins everywhere is read everywhere. */
const attribute =
  '(?<![^\\s"\'])(?:src|href|srcset|imagesrcset|poster|background|action|formaction|ping|longdesc|manifest|xlink:href|data|content|style)'
const css = '(?<![\\p{L}\\p{N}_-])url\\(\\s*'

const whole = /^()([^]*?)([.,:;!?*_~]*)$/
const bracketed = /^(\]?[(:]?\s*<?)([^]*?)(>?)$/
const quoted = /^(@import\s*["']?|[^=(]*[=(]\s*["']?)([^]*?)(["']?)$/i

/** Attributes whose value has addresses among other things. */
const mixed = /^(?:srcset|imagesrcset|ping|data|content|style)/i

function addressesInValue(value: string, match: string): readonly string[] {
  if (!mixed.test(match)) return [value]
  const isLeading = (word: string) => /[/\\&]/.test(word) || /^(?:javascript|vbscript|data):/i.test(word)
  return [value, ...value.split(/[\s,;=("']+/)].filter(isLeading)
}

/** The patterns. Of what begins at the same place the longest counts. */
export const linkPatterns: readonly LinkPattern[] = [
  { ...link(`${scheme}:[/\\\\]{2,}${bare}*`, whole), isOne: true },
  // A name and a password may have what ends an address in running text.
  { ...link(`${scheme}:[/\\\\]{2,}[^\\s<>/?#\\\\]*@${bare}*`, whole), isOne: true },
  { ...link(`(?<![\\p{L}\\p{N}_.@/-])www\\.${bare}+`, whole, address => [`https://${address}`]), isOne: true },
  { ...link(`(?<![\\p{L}\\p{N}_:/])//[\\p{L}\\p{N}.-]+\\.\\p{L}{2,24}(?::\\d+)?[/?#]${bare}*`, whole), isOne: true },
  link('<(?:javascript|vbscript|data|file|blob|intent):[^\\s<>]*', bracketed),
  link(`\\]\\(\\s*${destination}`, bracketed),
  link(`\\]:\\s*${destination}`, bracketed),
  link(`${attribute}\\s*=\\s*${value}`, quoted, addressesInValue),
  link(`${css}(?:"[^"\\n]*"?|'[^'\\n]*'?|[^\\s"'()][^\\s()]*)`, quoted),
  link('@import\\s*(?:"[^"\\n]*"?|\'[^\'\\n]*\'?)', quoted),
  // An address that begins in entities or escapes, wherever it stands.
  link(
    `(?<![^\\s<>"'()[\\]=])(?:${schemes.map(beginningOf).join('|')}|[/\\\\]{1,2})?` +
      `(?:&(?:#x?[0-9a-f]+|colon|sol|tab|newline)|\\\\[:/])[^\\s<>"'()[\\]]*`,
    whole,
  ),
  hiding(`(?:\\][(:]|${attribute}\\s*=\\s*["']?|${css}["']?)\\s{64,}`),
]

/** Any beginning of a word. */
function beginningOf(word: string): string {
  return Array.from(word).reduceRight((rest, letter) => (rest === '' ? letter : `${letter}(?:${rest})?`), '')
}

function hiding(source: string): LinkPattern {
  return { pattern: new RegExp(source, 'iu'), parts: /^(\S*)(\s*)()$/, hides: true }
}

function link(source: string, parts: RegExp, addressesIn?: LinkPattern['addressesIn']): LinkPattern {
  return { pattern: new RegExp(source, 'iu'), parts, ...(addressesIn && { addressesIn }) }
}
