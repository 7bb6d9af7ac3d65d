// The object of a run as it grows, for readers that show it before it is whole.
import type { Chunk } from '@lockstep/processors'

/**
 * The values that the text of a step stands for, and at last the object as it was checked. A tripwire ends it; an error or
 * an abort is thrown.
 *
 * *Cost*: linear in the text. A long one is looked at again when it has grown by a sixty-fourth.
 */
export async function* objectView(chunks: AsyncIterable<Chunk>): AsyncGenerator<unknown, void, void> {
  const { isDeepEqualData, parsePartialJson } = await import('ai')
  let text = ''
  let parsedLength = 0
  let last: unknown
  for await (const chunk of chunks) {
    if (chunk.type === 'step-start' || chunk.type === 'step-reset') {
      text = ''
      parsedLength = 0
    } else if (chunk.type === 'text-delta') text += chunk.payload.text
    else if (chunk.type === 'tripwire') return
    else if (chunk.type === 'error') throw chunk.payload.error
    else if (chunk.type === 'abort') throw chunk.payload.reason
    if (chunk.type === 'object') {
      if (!isDeepEqualData(chunk.payload.object, last)) yield chunk.payload.object
      continue
    }
    const isDue = chunk.type === 'text-end' || text.length - parsedLength > text.length / 64
    if (!isDue || text.length === parsedLength) continue
    parsedLength = text.length
    const { value, state } = await parsePartialJson(text)
    const isValue = state === 'successful-parse' || state === 'repaired-parse'
    if (!isValue || value === undefined || isDeepEqualData(value, last)) continue
    last = value
    yield value
  }
}
