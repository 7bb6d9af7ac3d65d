// processOutputStream: what the hook is given and may return. The chain that runs it is in stream-chain.ts.
import type { Chunk } from '../chunk.ts'
import type { ProcessorContext } from '../context.ts'

/**
 * What `processOutputStream` is given. `messages` are all; while the model speaks, what it says is not yet among them.
 * The chunk is the processor's to read; to change it, return another.
 */
export type ProcessOutputStreamArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
> = ProcessorContext<TTripwireMetadata, TState> & {
  readonly part: Chunk
  /** This attempt's chunks as they came to this processor, `part` included. */
  readonly streamParts: readonly Chunk[]
  /**
   * Asks for a `flush` with the reason `'elapsed'` after so many milliseconds, though no chunk may have come until then.
   * The newest wish counts.
   */
  readonly flushAfter: (ms: number) => void
}

/** The chunk or chunks that go on; nothing drops the one that came. */
export type ProcessOutputStreamReturn = Chunk | readonly Chunk[] | null | undefined | void

/** What `flush` is given. */
export type FlushArgs<TTripwireMetadata = unknown, TState extends object = Record<string, unknown>> = ProcessorContext<
  TTripwireMetadata,
  TState
> & {
  /** The end of a text or reasoning block · of the attempt's stream · the run was aborted · the processor asked for it. */
  readonly reason: 'block-end' | 'finish' | 'abort' | 'elapsed'
  /** The block that ends, when one does. */
  readonly blockId: string | undefined
  readonly runId: string
  /**
   * As in `processOutputStream`. At the end of a block or the stream what is given now goes on, the end waits, and the
   * processor is asked again after that time; a processor that gives nothing has given all.
   */
  readonly flushAfter: (ms: number) => void
}
