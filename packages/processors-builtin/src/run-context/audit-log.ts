// An account of what a run did, event by event, to a sink: model calls, tool calls, decisions, ends.
import { isToolPart, toolNameOf, type AgentMessage, type ToolPart } from '@lockstep/message-list'
import {
  isPromiseLike,
  untilAborted,
  type MaybePromise,
  type Processor,
  type ProcessorContext,
} from '@lockstep/processors'
import type { AuditEvent, AuditFact } from './audit-event.ts'
import { BuiltinError } from '../errors.ts'
import { EventQueue } from './event-queue.ts'
import { rewriteValue } from '../texts/rewritten-value.ts'

export type { AuditEvent, AuditFact } from './audit-event.ts'

/** Options of the log. */
export interface AuditLogOptions {
  /** Takes events, several when they came while it was busy. It is called again when it is done, never before. */
  readonly sink: (events: readonly AuditEvent[]) => MaybePromise<void>
  /** Has what was said, given and got in the events as well: texts, inputs, outputs. */
  readonly content?: boolean
  /** Changes each text that goes into an event, names of properties and reasons too. */
  readonly redact?: (text: string) => string
  /** What to say of each run: the user, the tenant, the thread. */
  readonly fields?: (run: Pick<ProcessorContext, 'requestContext'>) => Readonly<Record<string, unknown>>
  /** Is told of events that could not be written; the run goes on. Without it, the run fails. */
  readonly onLoss?: (events: readonly AuditEvent[], error: unknown) => void
  /** How many events may wait for the sink before the run waits; 100 when absent. */
  readonly maxWaiting?: number
  /** How long the end of a run waits for the sink; 5,000 when absent. */
  readonly timeoutMs?: number
  /** Gives the id of a run; `crypto.randomUUID` when absent. */
  readonly generateId?: () => string
  /** The time; `() => new Date()` when absent. */
  readonly now?: () => Date
}

/** What the log keeps of a run. */
export interface AuditLogState {
  runId: string
}

interface Leg {
  readonly queue: EventQueue<AuditEvent>
  /** How many events there were. */
  count: number
}

type Context = Pick<ProcessorContext<unknown, AuditLogState>, 'state' | 'stepNumber' | 'requestContext' | 'abortSignal'>

/**
 * A processor that observes, and tells a sink. It changes nothing, and no chunk of the stream passes it.
 *
 * *Order*: last in `inputProcessors` and `outputProcessors`, to tell of what is left when the others have done their work.
 * *Throws*: `missing-sink`; in a run, without `onLoss`, what the sink throws.
 */
export function auditLog(options: AuditLogOptions): Processor<'audit-log', unknown, AuditLogState> {
  const { sink, content = false, redact, fields, onLoss, maxWaiting = 100, timeoutMs = 5_000 } = options
  const { generateId = () => crypto.randomUUID(), now = () => new Date() } = options
  if (typeof sink !== 'function')
    throw new BuiltinError('missing-sink', 'An audit log needs sink: (events) => void, or a promise.')
  /** What is under way: a run from its beginning, or from where it was taken up, to its end, or to where it is put down. */
  const legs = new WeakMap<object, Leg>()
  const legOf = (context: Context): Leg => {
    const { state } = context
    let leg = legs.get(state)
    if (leg) return leg
    leg = { queue: new EventQueue({ write: sink, maxWaiting, timeoutMs }), count: 0 }
    legs.set(state, leg)
    const isResumed = state.runId !== undefined
    state.runId ??= generateId()
    if (isResumed) leg.queue.put(eventOf(context, leg, { type: 'run-resume' }))
    return leg
  }
  const eventOf = ({ state, stepNumber, requestContext }: Context, leg: Leg, fact: AuditFact): AuditEvent => {
    const position = { runId: state.runId!, sequence: leg.count++, at: now().toISOString(), stepNumber }
    return { ...position, ...(fields && { fields: fields({ requestContext }) }), ...redacted(fact) }
  }
  const redacted = (fact: AuditFact): AuditFact => (redact ? redactedFact(fact, redact) : fact)
  const tell = (context: Context, fact: AuditFact): MaybePromise<void> => {
    try {
      const leg = legOf(context)
      const added = leg.queue.add(eventOf(context, leg, fact))
      if (!isPromiseLike(added)) return
      const room = untilAborted(added, context.abortSignal)
      // What could not be written waits for the next write; at the end somebody is told.
      return onLoss === undefined ? room : room.catch(() => context.abortSignal.throwIfAborted())
    } catch (error) {
      if (onLoss === undefined) throw error
    }
  }

  return {
    id: 'audit-log',
    name: 'Audit log',
    description: 'Tells a sink what happened in a run.',

    processInput: context =>
      tell(context, { type: 'run-start', ...(content && { input: context.messages.map(said) }) }),

    processLLMRequest(context) {
      const { model, prompt, tools, activeTools, retryCount } = context
      const { provider, modelId } = model
      const names = [...(activeTools ?? Object.keys(tools))]
      const sent = { model: { provider, modelId }, messageCount: prompt.length, tools: names, retryCount }
      return tell(context, { type: 'model-call', ...sent })
    },

    processLLMResponse: context => tell(context, { type: 'model-response', fromCache: context.fromCache }),

    processAPIError: context => tell(context, { type: 'model-error', error: errorText(context.error) }),

    processToolCall(context) {
      const { toolCallId, toolName, input, approval } = context
      const more = { ...(content && { input }), ...(approval && { approvalId: approval.approvalId }) }
      return tell(context, { type: 'tool-call', toolCallId, toolName, ...more })
    },

    processToolResult(context) {
      const { toolCallId, toolName, output, error, preliminary } = context
      if (preliminary) return
      const isError = error !== undefined
      const got = content && { output: isError ? errorText(error) : output }
      return tell(context, { type: 'tool-result', toolCallId, toolName, isError, ...got })
    },

    processStepEnd(context) {
      const { attemptCount, finishReason, usage, text } = context.step
      const denied = partsOfStep(context.messages).flatMap(deniedCall)
      const end = { type: 'step-end', attemptCount, finishReason, usage, ...(content && { text }) } as const
      return tellAll(context, [...denied, end])
    },

    async processRunEnd(context) {
      const { stopReason, tripwire, error, steps, messages } = context
      const asked = stopReason === 'suspended' ? partsOfStep(messages).flatMap(askedCall) : []
      const refusal = tripwire && {
        processorId: tripwire.processorId,
        reason: tripwire.reason,
        ...(content && tripwire.metadata !== undefined && { metadata: tripwire.metadata }),
      }
      const failed = error === undefined ? {} : { error: errorText(error) }
      const end = { stopReason, stepCount: steps.length, ...(refusal && { tripwire: refusal }), ...failed }
      const leg = legOf(context)
      for (const fact of [...asked, { type: 'run-end', ...end } as const]) leg.queue.put(eventOf(context, leg, fact))
      const lost = await leg.queue.close()
      if (lost === undefined) return
      if (onLoss === undefined) throw lost.error
      onLoss(lost.events, lost.error)
    },
  }

  async function tellAll(context: Context, facts: readonly AuditFact[]): Promise<void> {
    for (const fact of facts) await tell(context, fact)
  }
}

/** What a run is put together by: a redactor could take an id for a number. */
const ids: ReadonlySet<string> = new Set([
  'toolCallId',
  'toolName',
  'approvalId',
  'stopReason',
  'finishReason',
  'usage',
])

function redactedFact({ type, ...rest }: AuditFact, redact: (text: string) => string): AuditFact {
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    ids.has(name) ? value : rewriteValue(value, redact),
  ])
  return { type, ...Object.fromEntries(entries) } as AuditFact
}

function errorText(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`
  return typeof error === 'string' ? error : `something that is no Error (${typeof error})`
}

function said({ role, content }: AgentMessage): unknown {
  return { role, parts: content.parts }
}

/** The calls of the last step. */
function partsOfStep(messages: readonly AgentMessage[]): readonly ToolPart[] {
  const parts = messages.findLast(({ role }) => role === 'assistant')?.content.parts ?? []
  const begin = parts.findLastIndex(({ type }) => type === 'step-start')
  return parts.slice(begin + 1).filter(isToolPart)
}

function deniedCall(part: ToolPart): readonly AuditFact[] {
  if (part.state !== 'output-denied') return []
  const reason = part.approval?.reason ?? ''
  return [{ type: 'tool-denied', toolCallId: part.toolCallId, toolName: toolNameOf(part), reason }]
}

function askedCall(part: ToolPart): readonly AuditFact[] {
  if (part.state !== 'approval-requested' || part.approval === undefined) return []
  const { id: approvalId, requestReason } = part.approval
  const reason = requestReason === undefined ? {} : { reason: requestReason }
  return [
    { type: 'approval-requested', toolCallId: part.toolCallId, toolName: toolNameOf(part), approvalId, ...reason },
  ]
}
