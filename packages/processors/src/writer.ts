// The way for processors and tools to show application data in the stream.
import type { DataChunk } from './chunk.ts'
import { ProcessorError } from './errors.ts'
import { inWords } from './in-words.ts'

/** Writes `data-*` chunks to the run's stream. */
export interface ProcessorStreamWriter {
  /**
   * Emits a chunk whose type begins with `data-`. Unless it is `transient`, it becomes a part of the response.
   * Throws: `invalid-data-chunk` for another type.
   */
  custom(chunk: DataChunk): Promise<void>
}

/** Wraps a way to write data so that only data can be written. */
export function createWriter(write: (chunk: DataChunk) => Promise<void>): ProcessorStreamWriter {
  return {
    custom(chunk) {
      if (typeof chunk?.type === 'string' && chunk.type.startsWith('data-')) return write(chunk)
      return Promise.reject(
        new ProcessorError(
          'invalid-data-chunk',
          `A writer was given a chunk of the type ${inWords(chunk?.type)}; name it 'data-…', the rest of the stream belongs to the run.`,
        ),
      )
    },
  }
}
