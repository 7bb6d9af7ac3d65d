// A run as JSON: what another process needs to go on with it, at a step boundary or in the middle of a step.
import { MessageList, type SavedList, type Snapshot, type SystemMessage } from '@lockstep/message-list'
import { frozenCopy, type Chunk, type SavedRunner, type StepResult } from '@lockstep/processors'
import type { LanguageModelUsage } from 'ai'
import { contentOf, partsOf, type AcceptedStep, type StepPlace } from '../step/accepted-step.ts'
import { Attempt } from '../step/attempt.ts'
import { LoopError } from '../errors.ts'
import type { CallSummary } from '../model/part-reader.ts'
import type { PendingCall } from '../tools/pending-approval.ts'
import { errorText } from '../error-text.ts'
import type { Run } from './run.ts'
import type { ResponseInfo } from '../step/step-result-of.ts'
import type { StepTrace } from './trace.ts'

/** The conversation as it was before something: ids stand for messages that are the same in the list now. */
export type SavedBefore = readonly (string | SavedList['messages'][number])[]

/** Where a step stands in the list. */
interface SavedPlace {
  readonly messageId: string
  readonly index: number
}

/** The record of an accepted step without its content, which is in the list. */
interface SavedStep {
  readonly place: SavedPlace
  readonly record: Omit<StepResult, keyof ReturnType<typeof contentOf> | 'request'>
}

/** A step whose tools wait for a person. */
export interface OpenStep {
  readonly place: SavedPlace
  readonly before: SavedBefore
  readonly attemptNumber: number
  readonly summary: CallSummary
  readonly info: Omit<ResponseInfo, 'request'>
  readonly sources: StepResult['sources']
  readonly calls: readonly PendingCall[]
}

/** A step that is done, before the loop decides what comes next. */
interface DoneStep {
  readonly goesOn: boolean
  /** The list before it, for a refusal of the response that asks for another try. */
  readonly before: SavedBefore
}

/** A run as JSON. Give it to `resumeLoop` with the same tools and the same processors. */
export interface LoopState {
  readonly type: 'loop-state'
  readonly version: 1
  readonly runId: string
  /** A run is resumed with the processors that it was begun with. */
  readonly processorIds: readonly string[]
  readonly messageList: SavedList
  /** Before the first step, for a refusal of the whole response. */
  readonly opened: SavedBefore
  readonly originalSystemMessages: readonly SystemMessage[]
  readonly responseId: string
  readonly stepNumber: number
  readonly steps: readonly SavedStep[]
  readonly totalUsage: LanguageModelUsage
  readonly usageByProcessor: Readonly<Record<string, LanguageModelUsage>>
  readonly counts: { readonly processorRetries: number; readonly apiRetries: number; readonly objectRepairs: number }
  readonly warnings: readonly string[]
  readonly processors: SavedRunner
  readonly trace: readonly StepTrace[]
  /** Chunks that are held for the whole run. */
  readonly held: readonly Chunk[] | undefined
  /** There when the run was suspended. */
  readonly open: OpenStep | undefined
  /** There when the run was saved between two steps. */
  readonly done: DoneStep | undefined
}

/** Where a run is when it is saved: in the middle of a step, or at the end of one. */
export type SavedAt =
  | { readonly attempt: Attempt; readonly before: Snapshot }
  | { readonly goesOn: boolean; readonly before: Snapshot }

/** Saves a run. Throws: `state-not-json` of a processor. */
export function saveRun(run: Run, at: SavedAt): LoopState {
  const messageList = run.list.toJSON()
  const state: LoopState = {
    type: 'loop-state',
    version: 1,
    runId: run.runId,
    processorIds: run.runner.plan.processors.map(processor => processor.id),
    messageList,
    opened: savedBefore(run.opened!, messageList),
    originalSystemMessages: run.originalSystemMessages,
    responseId: run.responseId(),
    stepNumber: run.stepNumber,
    steps: run.steps.map(savedStep),
    totalUsage: run.usage.total,
    usageByProcessor: Object.fromEntries(run.usage.byProcessor),
    counts: {
      processorRetries: run.processorRetryCount,
      apiRetries: run.apiRetryCount,
      objectRepairs: run.objectRepairCount,
    },
    warnings: run.warnings,
    processors: run.runner.save(),
    trace: run.recorder.steps,
    held: run.held,
    open: 'attempt' in at ? openStep(run, at.attempt, savedBefore(at.before, messageList)) : undefined,
    done: 'goesOn' in at ? { goesOn: at.goesOn, before: savedBefore(at.before, messageList) } : undefined,
  }
  // What another process would read: no dates, no errors, nothing that is shared with this run.
  return JSON.parse(JSON.stringify(state, errorsAsText)) as LoopState
}

function openStep(run: Run, attempt: Attempt, before: SavedBefore): OpenStep {
  const { request: _, ...info } = attempt.info
  return {
    place: savedPlace(attempt.place!),
    before,
    attemptNumber: run.attemptNumber,
    summary: attempt.summary!,
    info,
    sources: attempt.response.sources,
    calls: run.pendingCalls,
  }
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? errorText(value) : value
}

/** Puts a saved run into a new one, whose list was read from the same state. */
export function restoreRun(run: Run, state: LoopState): void {
  run.stepNumber = state.stepNumber
  run.replaceSteps(state.steps.map(step => restoredStep(run.list, step)))
  run.originalSystemMessages = state.originalSystemMessages
  run.processorRetryCount = state.counts.processorRetries
  run.apiRetryCount = state.counts.apiRetries
  run.objectRepairCount = state.counts.objectRepairs
  run.warnings.push(...state.warnings)
  run.usage.restore(state.totalUsage, state.usageByProcessor)
  run.recorder.restore(state.trace)
  run.continueIn(state.responseId)
  run.holdAgain(state.held ?? [])
  run.pendingCalls = state.open?.calls ?? []
}

/** The attempt of the open step, as far as its tools need it. */
export function restoredAttempt(run: Run, { place: saved, attemptNumber, summary, info, sources }: OpenStep): Attempt {
  run.attemptNumber = attemptNumber
  const place = placeIn(run.list, saved)
  const attempt = new Attempt(run, partsOf(run.list, place))
  attempt.place = place
  attempt.summary = frozenCopy(summary)
  attempt.info = { ...frozenCopy(info), request: Object.freeze({}), metadata: withDate(info.metadata) }
  attempt.response.sources.push(...sources)
  attempt.prepared = { settings: run.settings, overlay: undefined }
  // It was shown, by the run that was put down.
  attempt.shownCount = 1
  return attempt
}

/** The list as it was, where most of it is what it is now. */
function savedBefore(before: Snapshot, now: SavedList): SavedBefore {
  const current = new Set<unknown>(now.messages.map(({ message }) => message))
  return new MessageList({ snapshot: before })
    .toJSON()
    .messages.map(entry => (current.has(entry.message) ? entry.message.id : entry))
}

/** The snapshot that `savedBefore` was made of, as far as messages go. */
export function snapshotBefore(saved: SavedBefore, state: LoopState): Snapshot {
  const { messageList, originalSystemMessages: systemMessages } = state
  const byId = new Map(messageList.messages.map(entry => [entry.message.id, entry]))
  const messages = saved.map(entry => (typeof entry === 'string' ? byId.get(entry)! : entry))
  return MessageList.fromJSON({ ...messageList, messages, systemMessages }).snapshot()
}

/** The record of a step, for the state. */
function savedStep({ place, result }: AcceptedStep): SavedStep {
  const record = Object.entries(result).filter(([key]) => !inTheList.has(key))
  return { place: savedPlace(place), record: Object.fromEntries(record) as unknown as SavedStep['record'] }
}

/** What of a record is read from the list; and the body of the request, which is large. */
const inTheList: ReadonlySet<string> = new Set([...Object.keys(contentOf([])), 'request'])

/** The place of a step, by position instead of identity. */
function savedPlace({ messageId, index }: StepPlace): SavedPlace {
  return { messageId, index }
}

/** The place of a saved step in a list that was read from the state. Throws: `invalid-state`. */
function placeIn(list: MessageList, { messageId, index }: SavedPlace): StepPlace {
  const start = list.find(messageId)?.content.parts[index]
  if (start?.type !== 'step-start')
    throw new LoopError(
      'invalid-state',
      `The state says that a step begins at part ${index} of the message '${messageId}', where its list has ${start === undefined ? 'nothing' : `a part '${start.type}'`}. Resume a state as it was saved.`,
    )
  return { messageId, start, index }
}

/** A step as the run had it. What it said is read from the list. */
function restoredStep(list: MessageList, { place: saved, record }: SavedStep): AcceptedStep {
  const place = placeIn(list, saved)
  const content = contentOf(partsOf(list, place))
  const result = { ...record, ...content, request: {}, response: withDate(record.response) }
  return { place, asked: undefined, result: frozenCopy<StepResult>(result) }
}

/** Times are text in JSON. */
function withDate<T extends { readonly timestamp?: Date | undefined }>(response: T): T {
  return response.timestamp === undefined ? response : { ...response, timestamp: new Date(response.timestamp) }
}

const keys = [
  'runId',
  'processorIds',
  'messageList',
  'opened',
  'originalSystemMessages',
  'responseId',
  'stepNumber',
  'steps',
  'totalUsage',
  'usageByProcessor',
  'counts',
  'warnings',
  'processors',
  'trace',
] as const

/** Checks that a value is a state that this version can go on with. Throws: `unsupported-state`, `invalid-state`. */
export function checkState(value: unknown): asserts value is LoopState {
  const { type, version } = (value ?? {}) as { readonly type?: unknown; readonly version?: unknown }
  if (typeof value !== 'object' || type !== 'loop-state')
    throw new LoopError(
      'invalid-state',
      `What is to be resumed is ${typeof value === 'string' ? 'text' : `no state (its type is ${JSON.stringify(type ?? null)})`}. Give the \`loopState\` of a suspended run, parsed.`,
    )
  const missing = keys.find(key => (value as Partial<LoopState>)[key] === undefined)
  const { open, done } = value as Partial<LoopState>
  const lost = missing ?? (open === undefined && done === undefined ? 'open step and no done one' : undefined)
  if (version === 1 && lost !== undefined)
    throw new LoopError('invalid-state', `The state has no ${lost}. Resume a state as it was saved.`)
  if (version !== 1)
    throw new LoopError(
      'unsupported-state',
      `The state has the version ${JSON.stringify(version)}, and this package reads version 1. Resume it with the version that saved it, or start the run again.`,
    )
}
