// Links in texts: those that may carry what was said to a host that is not allowed.
import { BuiltinError } from '../errors.ts'
import { LinkMarks } from './link-marks.ts'
import { linkPatterns, type LinkPattern } from './link-patterns.ts'
import { targetsOf, type LinkTarget } from './link-target.ts'
import { PatternMachine } from '../texts/pattern-machine.ts'
import type { RewrittenText } from '../texts/rewritten-text.ts'
import { TextScanner } from '../texts/text-scanner.ts'

/** Which links are not to be shown, and what is. */
export interface LinkRules {
  readonly refuses: (address: string, isLoaded: boolean) => boolean
  /** What takes the place of an address; nothing when it stays. */
  readonly replace: (address: string) => string | undefined
}

const machine = new PatternMachine(
  linkPatterns.map(({ pattern, isOne }) => ({ pattern, ...(isOne ? {} : { accept: () => true }) })),
)
/** Those of the reader's own machine. */
const ownHosts = /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
const maxLength = 4096

/** Hosts to which links may carry anything. */
export class AllowedHosts {
  readonly #hosts = new Set<string>()
  readonly #domains: string[] = []

  /** Throws: `invalid-host`. */
  constructor(hosts: readonly string[]) {
    for (const host of hosts)
      if (host.startsWith('*.')) this.#domains.push(`.${hostOf(host.slice(2), host)}`)
      else this.#hosts.add(hostOf(host, host))
  }

  /** Tells whether an address may carry something to a host that is none of these: its name alone may, when a page loads it. */
  refuses(address: string, isLoaded = false): boolean {
    return targetsOf(address).some(target => (isLoaded || target.carriesData) && !this.#allows(target))
  }

  #allows({ host }: LinkTarget): boolean {
    return this.#hosts.has(host) || ownHosts.test(host) || this.#domains.some(domain => host.endsWith(domain))
  }
}

function hostOf(host: string, given: string): string {
  const url = /^[^\s/:?#@\\]+$/.test(host) ? URL.parse(`https://${host}/`) : null
  if (url === null)
    throw new BuiltinError(
      'invalid-host',
      `'${given}' is no host. Give a name such as 'example.com' or '*.example.com'.`,
    )
  return url.hostname.replace(/\.$/, '')
}

/** Reads one text; a link is held until it ends. */
export function guardedLinks({ refuses, replace }: LinkRules): RewrittenText {
  const marks = new LinkMarks()
  const refusedIn = (link: LinkPattern, written: string, start: number): string | undefined => {
    const isLoaded = link.loads === true || (link.loads === 'image' && marks.isImageAt(start))
    const isRefused = (address: string) => refuses(address, isLoaded)
    const strict = link.strictOf?.(written)
    if (strict !== undefined && isRefused(strict)) return undefined
    if (link.hides?.(written)) return written
    const isOpen = link.strictOf !== undefined && marks.goesOnAt(start + written.length)
    return addressesOf(link, isOpen ? `${written}\u200b-` : written).find(isRefused)
  }
  /** The end of the match before was taken out. */
  let isOut = false
  const scanner = new TextScanner({
    machine,
    patterns: linkPatterns.map(link => ({
      pattern: link.pattern,
      ...(link.isOne
        ? {}
        : { accept: (_: string, written: string, start: number) => refusedIn(link, written, start) !== undefined }),
      longestOnly: true,
    })),
    maxLength,
    replace({ pattern, text, all, whole, start, continued }) {
      const link = linkPatterns[pattern]!
      // What goes on behind a piece that was taken out goes with it.
      if (isOut && (continued || !whole)) return ''
      const refused = refusedIn(link, all, start)
      const replacement = refused === undefined ? undefined : replace(refused)
      isOut = replacement !== undefined
      if (replacement === undefined) return text
      const [before, , behind] = link.parts(all)
      return (whole ? before : '') + replacement + behind
    },
  })
  return {
    push(piece) {
      marks.push(piece)
      return scanner.push(piece)
    },
    end: () => scanner.end(),
  }
}

function addressesOf({ parts, addressesIn }: LinkPattern, text: string): readonly string[] {
  const [, address] = parts(text)
  return addressesIn ? addressesIn(address, text) : [address]
}
