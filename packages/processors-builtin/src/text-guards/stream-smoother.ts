// Shows a stream in an even flow: piece by piece, or all that came within a time as one chunk.
import type { Chunk, ProcessOutputStreamArgs, Processor } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { pieceReader, type Chunking } from '../texts/text-piece.ts'

export type { Chunking } from '../texts/text-piece.ts'

/** Options of the smoother. */
export interface StreamSmootherOptions {
  /** What is shown at a time: a word, a line, a sentence, so many characters, …; all that waits when absent. */
  readonly chunking?: Chunking
  /** The time between two chunks: 10 ms when absent, 50 without `chunking`. With 0 all whole pieces are shown at once. */
  readonly delayMs?: number
  /** How long the beginning of a piece waits for its end, before it is shown as it is; 300 when absent. */
  readonly maxWaitMs?: number
}

/** What the smoother keeps of a run: the text that waits. */
export interface StreamSmootherState {
  waiting?: Waiting
}

interface Waiting {
  readonly type: 'text-delta' | 'reasoning-delta'
  readonly id: string
  readonly runId: string
  text: string
  /** What is waited for: the time of the next chunk, or the end of a piece. */
  until?: 'next' | 'end'
}

type Wish = (ms: number) => void

/**
 * A processor that shows text and reasoning in pieces, with a delay between them, or in fewer chunks than they came in. A
 * timer shows what waits, whether or not the model goes on; other chunks never overtake it.
 *
 * *Order*: last in `outputProcessors`.
 * *Throws*: `invalid-limit`.
 */
export function streamSmoother(
  options: StreamSmootherOptions = {},
): Processor<'stream-smoother', unknown, StreamSmootherState> {
  const { chunking, delayMs = chunking === undefined ? 50 : 10, maxWaitMs = 300 } = options
  if (!(delayMs >= 0)) throw new BuiltinError('invalid-limit', `A delay is not ${String(delayMs)} ms. Give 0 or more.`)
  if (!(maxWaitMs > 0))
    throw new BuiltinError('invalid-limit', `Pieces cannot wait ${String(maxWaitMs)} ms. Give more than 0.`)
  const pieceOf = chunking === undefined ? wholeOf : pieceReader(chunking)
  const atOnce = chunking !== undefined && delayMs === 0

  /** What can be shown now, taken from what waits; a wish for the time when it goes on. */
  const take = (waiting: Waiting, flushAfter: Wish): string => {
    let end = pieceOf(waiting.text)
    while (atOnce && end > 0) {
      const more = pieceOf(waiting.text.slice(end))
      if (more === 0) break
      end += more
    }
    const shown = waiting.text.slice(0, end)
    waiting.text = waiting.text.slice(end)
    if (shown !== '' && delayMs > 0 && chunking !== undefined) wait(waiting, 'next', flushAfter)
    else if (waiting.text !== '' && waiting.until !== 'end') wait(waiting, 'end', flushAfter)
    return shown
  }
  const wait = (waiting: Waiting, until: 'next' | 'end', flushAfter: Wish) => {
    waiting.until = until
    flushAfter(until === 'next' ? delayMs : maxWaitMs)
  }

  return {
    id: 'stream-smoother',
    name: 'Stream smoother',
    description: 'Shows the stream in an even flow.',

    processOutputStream({ part, state, streamParts, flushAfter }) {
      // What waited in an attempt before is not shown in this one.
      if (streamParts.length === 1) delete state.waiting
      if (part.type === 'raw') return part
      if (!isBareText(part)) return state.waiting === undefined ? part : [...release(state), part]
      const { type, runId, payload } = part
      const before = state.waiting?.id === payload.id && state.waiting.type === type ? [] : release(state)
      const waiting = (state.waiting ??= { type, id: payload.id, runId, text: '' })
      waiting.text += payload.text
      if (chunking === undefined && waiting.until === undefined) wait(waiting, 'next', flushAfter)
      const shown = waiting.until === 'next' ? '' : take(waiting, flushAfter)
      if (shown === payload.text && before.length === 0) return part
      return [...before, ...chunkOf(waiting, shown)]
    },

    flush({ reason, blockId, state, flushAfter }) {
      const { waiting } = state
      if (waiting === undefined || (blockId !== undefined && waiting.id !== blockId)) return
      const end = pieceOf(waiting.text)
      if (reason === 'elapsed') {
        const isStuck = end === 0 && waiting.until === 'end'
        delete waiting.until
        return isStuck ? release(state) : chunkOf(waiting, take(waiting, flushAfter))
      }
      const isPaced = chunking !== undefined && delayMs > 0 && end > 0 && end < waiting.text.length
      return isPaced && reason !== 'abort' ? chunkOf(waiting, take(waiting, flushAfter)) : release(state)
    },
  }
}

/** All of a text, but for the half of a surrogate pair at its end. */
function wholeOf(text: string): number {
  return /[\uD800-\uDBFF]$/.test(text.slice(-1)) ? text.length - 1 : text.length
}

type BareText = Extract<ProcessOutputStreamArgs['part'], { readonly type: 'text-delta' | 'reasoning-delta' }>

/** What a provider says of a piece, such as a signature, stays with that piece. */
function isBareText(part: Chunk): part is BareText {
  return (part.type === 'text-delta' || part.type === 'reasoning-delta') && part.payload.providerMetadata === undefined
}

function release(state: StreamSmootherState): readonly Chunk[] {
  const { waiting } = state
  delete state.waiting
  return waiting === undefined ? [] : chunkOf(waiting, waiting.text)
}

function chunkOf({ type, id, runId }: Waiting, text: string): readonly Chunk[] {
  return text === '' ? [] : [{ type, runId, from: 'AGENT', payload: { id, text } }]
}
