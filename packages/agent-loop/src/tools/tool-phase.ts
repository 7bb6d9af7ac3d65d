// The tools of an accepted step: run at once up to a bound, each result through the processors before anyone sees it.
import { toolNameOf, type ToolChange } from '@lockstep/message-list'
import { isPromiseLike, TripWire, untilAborted, type MaybePromise, type ToolOutcome } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import { createToolModelOutput } from '../ai-internal.ts'
import { partsOf, toolPartsOf } from '../step/accepted-step.ts'
import type { Attempt } from '../step/attempt.ts'
import { tellInput } from './input-callbacks.ts'
import { askFor } from './pending-approval.ts'
import { errorText } from '../error-text.ts'
import type { Run } from '../run/run.ts'
import { toolOptions } from './tool-context.ts'
import type { GuardedToolCall } from './tool-guard.ts'
import { follow, withDeadline } from '../run/timeouts.ts'
import type { ToolTrace } from '../run/trace.ts'

const defaultConcurrency = 10

/** Asks people, runs the other tools of a step and commits what they gave. Throws: a tripwire of a processor, or the reason of an abort. */
export async function runToolPhase(run: Run, attempt: Attempt): Promise<void> {
  if (attempt.toolCalls.length === 0) return
  for (const call of attempt.toolCalls) {
    const told = tellInput(run, attempt, call)
    if (told) await told
  }
  const [asked, others] = [attempt.toolCalls.filter(isAsked), attempt.toolCalls.filter(call => !isAsked(call))]
  for (const call of asked) {
    await askFor(run, attempt, call)
    note(run, call, 'asked')
  }
  const [first] = others
  if (others.length === 1) await runToolCall(run, attempt, { call: first!, signal: run.signal })
  else await runSideBySide(run, attempt, others)
}

/** Runs calls at once up to a bound. When one fails for good, the others are told to stop. */
async function runSideBySide(run: Run, attempt: Attempt, calls: readonly GuardedToolCall[]): Promise<void> {
  const phase = new AbortController()
  const unlink = follow(run.signal, phase)
  try {
    const waiting = calls.values()
    const workers = Array.from(
      { length: Math.min(run.options.toolConcurrency ?? defaultConcurrency, calls.length) },
      async () => {
        for (const call of waiting) await runToolCall(run, attempt, { call, signal: phase.signal })
      },
    )
    await allOrFirstError(workers, error => phase.abort(error))
  } finally {
    unlink()
  }
}

function isAsked({ verdict }: GuardedToolCall): boolean {
  return verdict.type === 'asked'
}

/** Tells whether the step leaves nothing for somebody else to do: every call of it has an outcome. */
export function allCallsAnswered(run: Run, attempt: Attempt): boolean {
  const calls = toolPartsOf(partsOf(run.list, attempt.place!)).filter(part => !part.providerExecuted)
  return calls.every(part => part.state.startsWith('output-'))
}

/** Tells whether the provider still owes the result of a call of this run, which it gives in a later step. */
export function awaitsProvider(run: Run, attempt: Attempt): boolean {
  const { tools } = attempt.prepared!.settings
  const deferring = new Set(Object.keys(tools).filter(name => isDeferring(tools[name]!)))
  if (deferring.size === 0) return false
  const calls = run.list.get.response.db().flatMap(({ content }) => toolPartsOf(content.parts))
  return calls.some(
    part => part.providerExecuted && part.state === 'input-available' && deferring.has(toolNameOf(part)),
  )
}

function isDeferring(tool: ToolSet[string]): boolean {
  return tool.type === 'provider' && 'supportsDeferredResults' in tool && tool.supportsDeferredResults === true
}

interface ToolTurn {
  readonly call: GuardedToolCall
  readonly signal: AbortSignal
}

async function runToolCall(run: Run, attempt: Attempt, turn: ToolTurn): Promise<void> {
  const { call } = turn
  turn.signal.throwIfAborted()
  if (call.verdict.type === 'denied') return deny(run, attempt, { call, reason: call.verdict.reason })
  const tool = attempt.prepared!.settings.tools[call.toolName]
  if (call.verdict.type === 'run' && tool?.execute === undefined) return note(run, call, 'not-run')
  const answer = () => answered(run, attempt, turn)
  await (run.telemetry ? run.telemetry.aroundTool(call, answer) : answer())
}

/** From the call to its result in the conversation. */
async function answered(run: Run, attempt: Attempt, turn: ToolTurn): Promise<ToolOutcome> {
  const { call } = turn
  const outcome = await reviewed(run, attempt, { call, outcome: await outcomeOf(run, attempt, turn) })
  const settled = settle(run, attempt, { call, outcome })
  if (settled) await settled
  return outcome
}

async function deny(
  run: Run,
  attempt: Attempt,
  { call, reason }: { readonly call: GuardedToolCall; readonly reason: string },
): Promise<void> {
  await attempt.takeInTurn(run.chunk('tool-output-denied', { ...payloadOf(call), reason }))
  listFor(run, call).updateTool(call.toolCallId, { state: 'output-denied', reason })
  note(run, call, 'denied')
}

/** What came of a call: the answer of a processor, an error about the input, or what the tool did. */
async function outcomeOf(run: Run, attempt: Attempt, turn: ToolTurn): Promise<ToolOutcome> {
  const { verdict } = turn.call
  if (verdict.type === 'answered') return { output: verdict.output }
  if (verdict.type === 'invalid') return { error: verdict.error }
  const { toolName } = turn.call
  const ms = run.timeouts.tools?.[toolName] ?? run.timeouts.toolMs
  try {
    const work = (signal: AbortSignal) => untilAborted(execute(run, attempt, { ...turn, signal }), signal)
    const perform = () =>
      ms === undefined ? work(turn.signal) : withDeadline({ ms, of: `The tool '${toolName}'` }, turn.signal, work)
    return { output: await (run.telemetry ? run.telemetry.executeTool(turn.call, perform) : perform()) }
  } catch (error) {
    turn.signal.throwIfAborted()
    const isRuns = attempt.hears(error)
    // An outcome without an error has an output.
    if (error === undefined) return { error: new Error(`The tool '${turn.call.toolName}' threw undefined.`) }
    if (!TripWire.isInstance(error)) {
      if (isRuns) throw error
      return { error }
    }
    if (!run.grantRetry(error)) throw error
    return { error: new Error(error.reason) }
  }
}

/** Runs the tool; values on the way to the last are shown as they come. */
async function execute(run: Run, attempt: Attempt, { call, signal }: ToolTurn): Promise<unknown> {
  const tool = attempt.prepared!.settings.tools[call.toolName]! as ToolSet[string] & { execute: ExecuteFunction }
  const input = call.verdict.type === 'run' ? call.verdict.input : call.input
  const { toolCallId, toolName } = call
  const made = toolOptions(run, tool, { toolCallId, toolName, signal })
  const options = isPromiseLike(made) ? ((await made) as object) : made
  const result = tool.execute(input, options)
  if (!isAsyncIterable(result)) return await result
  let last: { readonly output: unknown } | undefined
  for await (const output of result) {
    signal.throwIfAborted()
    if (last) await attempt.inPassing(() => showPreliminary(run, attempt, { call, output: last!.output }))
    last = { output }
  }
  return last?.output
}

type ExecuteFunction = (input: unknown, options: object) => unknown

async function showPreliminary(
  run: Run,
  attempt: Attempt,
  { call, output }: { readonly call: GuardedToolCall; readonly output: unknown },
): Promise<void> {
  const outcome = await review(run, { call, outcome: { output, preliminary: true } })
  if (outcome.error !== undefined) return
  await attempt.takeInTurn(run.chunk('tool-result', { ...payloadOf(call), output: outcome.output, preliminary: true }))
}

interface Settlement {
  readonly call: GuardedToolCall
  readonly outcome: ToolOutcome
}

function review(run: Run, { call, outcome }: Settlement): MaybePromise<ToolOutcome> {
  const { toolCallId, toolName, input } = call
  return run.runner.runProcessToolResult({ position: run.position, toolCall: { toolCallId, toolName, input }, outcome })
}

/** The outcome after the processors, its chunk shown. A processor that asks for a retry turns it into an error. */
async function reviewed(run: Run, attempt: Attempt, settlement: Settlement): Promise<ToolOutcome> {
  const { call } = settlement
  try {
    const judged = review(run, settlement)
    const outcome = isPromiseLike(judged) ? await judged : (judged as ToolOutcome)
    const shown = attempt.takeInTurn(outcomeChunk(run, call, outcome))
    if (shown) await shown
    return outcome
  } catch (error) {
    if (!TripWire.isInstance(error) || !run.grantRetry(error)) throw error
    const outcome = { error: new Error(error.reason) }
    await run.show(outcomeChunk(run, call, outcome))
    return outcome
  }
}

function outcomeChunk(run: Run, call: GuardedToolCall, outcome: ToolOutcome) {
  return outcome.error === undefined
    ? run.chunk('tool-result', { ...payloadOf(call), output: outcome.output })
    : run.chunk('tool-error', { ...payloadOf(call), error: outcome.error })
}

/** Puts the outcome into the conversation, next to its call. */
function settle(run: Run, attempt: Attempt, { call, outcome }: Settlement): Promise<void> | undefined {
  const tool = attempt.prepared!.settings.tools[call.toolName]
  if (outcome.error === undefined) {
    if (tool?.toModelOutput) return settleAsShown(run, { call, outcome }, tool)
    return enterOutput(run, call, { output: outcome.output })
  }
  listFor(run, call).updateTool(call.toolCallId, { state: 'output-error', errorText: errorText(outcome.error) })
  note(run, call, 'error')
}

/** The same for a tool that has its own words for the model. */
async function settleAsShown(run: Run, { call, outcome }: Settlement, tool: ToolSet[string]): Promise<void> {
  const { toolCallId, input } = call
  const { output } = outcome
  const made = createToolModelOutput({ toolCallId, input, output, tool, errorMode: 'none' })
  enterOutput(run, call, { output, modelOutput: await run.whileRunning(made) })
}

function enterOutput(
  run: Run,
  call: GuardedToolCall,
  shown: Pick<Extract<ToolChange, { state: 'output-available' }>, 'output' | 'modelOutput'>,
): undefined {
  listFor(run, call).updateTool(call.toolCallId, { state: 'output-available', ...shown })
  note(run, call, call.verdict.type === 'answered' ? 'answered' : 'result')
}

function listFor(run: Run, call: GuardedToolCall) {
  return run.list.as({ id: `tool:${call.toolName}`, step: run.stepNumber })
}

function note(run: Run, { toolCallId, toolName, input }: GuardedToolCall, outcome: ToolTrace['outcome']): void {
  run.recorder.tool(run.stepNumber, { toolCallId, toolName, input, outcome })
}

function payloadOf({ toolCallId, toolName, input, dynamic }: GuardedToolCall) {
  return { toolCallId, toolName, input, ...(dynamic ? { dynamic } : {}) }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Waits for all; the first error is told to `stop`, so that the others end soon, and thrown when all have ended. */
async function allOrFirstError(work: readonly Promise<void>[], stop: (error: unknown) => void): Promise<void> {
  let first: { readonly error: unknown } | undefined
  const watched = work.map(item =>
    item.catch((error: unknown) => {
      if (first) return
      first = { error }
      stop(error)
    }),
  )
  await Promise.all(watched)
  if (first) throw first.error
}
