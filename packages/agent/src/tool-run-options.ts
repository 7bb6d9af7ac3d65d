// What a tool is given by a run, beyond what the AI SDK gives it.
import type { ProcessorStreamWriter, RequestContext } from '@lockstep/processors'
import type { ToolExecutionOptions } from 'ai'

/**
 * The options of a tool's `execute`, as a run gives them. The AI SDK types `execute` without them, so say it there.
 *
 * @example
 * execute: async ({ query }, options) => {
 *   const { writer, requestContext } = options as ToolRunOptions<{ tier: 'free' | 'pro' }>
 *   await writer.custom({ type: 'data-progress', data: { done: 0.5 } })
 *   return find(query, requestContext.get('tier'))
 * }
 */
export interface ToolRunOptions<VALUES extends object = Record<string, unknown>> extends ToolExecutionOptions<unknown> {
  readonly runId: string
  /** That of the call, the same object that processors have. */
  readonly requestContext: RequestContext<VALUES>
  /** Shows `data-*` chunks while the tool runs, and keeps them in the response unless they are `transient`. */
  readonly writer: ProcessorStreamWriter
}
