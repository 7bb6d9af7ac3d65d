// Threads that survive: the contract of a store, and the memory that loads and saves around a run.
export { memory, memoryProcessorId } from './memory.ts'
export type { Memory, MemoryOptions } from './memory.ts'
export type { WindowOptions } from './window.ts'
export { tripwirePartType } from './run-ending.ts'
export type {
  CommitOutcome,
  ListThreadsOptions,
  ReadOptions,
  SuspendedRun,
  Thread,
  ThreadCommit,
  ThreadPage,
  ThreadStore,
} from './thread-store.ts'
export { MemoryError } from './errors.ts'
export type { MemoryErrorCode } from './errors.ts'
