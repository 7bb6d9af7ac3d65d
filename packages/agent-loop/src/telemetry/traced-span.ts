// A span on the AI SDK's diagnostics channel (`ai:telemetry`) that stays open while other work goes on, some of it inside.
import type { createTelemetryDispatcher } from '../ai-internal.ts'

type Start = NonNullable<ReturnType<typeof createTelemetryDispatcher>['startTracingChannelContext']>

/** Without subscribers to the channel it is nothing, and work inside it is just work. */
export class TracedSpan {
  #context: ReturnType<Start>
  #settle: ((outcome: Promise<undefined>) => void) | undefined

  open(start: Start | undefined, span: Omit<Parameters<Start>[0], 'completion'>): void {
    const completion = new Promise<undefined>(resolve => (this.#settle = resolve))
    this.#context = start?.({ ...span, completion })
  }

  run<T>(work: () => T): T {
    return this.#context ? this.#context.run(work) : work()
  }

  close(failure?: { readonly error: unknown }): void {
    this.#settle?.(failure ? Promise.reject(failure.error as Error) : Promise.resolve(undefined))
  }
}
