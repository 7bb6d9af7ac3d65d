// Threads that survive: the contract of a store, and the memory that loads and saves around a run.
export { memory, memoryProcessorId } from './memory.ts'
export type { Memory, MemoryOptions } from './memory.ts'
export type { WindowOptions } from './recall/window.ts'
export { workingMemoryToolName } from './recall/working-memory.ts'
export type { WorkingMemoryOptions } from './recall/working-memory.ts'
export type { TitleOptions } from './recall/thread-title.ts'
export type { SemanticRecallOptions } from './recall/semantic-recall.ts'
export type { VectorEntry, VectorHit, VectorIndex, VectorSearch } from './recall/vector-index.ts'
export { tripwirePartType } from './thread/run-ending.ts'
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
} from './stores/thread-store.ts'
export { MemoryError } from './errors.ts'
export type { MemoryErrorCode } from './errors.ts'
