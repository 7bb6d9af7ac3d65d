// The text and reasoning blocks of a stream: each is opened before its first delta and closed once.
import type { Chunk } from '@lockstep/processors'

/** A chunk of a text or reasoning block. */
export type BlockChunk = Extract<Chunk, { readonly type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>

type BlockKind = 'text' | 'reasoning'

/** Clients refuse a delta without its start, and a processor may have dropped the start. */
export class UIBlocks {
  readonly #open = new Map<string, BlockChunk>()

  /** The chunk, after what it needs before it; nothing when it has no place. */
  admit(chunk: BlockChunk): readonly BlockChunk[] {
    const kind: BlockKind = chunk.type.startsWith('text') ? 'text' : 'reasoning'
    const { id } = chunk.payload
    if (chunk.type === `${kind}-end`) return this.#open.delete(id) ? [chunk] : []
    if (this.#open.has(id)) return chunk.type === `${kind}-delta` ? [chunk] : []
    this.#open.set(id, chunk)
    return chunk.type === `${kind}-start` ? [chunk] : [{ ...chunk, type: `${kind}-start`, payload: { id } }, chunk]
  }

  /** The ends of what is open. */
  close(): readonly BlockChunk[] {
    const ends = [...this.#open.values()].map((chunk): BlockChunk => ({
      ...chunk,
      type: chunk.type.startsWith('text') ? 'text-end' : 'reasoning-end',
      payload: { id: chunk.payload.id },
    }))
    this.#open.clear()
    return ends
  }

  /** What was open is taken back. */
  forget(): void {
    this.#open.clear()
  }
}
