// Redaction of a text that comes in pieces: the same result for any cut. The processor around it is secret-redactor.ts.
import { secretPatterns } from './secret-patterns.ts'

/** What takes the place of a secret of a kind. */
export type Replacement = (kind: string) => string

/** What cannot be shown yet: text that may still become a secret, or the inside of a private key. */
export interface HeldText {
  readonly text: string
  readonly inPrivateKey: boolean
  /** The text has white space in it: it may become the first line of a private key. */
  readonly spaced: boolean
}

/** The state before the first piece. */
export const nothingHeld: HeldText = { text: '', inPrivateKey: false, spaced: false }

const keyBegin = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/
const keyEnd = /-----END [A-Z ]{0,30}PRIVATE KEY-----/
const partOfKeyBegin = /-----BEGIN[A-Z ]{0,43}-{0,4}$/
/** More than the longest first or last line of a private key. */
const frameLength = 64

/**
 * Takes the next piece of a text and gives what is certain: secrets replaced, the rest held.
 *
 * A cut after white space is safe, since no secret has white space in it; private keys, which have, are swallowed from
 * their first line to their last.
 *
 * *Cost*: linear in the piece; what is held is looked at again only when white space comes.
 */
export function scanForSecrets(
  held: HeldText,
  piece: string,
  replacement: Replacement,
): { readonly text: string; readonly held: HeldText } {
  if (!held.inPrivateKey && !held.spaced && !/\s/.test(piece))
    return { text: '', held: { ...held, text: held.text + piece } }
  let rest = held.text + piece
  let { inPrivateKey } = held
  let text = ''
  for (;;) {
    if (inPrivateKey) {
      const end = keyEnd.exec(rest)
      if (!end) return { text, held: { text: rest.slice(-frameLength), inPrivateKey, spaced: false } }
      rest = rest.slice(end.index + end[0].length)
      inPrivateKey = false
    }
    const begin = keyBegin.exec(rest)
    if (!begin) break
    text += redactRuns(rest.slice(0, begin.index), replacement) + replacement('private-key')
    rest = rest.slice(begin.index + begin[0].length)
    inPrivateKey = true
  }
  const end = safeEnd(rest)
  const kept = rest.slice(end)
  return {
    text: text + redactRuns(rest.slice(0, end), replacement),
    held: { text: kept, inPrivateKey, spaced: /\s/.test(kept) },
  }
}

/** What is left at the end of the text. A private key without its last line is a private key all the same. */
export function scanToEnd(held: HeldText, replacement: Replacement): string {
  return held.inPrivateKey ? '' : redactRuns(held.text, replacement)
}

/** Replaces every secret in a whole text. */
export function redactSecrets(text: string, replacement: Replacement): string {
  const scanned = scanForSecrets(nothingHeld, text, replacement)
  return scanned.text + scanToEnd(scanned.held, replacement)
}

function redactRuns(text: string, replacement: Replacement): string {
  let redacted = text
  for (const { kind, pattern } of secretPatterns) redacted = redacted.replace(pattern, () => replacement(kind))
  return redacted
}

/** Where the text can be cut: after the last white space that is not in what may become a private key's first line. */
function safeEnd(text: string): number {
  const tailStart = Math.max(0, text.length - frameLength)
  const partial = partOfKeyBegin.exec(text.slice(tailStart))
  for (let index = (partial ? tailStart + partial.index : text.length) - 1; index >= 0; index--)
    if (/\s/.test(text[index]!)) return index + 1
  return 0
}
