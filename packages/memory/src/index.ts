// Threads that survive: the contract of a store, and the memory that loads and saves around a run.
export { memory, memoryProcessorId } from './memory.ts'
export type { Memory, MemoryOptions } from './memory.ts'
export type { WindowOptions } from './window.ts'
export { workingMemoryToolName } from './working-memory.ts'
export type { WorkingMemoryOptions } from './working-memory.ts'
export type { TitleOptions } from './thread-title.ts'
export type { SemanticRecallOptions } from './semantic-recall.ts'
export type { VectorEntry, VectorHit, VectorIndex, VectorSearch } from './vector-index.ts'
export { tripwirePartType } from './run-ending.ts'
export type {
  CommitOutcome,
  DocumentWrite,
  ListThreadsOptions,
  ReadOptions,
  StoredDocument,
  SuspendedRun,
  Thread,
  ThreadCommit,
  ThreadPage,
  ThreadStore,
} from './thread-store.ts'
export { MemoryError } from './errors.ts'
export type { MemoryErrorCode } from './errors.ts'
