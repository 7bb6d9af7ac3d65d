// The hooks of a step: what they are given, and how one is run under an abort signal.
import { BatchError, reasonOf } from '../errors.ts'
import type { KnownData, RouteStep } from './flow-step.ts'
import type { Route } from './route.ts'
import type { Session } from '../session/session.ts'

/** What a hook is given. Nothing in it can be changed. */
export interface HookArgs<TData, TContext = unknown> {
  readonly data: KnownData<TData>
  readonly session: Session<TData>
  readonly routeId: string
  readonly stepId: string
  /** The same for every try at the same visit of a step: the idempotency key for what the hook does outside. */
  readonly visitKey: string
  /** Whatever the caller of the turn passed along. */
  readonly context: TContext
  readonly abortSignal: AbortSignal | undefined
}

/** A hook of a step. */
export type Hook<TData, TContext, TResult> = (args: HookArgs<TData, TContext>) => TResult | Promise<TResult>

/** What a turn brings along, whatever its route. The context is required when the route's hooks say what it is. */
export type TurnContext<TData, TContext> = {
  readonly session: Session<TData>
  readonly abortSignal?: AbortSignal
} & (unknown extends TContext ? { readonly context?: TContext } : { readonly context: TContext })

/** What the hooks of a route are run with. */
export type HookTurn<TData, TContext> = {
  readonly session: Session<TData>
  readonly route: Route<TData, TContext>
  readonly abortSignal?: AbortSignal
} & (unknown extends TContext ? { readonly context?: TContext } : { readonly context: TContext })

/** One hook to run. */
export interface HookCall<TData, TContext> {
  readonly name: 'prepare' | 'finalize'
  readonly step: RouteStep<TData, TContext>
  /** Which visit of the step this is, from 1. */
  readonly visit: number
}

/**
 * Runs a hook of a step, if it has one, and returns what it returns.
 *
 * *Throws* `prepare-failed` or `finalize-failed` with what the hook threw, or `aborted` with the signal's reason; an
 * abort does not wait for the hook.
 */
export async function runHook<TData, TContext>(
  turn: HookTurn<TData, TContext>,
  call: HookCall<TData, TContext>,
): Promise<KnownData<TData> | undefined> {
  const { session, route, abortSignal } = turn
  const { name, step, visit } = call
  const visitKey = [session.id, route.id, step.id, visit].map(encodeURIComponent).join('/')
  const { context } = turn as { readonly context?: TContext }
  const args = { data: session.data, session, routeId: route.id, stepId: step.id, visitKey, context, abortSignal }
  try {
    abortSignal?.throwIfAborted()
    return (await untilAborted(step[name]?.(args as HookArgs<TData, TContext>), abortSignal)) ?? undefined
  } catch (cause) {
    if (abortSignal?.aborted) throw abortedBy(abortSignal)
    const message = `The ${name} hook of step "${step.id}" failed: ${reasonOf(cause)}`
    throw new BatchError(`${name}-failed`, message, { routeId: route.id, stepId: step.id, cause })
  }
}

/** The error of a turn whose signal aborted. */
export function abortedBy(signal: AbortSignal): BatchError {
  const message = `The turn was aborted: ${reasonOf(signal.reason)}. The session is as it was; run the turn again.`
  return new BatchError('aborted', message, { cause: signal.reason })
}

/**
 * Waits for a value, but no longer than until the signal aborts; then it rejects with the signal's reason.
 *
 * What the value does later is not looked at, and nothing is left listening on the signal.
 */
export async function untilAborted<T>(value: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return value
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([aborted, value])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
