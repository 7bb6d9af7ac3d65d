// Streams for tests: a reply in pieces, and everything that a streamed turn shows.
import type { BatchResponse, CallModel, TurnChunk } from '@lockstep/batch-executor'

/** Cuts a text after each of these lengths, over and over. */
export function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = []
  for (let from = 0, index = 0; from < text.length; index += 1) {
    const length = lengths[index % lengths.length] ?? 1
    pieces.push(text.slice(from, from + length))
    from += length
  }
  return pieces
}

/** The same model, answering with the JSON text of its reply in pieces. */
export function inPieces(model: CallModel, lengths: readonly number[]): CallModel {
  return async function* (prompt, options) {
    yield* cut(JSON.stringify(await model(prompt, options)), lengths)
  }
}

/** What a reader sees at the end, and everything on the way. */
export async function readAll<TData>(stream: AsyncGenerator<TurnChunk, BatchResponse<TData>, void>) {
  const chunks: TurnChunk[] = []
  let text = ''
  for (;;) {
    const next = await stream.next()
    if (next.done) return { chunks, text, response: next.value }
    chunks.push(next.value)
    text = next.value.type === 'text-delta' ? text + next.value.text : ''
  }
}
