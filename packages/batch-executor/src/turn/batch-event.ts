// What a batch tells its listeners, and the same in lines of text.
import type { Plan } from './plan.ts'
import type { Savings, Usage } from './savings.ts'

/** Why a batch or a turn ended: the plan's reason, or what broke the turn off. */
export type StoppedReason = Plan['stoppedReason'] | 'prepare_error' | 'llm_error' | 'tripwire' | 'aborted'

/** How long the phases of a turn took. */
export interface BatchTiming {
  readonly totalMs: number
  readonly llmCallMs: number
  readonly dataCollectionMs: number
  readonly prepareHooksMs: number
  readonly finalizeHooksMs: number
}

/** What every event says: whose batch it is, in words what happened, and how many steps the batch holds by now. */
export interface BatchEventDetails {
  readonly sessionId: string
  readonly routeId: string | null
  readonly reason: string
  readonly batchSize: number
}

/** The events and what each adds to the details. */
export interface BatchEventMap {
  readonly batch_start: { readonly stepIndex: number }
  readonly step_included: { readonly stepId: string }
  readonly step_skipped: { readonly stepId: string }
  readonly batch_stop: {
    readonly stoppedReason: StoppedReason
    readonly stepId?: string
    readonly missing: readonly string[]
  }
  readonly batch_complete: {
    readonly stoppedReason: StoppedReason
    readonly callCount: number
    readonly usage: Usage
    readonly savings: Savings
    readonly timing: BatchTiming
    readonly error?: string
  }
}

/** An event before it has a time. */
export type BatchNews = {
  [TType in keyof BatchEventMap]: {
    readonly type: TType
    readonly details: BatchEventDetails & BatchEventMap[TType]
  }
}[keyof BatchEventMap]

/** An event as listeners get it; `timestamp` is ISO-8601. It is JSON and holds no values. */
export type BatchEvent = BatchNews & { readonly timestamp: string }

/** What was told of a turn so far, so that a plan made again tells only what is new. */
export class Told {
  readonly #steps = new Map<string, string>()
  #stop: string | undefined

  /**
   * The events of a plan: its start, each step that was included or skipped, its stop.
   *
   * There are none when all of that was told before. The steps that the turn has entered count into the batch.
   */
  newsOf(plan: Plan, enteredCount = 0): readonly BatchNews[] {
    const { sessionId, routeId, steps, batch, stoppedReason, stoppedAtStep: stepId } = plan
    const fresh = steps.filter(({ id, status }) => this.#steps.get(`${routeId}/${id}`) !== status)
    const walked = fresh.filter(({ status }) => status === 'batched' || status === 'skipped')
    const size = enteredCount + batch.length
    const end = `${routeId} ${stoppedReason} ${stepId} ${size}`
    if (walked.length === 0 && this.#stop === end) return []
    for (const { id, status } of walked) this.#steps.set(`${routeId}/${id}`, status)
    this.#stop = end

    const details = (reason: string, batchSize: number) => ({ sessionId, routeId, reason, batchSize })
    const sizeAt = (id: string) =>
      enteredCount +
      steps.slice(0, steps.findIndex(step => step.id === id) + 1).filter(step => step.status === 'batched').length
    const stepIndex = steps.find(step => step.status !== 'done')?.index ?? steps.length
    return [
      { type: 'batch_start', details: { ...details('batch determination begins', enteredCount), stepIndex } },
      ...walked.map(({ id, status, reason }): BatchNews => ({
        type: status === 'skipped' ? 'step_skipped' : 'step_included',
        details: { ...details(reason, sizeAt(id)), stepId: id },
      })),
      {
        type: 'batch_stop',
        details: {
          ...details(stopReasonOf(plan), size),
          stoppedReason,
          ...(stepId !== undefined && { stepId }),
          missing: plan.ask?.fields ?? [],
        },
      },
    ]
  }
}

function stopReasonOf({ steps, stoppedReason, stoppedAtStep }: Plan): string {
  if (stoppedReason === 'no_route') return 'no route is chosen'
  const last = steps.at(-1)
  return last?.id === stoppedAtStep ? (last?.reason ?? '') : 'no step is left'
}

const stopLines: Partial<Record<StoppedReason, string>> = {
  needs_input: 'needs input',
  max_steps_reached: 'is beyond the batch',
  max_asks_reached: 'was asked for often enough',
  blocked: 'requires what no step asks for',
}

/** The debug lines of an event. */
export function debugLines({ type, details }: BatchNews): readonly string[] {
  const line = (text: string) => `[BatchExecutor] ${text}`
  switch (type) {
    case 'batch_start':
      return [line(`Starting batch determination from step index ${details.stepIndex}`)]
    case 'step_included':
      return [line(`Including step ${details.stepId} in batch (${details.reason})`)]
    case 'step_skipped':
      return [line(`Skipping step ${details.stepId} (${details.reason})`)]
    case 'batch_stop': {
      const { stoppedReason, stepId, batchSize } = details
      const why = stopLines[stoppedReason]
      const end = `Batch determination complete. Steps: ${batchSize}, Stopped reason: ${stoppedReason}`
      return why === undefined ? [line(end)] : [line(`Step ${stepId} ${why}, stopping batch`), line(end)]
    }
    case 'batch_complete': {
      const { batchSize, stoppedReason, callCount, error } = details
      const end = `Steps: ${batchSize}, Calls: ${callCount}, Stopped reason: ${stoppedReason}`
      return [line(`Batch execution complete. ${end}${error === undefined ? '' : `, Error: ${error}`}`)]
    }
  }
}

/** A plan in lines of text, the same that an executor writes with `debug: true`. */
export function describePlan(plan: Plan): string {
  return new Told().newsOf(plan).flatMap(debugLines).join('\n')
}
