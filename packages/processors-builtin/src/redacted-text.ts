// A text on its way through several scans, one after the other.

/** A text that comes in pieces and leaves redacted. */
export interface RedactedText {
  /** Reads the next piece and gives what is certain. */
  push(piece: string): string
  /** Ends the text and gives the rest of it. */
  end(): string
}

/** Passes a text through the given ones in order. */
export function chainTexts(texts: readonly RedactedText[]): RedactedText {
  if (texts.length === 1) return texts[0]!
  if (texts.length === 0) return { push: piece => piece, end: () => '' }
  return {
    push: piece => texts.reduce((text, next) => (text === '' ? '' : next.push(text)), piece),
    end: () => texts.reduce((rest, next) => next.push(rest) + next.end(), ''),
  }
}

/** Passes a text on at once, and lets another read it. */
export function watchText(watcher: RedactedText): RedactedText {
  return {
    push(piece) {
      watcher.push(piece)
      return piece
    },
    end() {
      watcher.end()
      return ''
    },
  }
}
