// The pieces that a text is shown in: words, lines, sentences, characters, or what an expression finds.
import { BuiltinError } from '../errors.ts'
import { headOf } from './text-ends.ts'

/** A kind of piece. A number is so many characters; of an expression's match everything up to its end is a piece. */
export type Chunking = 'word' | 'line' | 'sentence' | number | RegExp | Intl.Segmenter

/** No piece is longer, so that a text without an end of a piece costs no more than any other. */
const longest = 1_000

// Words of scripts without spaces are a character each.
const expressions = {
  word: /^\s*(?:[\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF]|[^\s\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF]+(?:\s+|(?=[\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF])))/,
  line: /\n+/,
  sentence: /[.!?\u2026]["'\u201D\u2019)\]]*\s+|[\u3002\uFF01\uFF1F]|\n+/,
} as const

/** Tells how long the first piece of a text is; 0 when its end has not come. Throws: `invalid-limit`. */
export function pieceReader(chunking: Chunking): (text: string) => number {
  const find = endFinder(chunking)
  return text => {
    const head = headOf(text, longest)
    const end = find(head)
    if (end > 0) return end
    return text.length > longest ? head.length : 0
  }
}

function endFinder(chunking: Chunking): (head: string) => number {
  if (typeof chunking === 'number') {
    if (!(chunking >= 1 && chunking <= longest))
      throw new BuiltinError(
        'invalid-limit',
        `A piece cannot have ${chunking} characters. Give a number from 1 to ${longest}.`,
      )
    const count = Math.floor(chunking)
    // A pair is not cut: a piece of one character may be one that takes two places.
    return head => (head.length <= count ? wholeLength(head, count) : headOf(head, count).length || 2)
  }
  if (chunking instanceof Intl.Segmenter) return head => endOfSegment(chunking, head)
  if (!(chunking instanceof RegExp) && !Object.hasOwn(expressions, chunking))
    throw new BuiltinError(
      'invalid-limit',
      `'${String(chunking)}' is no kind of piece. Give 'word', 'line', 'sentence', a number, an expression or a segmenter.`,
    )
  const { source, flags } = chunking instanceof RegExp ? chunking : expressions[chunking]
  const expression = new RegExp(source, flags.replaceAll(/[gy]/g, ''))
  return head => {
    const match = expression.exec(head)
    return match === null || match[0] === '' ? 0 : match.index + match[0].length
  }
}

function wholeLength(head: string, count: number): number {
  return head.length === count && !/[\uD800-\uDBFF]$/.test(head) ? count : 0
}

/** A segment has ended when another one has begun. */
function endOfSegment(segmenter: Intl.Segmenter, head: string): number {
  for (const { index } of segmenter.segment(head)) if (index > 0) return index
  return 0
}
