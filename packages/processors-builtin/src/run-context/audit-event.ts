// What an audit log tells: one event for each thing that happened in a run, as plain values.
import type { RunEnd, StepResult } from '@lockstep/processors'

/** Where an event belongs. */
interface Position {
  /** The same in all events of a run, also when it is put down and taken up again. */
  readonly runId: string
  /** Counted from 0, without gaps; anew when a run is taken up again. */
  readonly sequence: number
  /** ISO 8601. */
  readonly at: string
  readonly stepNumber: number
  /** What `fields` gave: the user, the tenant, the thread. */
  readonly fields?: Readonly<Record<string, unknown>>
}

interface Call {
  readonly toolCallId: string
  readonly toolName: string
}

/** What happened. What was said, given and got is there when the log is told to have it. */
export type AuditFact =
  | { readonly type: 'run-start'; readonly input?: readonly unknown[] }
  /** The run was put down, and goes on. */
  | { readonly type: 'run-resume' }
  | {
      readonly type: 'model-call'
      readonly model: StepResult['model']
      readonly messageCount: number
      readonly tools: readonly string[]
      /** How many attempts guards have refused before. */
      readonly retryCount: number
    }
  | { readonly type: 'model-response'; readonly fromCache: boolean }
  | { readonly type: 'model-error'; readonly error: string }
  | (Call & { readonly type: 'tool-call'; readonly input?: unknown; readonly approvalId?: string })
  | (Call & { readonly type: 'tool-result'; readonly isError: boolean; readonly output?: unknown })
  | (Call & { readonly type: 'tool-denied'; readonly reason: string })
  | (Call & { readonly type: 'approval-requested'; readonly approvalId: string; readonly reason?: string })
  | {
      readonly type: 'step-end'
      readonly attemptCount: number
      readonly finishReason: StepResult['finishReason']
      readonly usage: StepResult['usage']
      readonly text?: string
    }
  | {
      readonly type: 'run-end'
      readonly stopReason: RunEnd['stopReason']
      readonly stepCount: number
      /** Who refused the run, and why. */
      readonly tripwire?: { readonly processorId: string; readonly reason: string; readonly metadata?: unknown }
      readonly error?: string
    }

/** One line of an audit log. */
export type AuditEvent = Position & AuditFact
