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
}

/** The chunk or chunks that go on; nothing drops the one that came. */
export type ProcessOutputStreamReturn = Chunk | readonly Chunk[] | null | undefined | void

/** What `flush` is given. */
export type FlushArgs<TTripwireMetadata = unknown, TState extends object = Record<string, unknown>> = ProcessorContext<
  TTripwireMetadata,
  TState
> & {
  /** The end of a text or reasoning block · the end of the attempt's stream · the run was aborted. */
  readonly reason: 'block-end' | 'finish' | 'abort'
  /** The block that ends, when one does. */
  readonly blockId: string | undefined
  readonly runId: string
}
