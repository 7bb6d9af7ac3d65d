// A text that is read in pieces and leaves changed, as early as it is certain.

/** A text that comes in pieces and leaves rewritten. */
export interface RewrittenText {
  /** Reads the next piece and gives what is certain. */
  push(piece: string): string
  /** Ends the text and gives the rest of it. */
  end(): string
}

/** Where a text stands in a run. */
export type TextPlace = 'input' | 'prompt' | 'text' | 'reasoning' | 'tool-input' | 'tool-output' | 'result' | 'data'

/**
 * Begins a text; nothing for one that stays as it is. `current` gives the hook that is running when a piece comes, which
 * may be another than the one in which the text began.
 */
export type OpenText<TContext> = (where: TextPlace, current: () => TContext) => RewrittenText | undefined

/** A function that rewrites whole texts. */
export function rewriteWith<TContext>(
  open: OpenText<TContext>,
  where: TextPlace,
  current: () => TContext,
): (text: string) => string {
  return text => {
    const opened = text === '' ? undefined : open(where, current)
    return opened === undefined ? text : opened.push(text) + opened.end()
  }
}

/** Passes a text through the given ones in order. */
export function chainTexts(texts: readonly RewrittenText[]): RewrittenText {
  if (texts.length === 1) return texts[0]!
  if (texts.length === 0) return { push: piece => piece, end: () => '' }
  return {
    push: piece => texts.reduce((text, next) => (text === '' ? '' : next.push(text)), piece),
    end: () => texts.reduce((rest, next) => next.push(rest) + next.end(), ''),
  }
}

/** Passes a text on at once, and lets another read it. */
export function watchText(watcher: RewrittenText): RewrittenText {
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
