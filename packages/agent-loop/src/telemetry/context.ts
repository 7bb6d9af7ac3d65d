// Work inside a context that an integration made. What the integration does with it changes nothing about the work.
import type { Telemetry } from 'ai'

/**
 * Runs `work` once, inside `enter`, and gives what came of the work itself. An integration that fails, that gives something
 * else, or that never begins the work is passed over.
 */
export async function inContext<T>(
  enter: (execute: () => Promise<void>) => PromiseLike<unknown> | undefined,
  work: () => Promise<T>,
): Promise<T> {
  let begun: Promise<T> | undefined
  try {
    await enter(async () => {
      begun ??= work()
      await begun
    })
  } catch {
    // The error of the work is thrown below; one of the integration is its own affair.
  }
  return begun ?? work()
}

/** Where an operation of its own belongs. */
export interface SpanPlace {
  readonly parentCallId: string
  /** The tool that it is about, when that is open. */
  readonly toolCallId: string | undefined
  /** Of the operation itself. */
  readonly callId: string
}

/**
 * Work inside the tool that it is about, or else the model call or step that is open. Where an integration nests by tools
 * alone, the operation is entered as one.
 */
export function inside(integration: Telemetry, place: SpanPlace, work: () => Promise<void>): Promise<void> {
  const { parentCallId: callId, toolCallId = nestsByTools(integration) ? place.callId : undefined } = place
  const enter = (execute: () => Promise<void>) =>
    toolCallId === undefined
      ? (integration.executeLanguageModelCall?.({ callId, execute }) ?? execute())
      : (integration.executeTool?.({ callId, toolCallId, execute }) ?? execute())
  return inContext(enter, work)
}

/** Tells whether an integration knows steps, and nests by tools alone. */
export function nestsByTools({ onStepStart, executeTool, executeLanguageModelCall }: Telemetry): boolean {
  return onStepStart !== undefined && executeTool !== undefined && executeLanguageModelCall === undefined
}
