// Integrations that remember what they are told, for the tests of this package.
import type { Telemetry } from 'ai'

/** What an integration is told, as far as tests look at it. */
export interface ToldEvent {
  readonly callId: string
  readonly operationId?: string
  readonly modelId?: string
  readonly stepNumber?: number
  readonly toolCall?: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }
  readonly runtimeContext?: Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

export interface Told {
  readonly name: string
  readonly event: ToldEvent
}

const events = [
  'onStart',
  'onStepStart',
  'onLanguageModelCallStart',
  'onLanguageModelCallEnd',
  'onToolExecutionStart',
  'onToolExecutionEnd',
  'onStepEnd',
  'onStepError',
  'onEnd',
  'onAbort',
  'onError',
] as const

/** An integration that records every event in order. */
export function recording() {
  const told: Told[] = []
  const record = (name: string) => (event: unknown) => void told.push({ name, event: event as ToldEvent })
  const integration: Telemetry = Object.fromEntries(events.map(name => [name, record(name)]))
  const of = (name: (typeof events)[number]) => told.filter(one => one.name === name).map(({ event }) => event)
  /** Names without those of processors' operations. */
  const names = () => {
    const processors = new Set(of('onStart').flatMap(event => (event.operationId === 'processor' ? event.callId : [])))
    return told.filter(({ event }) => !processors.has(event.callId)).map(({ name }) => name)
  }
  /** What processors did, in the order in which it was told. */
  const processors = () =>
    of('onStart').flatMap(({ operationId, modelId, runtimeContext }) =>
      operationId === 'processor' ? [`${modelId}: ${String(runtimeContext!['effect'])}`] : [],
    )
  return { integration, told, of, names, processors }
}

const starts: Readonly<Record<string, string>> = {
  onStart: 'run',
  onStepStart: 'step',
  onLanguageModelCallStart: 'chat',
  onToolExecutionStart: 'tool',
}
const ends: Readonly<Record<string, string>> = {
  onEnd: 'run',
  onAbort: 'run',
  onError: 'run',
  onStepEnd: 'step',
  onStepError: 'step',
  onLanguageModelCallEnd: 'chat',
  onToolExecutionEnd: 'tool',
}

/** What is wrong with the order of starts and ends: what begins is inside what is open, and ends once, when nothing is left in it. */
export function disorderIn(told: readonly Told[]): readonly string[] {
  const open = new Set<string>()
  const faults: string[] = []
  const inner: Readonly<Record<string, readonly string[]>> = { run: ['step', 'chat', 'tool'], step: ['chat', 'tool'] }
  for (const { name, event } of told) {
    const { callId, toolCall } = event
    const key = (kind: string) => [callId, kind, ...(kind === 'tool' ? [toolCall!.toolCallId] : [])].join(' ')
    const begun = starts[name]
    const over = ends[name]
    if (begun !== undefined) {
      if (open.has(key(begun))) faults.push(`${key(begun)} begins twice`)
      if (begun !== 'run' && !open.has(key('run'))) faults.push(`${key(begun)} begins outside`)
      open.add(key(begun))
    }
    if (over === undefined) continue
    if (!open.delete(key(over))) faults.push(`${key(over)} ends without a beginning`)
    const left = [...open].filter(other => inner[over]?.some(kind => other.startsWith(`${callId} ${kind}`)))
    if (left.length > 0) faults.push(`${key(over)} ends before ${left.join(', ')}`)
  }
  return [...faults, ...[...open].map(key => `${key} never ends`)]
}
