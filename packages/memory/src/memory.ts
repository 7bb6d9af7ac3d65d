// The memory of an agent: two processors around those of a call, the first to load and the last to save.
import type { MessageList } from '@lockstep/message-list'
import type { AgentMemory, Processor, ProcessorArrays, ProcessRunEndArgs } from '@lockstep/processors'
import { MemoryError } from './errors.ts'
import { loadThread } from './thread/load-thread.ts'
import { isCutShort, tripwireMarker } from './thread/run-ending.ts'
import { keepRows, noteRows, type RunRows } from './thread/run-rows.ts'
import { saveThread, type Save } from './thread/save-thread.ts'
import { threadIdOf } from './thread/thread-owner.ts'
import type { SuspendedRun, ThreadStore } from './stores/thread-store.ts'
import { semanticRecall, type SemanticRecallOptions } from './recall/semantic-recall.ts'
import { threadTitle, type TitleOptions } from './recall/thread-title.ts'
import { checkWindow, type WindowOptions } from './recall/window.ts'
import { workingMemory, type WorkingMemoryOptions } from './recall/working-memory.ts'

/** What a memory is made of. */
export interface MemoryOptions extends WindowOptions {
  readonly store: ThreadStore
  /** A small document that the model sees in every step and may rewrite. */
  readonly workingMemory?: WorkingMemoryOptions
  /** Lets the model name threads; `true` for the run's own model. */
  readonly titles?: boolean | TitleOptions
  /** Finds turns that mean something similar, from before the window or from other threads. */
  readonly semanticRecall?: SemanticRecallOptions
}

/** A memory, for the option `memory` of an agent. */
export interface Memory extends AgentMemory {
  readonly store: ThreadStore
  /** Takes a suspended run out of the store, to resume it. Of several callers one gets it. */
  takeRun(runId: string): Promise<SuspendedRun | undefined>
  /** Deletes a thread from the store, and from the index of its recall. */
  deleteThread(threadId: string): Promise<void>
}

/** The id of the processors that load and save: one id, so that they are one processor with one state. */
export const memoryProcessorId = 'memory'

/**
 * Makes a memory. One serves any number of agents and runs at once.
 *
 * *Order*: it loads before the first input processor; it saves the input when the first prompt has passed them all, each
 * step when it is committed, and at the end, after the last output processor, what the list then holds of the run.
 *
 * *Throws*: `invalid-option`.
 *
 * @example
 * new Agent({ name: 'helper', model, memory: memory({ store: sqliteStore({ path: 'threads.db' }) }) })
 */
export function memory(options: MemoryOptions): Memory {
  checkWindow(options)
  const { store } = options
  checkStore(options)
  return {
    store,
    around: processors => around(options, processors),
    takeRun: async runId => {
      const run = await store.readRun(runId)
      return run !== undefined && (await store.removeRun(runId)) ? run : undefined
    },
    deleteThread: async threadId => {
      await store.deleteThread(threadId)
      await options.semanticRecall?.index.removeThread(threadId)
    },
  }
}

/** Throws: `invalid-option` for a memory without a store. */
function checkStore(options: MemoryOptions): void {
  const isStore = (value: unknown) => typeof value === 'object' && value !== null && 'commit' in value
  if (isStore(options.store)) return
  throw new MemoryError(
    'invalid-option',
    isStore(options)
      ? 'A store was given in the place of the options. Give memory({ store }).'
      : `The store is ${String(options.store)}. Give memory({ store }) one, such as sqliteStore({ path: 'threads.db' }).`,
  )
}

/** What the processors know of a run. */
interface MemoryState extends RunRows {
  /** A prompt has passed all input processors, so what was said may be kept. */
  isAccepted: boolean
  /** The response has passed every processor that could change it as a whole. */
  isReviewed: boolean
}

interface RunMemory extends MemoryOptions {
  /** Whether a processor of the user has `processOutputResult`, so that a response is not final before that. */
  readonly isReviewable: boolean
}

type MemoryProcessor = Processor<string, unknown, MemoryState>

function around(options: MemoryOptions, processors: ProcessorArrays): ProcessorArrays {
  const { inputProcessors = [], outputProcessors = [] } = processors
  const isReviewable = outputProcessors.some(processor => typeof processor.processOutputResult === 'function')
  const run: RunMemory = { ...options, isReviewable }
  const { before, after } = extras(options)
  return {
    ...processors,
    inputProcessors: [loading(run) as Processor, ...before, ...inputProcessors],
    outputProcessors: [...outputProcessors, saving(run) as Processor, ...after],
  }
}

/** The processors of what else the memory does: after loading, and after saving. */
function extras(options: MemoryOptions): {
  readonly before: readonly Processor[]
  readonly after: readonly Processor[]
} {
  const { store, workingMemory: document, titles = false, semanticRecall: recall } = options
  const title = titles === false ? undefined : threadTitle(store, titles === true ? {} : titles)
  const turns = recall && semanticRecall(store, recall)
  return {
    before: [
      ...(document ? [workingMemory(store, document)] : []),
      ...(turns ? [turns.recalling] : []),
      ...(title ? [title.asking] : []),
    ],
    after: [...(turns ? [turns.indexing] : []), ...(title ? [title.storing] : [])],
  }
}

/** A step that is made after the review, because the response was refused, is not reviewed; nor is what it stands on. */
const newStep: Pick<MemoryProcessor, 'processInputStep'> = {
  processInputStep: ({ state }) => void (state.isReviewed = false),
}

/** The last of the user's processors has seen the response as a whole. */
const review: Pick<MemoryProcessor, 'processOutputResult'> = {
  processOutputResult: ({ state }) => void (state.isReviewed = true),
}

/** Loads before the user's input processors, and saves what was said when a prompt has passed them all. */
function loading(run: RunMemory): MemoryProcessor {
  return {
    id: memoryProcessorId,
    name: 'Memory',
    async processInput({ messageList, state }) {
      // A message that steers a run passes here too.
      if (isLoaded(state)) return
      const loaded = await loadThread(run.store, run, messageList)
      const key = crypto.randomUUID()
      const begun: MemoryState = { key, ...loaded, rows: [], isAccepted: false, isReviewed: false }
      noteRows(Object.assign(state, begun), [])
    },
    ...(run.isReviewable ? newStep : {}),
    async processLLMRequest({ messageList, state }) {
      if (!isLoaded(state)) return
      state.isAccepted = true
      await saveThread(run.store, state, soFar(run, messageList))
    },
  }
}

/** Saves after the user's output processors. */
function saving(run: RunMemory): MemoryProcessor {
  return {
    id: memoryProcessorId,
    name: 'Memory',
    async processStepEnd({ messageList, state }) {
      if (isLoaded(state)) await saveThread(run.store, state, soFar(run, messageList))
    },
    ...(run.isReviewable ? review : {}),
    async processRunEnd(end) {
      const { messageList, state, stopReason, loopState } = end
      if (!isLoaded(state)) return
      // First the run, so that a request for an approval that is in the thread has a run that waits for it.
      const threadId = threadIdOf(messageList)
      const isSuspended = stopReason === 'suspended'
      if (isSuspended && loopState) await saveRun(run.store, threadId, loopState)
      await saveThread(run.store, state, atEnd(run, end, state))
      await keepRows(run.store, threadId, { run: state, isSuspended })
    },
  }
}

function isLoaded(state: Partial<MemoryState>): state is MemoryState {
  return state.revision !== undefined
}

/** What is saved in the middle of a run: it keeps what was said, should there be no end. */
function soFar({ isReviewable }: RunMemory, list: MessageList): Save {
  return { list, response: isReviewable ? 'nothing' : 'all', withOutcomes: true }
}

/** What is saved at the end. What no prompt was made of has not passed the input processors, and is not saved. */
function atEnd({ isReviewable }: RunMemory, end: ProcessRunEndArgs<MemoryState>, state: MemoryState): Save {
  const { messageList: list, stopReason, tripwire } = end
  const isFinal = !isReviewable || state.isReviewed
  return {
    list,
    response: isFinal ? 'all' : stopReason === 'suspended' ? 'waiting calls' : 'nothing',
    withOutcomes: state.isAccepted,
    ...(isCutShort(stopReason) ? { cutShort: stopReason } : {}),
    ...(tripwire === undefined ? {} : { marker: tripwireMarker(list, tripwire.processorId) }),
  }
}

async function saveRun(store: ThreadStore, threadId: string, state: object): Promise<void> {
  const { runId } = state as { readonly runId?: unknown }
  if (typeof runId === 'string') await store.saveRun({ runId, threadId, state })
}
