// Who wants to be told about a run: integrations of the AI SDK, or subscribers to its diagnostics channel. The telling is in `telemetry.ts`.
import { AI_SDK_TELEMETRY_TRACING_CHANNEL, type Telemetry, type TelemetryOptions } from 'ai'

/** The integrations of a run, as the AI SDK chooses them; undefined when nobody listens at all. */
export function listenersOf(telemetry: TelemetryOptions | undefined): readonly Telemetry[] | undefined {
  if (telemetry?.isEnabled === false) return undefined
  const registered = globalThis.AI_SDK_TELEMETRY_INTEGRATIONS as readonly Telemetry[] | undefined
  const integrations = [telemetry?.integrations ?? registered ?? []].flat() as readonly Telemetry[]
  return integrations.length > 0 || channel()?.hasSubscribers === true ? integrations : undefined
}

let found: ReturnType<typeof tracingChannel> | undefined

function channel(): ReturnType<typeof tracingChannel> {
  return (found ??= tracingChannel())
}

/** Where there is no Node there is no channel. */
function tracingChannel() {
  const builtin = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel')
  return builtin?.tracingChannel(AI_SDK_TELEMETRY_TRACING_CHANNEL)
}
