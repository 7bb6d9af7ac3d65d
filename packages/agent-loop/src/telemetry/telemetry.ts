// The run as integrations of the AI SDK see it: an operation, its steps, their model calls and tools, and the processors that
// did something. Loaded when somebody listens. What was withdrawn is told without what it said.
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { HookEffect, ModelCallRequest, ModelCallResult, StepSettings, ToolOutcome } from '@lockstep/processors'
import { generateId, type LanguageModelUsage, type Telemetry, type TelemetryOptions } from 'ai'
import { asLanguageModelUsage, createTelemetryDispatcher } from '../ai-internal.ts'
import type { Attempt } from '../step/attempt.ts'
import type { Ending } from '../run/loop-result.ts'
import { detachedPrompt } from '../model/detached-call.ts'
import { tellDetachedCall } from './detached-span.ts'
import { tellProcessorSpan, type SpanParent } from './processor-span.ts'
import type { Run } from '../run/run.ts'
import { inContext } from './context.ts'
import { callEndEvent, endEvent, stepEndEvent, type StepOutcome } from './ends.ts'
import { contextsOf, conversationEvent, promptEvent, withRunId, type CallTimes, type StepEvent } from './records.ts'
import { endTime, startTime } from './time.ts'
import type { GuardedToolCall } from '../tools/tool-guard.ts'
import { TracedSpan } from './traced-span.ts'

/** A model call, from its beginning. */
export interface TimedCall {
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly startedAt: number
  firstOutputAt: number | undefined
  endedAt: number | undefined
  usage: LanguageModelUsage | undefined
}

/** A step that integrations know of. */
interface OpenStep {
  readonly event: { readonly stepNumber: number; readonly messages: readonly object[] }
  readonly startedAt: number
  readonly channel: TracedSpan
  readonly toolMs: Record<string, number>
}

/** A tool that integrations know of. */
interface OpenTool {
  readonly event: { readonly toolCall: object }
  readonly startedAt: number
  endedAt: number
}

/** Tells about one run. No method throws for what an integration does, and work that goes through here gives what it gives. */
export class RunTelemetry {
  readonly #run: Run
  readonly #integrations: readonly Telemetry[]
  readonly #options: TelemetryOptions
  readonly #dispatcher: ReturnType<typeof createTelemetryDispatcher>
  readonly #callId = generateId()
  readonly #createdAt = performance.now()
  readonly #channel = new TracedSpan()
  readonly #usages: (LanguageModelUsage | undefined)[] = []
  readonly #tools = new Map<GuardedToolCall, OpenTool>()
  /** Their ids: of two calls that a model gave one id only the first is told while it is open. */
  readonly #toolIds = new Set<string>()
  #rootOpening: Promise<void> | undefined
  /** The step that the loop is in, told or not. */
  #begun: { readonly stepNumber: number; readonly at: number; readonly isEarly?: boolean } | undefined
  #stepOpening: Promise<OpenStep> | undefined
  #call: TimedCall | undefined
  #lastCall: TimedCall | undefined
  #lastStep: StepEvent | undefined
  #effects: readonly HookEffect[] = []

  constructor(run: Run, integrations: readonly Telemetry[]) {
    this.#run = run
    this.#integrations = integrations
    this.#options = withRunId(run.options.telemetry)
    this.#dispatcher = createTelemetryDispatcher({ telemetry: this.#options })
  }

  /** A hook has done something. It is told when what it belongs to is open. */
  note(effect: HookEffect): void {
    if (effect.event.effect.type !== 'kept-step-only') this.#effects = [...this.#effects, effect]
  }

  /** A step begins; the one before is over. Integrations hear of it with its prompt. */
  async beginStep(): Promise<void> {
    if (!this.#begun?.isEarly) await this.#closeStep()
    const { at = performance.now() } = this.#begun ?? {}
    this.#begun = { stepNumber: this.#run.stepNumber, at }
  }

  /** The prompt of an attempt is ready. */
  async promptReady(settings: StepSettings, prompt: LanguageModelV4Prompt): Promise<void> {
    await this.#openStep({ settings, prompt })
    await this.#tellEffects()
  }

  /** Calls the model inside the context of its span. */
  async callModel<T>(
    { provider, modelId }: StepSettings['model'],
    options: LanguageModelV4CallOptions,
    call: () => Promise<T>,
  ): Promise<T> {
    const { prompt, abortSignal: _, tools, ...settings } = options
    const event = { ...settings, callId: this.#callId, provider, modelId, ...promptEvent(prompt), tools }
    const { channel } = await this.#openStep()
    await this.#dispatcher.onLanguageModelCallStart?.(event as never)
    const startedAt = performance.now()
    const open = { model: { provider, modelId }, startedAt, firstOutputAt: undefined, endedAt: undefined }
    this.#call = { ...open, usage: undefined }
    const enter = (execute: () => Promise<void>) =>
      channel.run(() => this.#dispatcher.executeLanguageModelCall?.({ ...event, execute } as never))
    return inContext(enter, call)
  }

  /** Notes when the parts of an answer come. */
  heard(part: LanguageModelV4StreamPart | undefined): void {
    const call = this.#call
    if (!call) return
    if (part === undefined) call.endedAt ??= performance.now()
    else if (part.type === 'finish') {
      call.usage = asLanguageModelUsage(part.usage)
      call.endedAt = performance.now()
    } else if (call.firstOutputAt === undefined && outputs.has(part.type)) call.firstOutputAt = performance.now()
  }

  /** The verdict on an attempt is in: its model call ends, and what was withdrawn of it is not told. */
  async endCall(attempt: Attempt, failure?: { readonly error: unknown }): Promise<void> {
    const call = this.#call
    if (!call) return
    call.endedAt ??= performance.now()
    await this.#tellEffects()
    this.#call = undefined
    this.#lastCall = call
    this.#usages.push(call.usage)
    const event = callEndEvent(this.#run, attempt, { call, failure, times: timesOf(call) })
    const timestamp = endTime(call.endedAt)
    await this.#dispatcher.onLanguageModelCallEnd?.({ ...event, callId: this.#callId, timestamp } as never)
  }

  /** A model call that a processor makes: an operation of its own. Before the first step it opens that. */
  async callDetached(
    processorId: string,
    { model, request }: { readonly model: StepSettings['model']; readonly request: ModelCallRequest },
    call: () => Promise<ModelCallResult>,
  ): Promise<ModelCallResult> {
    this.#begun ??= { stepNumber: this.#run.stepNumber, at: performance.now(), isEarly: true }
    await this.#openStep()
    return tellDetachedCall(this.#parent(), { processorId, model, prompt: detachedPrompt(request) }, call)
  }

  /** Runs a tool inside the context of its span, which stays open until its result has been reviewed. */
  async executeTool<T>(call: GuardedToolCall, work: () => Promise<T>): Promise<T> {
    if (this.#toolIds.has(call.toolCallId)) return work()
    this.#toolIds.add(call.toolCallId)
    const step = this.#begun && (await this.#openStep())
    if (!step) await this.#openRoot()
    const { toolCallId, toolName, verdict, dynamic } = call
    const input = verdict.type === 'run' ? verdict.input : call.input
    const toolCall = { type: 'tool-call', toolCallId, toolName, input, dynamic }
    const messages = step?.event.messages ?? conversationEvent(this.#run).messages
    const toolContext = contextsOf(this.#run, this.#options).toolsContext[toolName]
    const event = { callId: this.#callId, toolCall, messages, toolContext }
    await this.#dispatcher.onToolExecutionStart?.(event as never)
    const open = { event, startedAt: performance.now(), endedAt: 0 }
    this.#tools.set(call, open)
    const enter = (execute: () => Promise<void>) =>
      (step?.channel ?? this.#channel).run(() =>
        this.#dispatcher.runInTracingChannelSpan?.({
          type: 'executeTool',
          event,
          execute: async () => this.#dispatcher.executeTool?.({ ...event, toolCallId, execute } as never),
        }),
      )
    try {
      return await inContext(enter, work)
    } finally {
      open.endedAt = performance.now()
      if (step) step.toolMs[toolCallId] = open.endedAt - open.startedAt
    }
  }

  /** From a tool to its reviewed result: whatever comes of it, its span ends. */
  async aroundTool(call: GuardedToolCall, turn: () => Promise<ToolOutcome>): Promise<void> {
    let outcome: ToolOutcome
    try {
      outcome = await turn()
    } catch (error) {
      await this.#endTool(call, { error })
      throw error
    }
    await this.#endTool(call, outcome)
  }

  async #endTool(call: GuardedToolCall, { output, error }: ToolOutcome): Promise<void> {
    const open = this.#tools.get(call)
    if (!open) return
    await this.#tellEffects(call.toolCallId)
    this.#tools.delete(call)
    this.#toolIds.delete(call.toolCallId)
    const result = error === undefined ? { type: 'tool-result', output } : { type: 'tool-error', error }
    await this.#dispatcher.onToolExecutionEnd?.({
      ...open.event,
      toolOutput: { ...open.event.toolCall, ...result },
      toolExecutionMs: open.endedAt - open.startedAt,
      timestamp: endTime(open.endedAt),
    } as never)
  }

  /** The run is over, one way or another. */
  async end(ending: Ending): Promise<void> {
    await this.#openRoot()
    await this.#closeStep(ending)
    const [late] = this.#effects
    if (late) this.#begun = { stepNumber: this.#run.stepNumber, at: late.startedAt }
    await this.#closeStep(ending)
    const { stopReason, error } = ending
    const callId = this.#callId
    if (stopReason === 'error') await this.#dispatcher.onError?.({ callId, error })
    else {
      const open = stopReason === 'suspended' ? this.#lastStep : undefined
      const told = endEvent(this.#run, ending, { usages: this.#usages, open })
      const event = { ...told, callId, ...contextsOf(this.#run, this.#options) }
      if (stopReason === 'aborted')
        await this.#dispatcher.onAbort?.({ callId, steps: event.steps, reason: error } as never)
      else await this.#dispatcher.onEnd?.(event as never)
    }
    this.#channel.close(stopReason === 'error' ? { error } : undefined)
  }

  #openRoot(): Promise<void> {
    return (this.#rootOpening ??= this.#startRoot())
  }

  async #startRoot(): Promise<void> {
    const { settings, timeouts } = this.#run
    const event = {
      ...this.#settingsEvent(settings),
      ...conversationEvent(this.#run),
      operationId: 'ai.streamText',
      maxRetries: 2,
      ...settings.modelSettings,
      timeout: timeouts,
      timestamp: startTime(this.#createdAt),
    }
    this.#channel.open(this.#dispatcher.startTracingChannelContext, { type: 'streamText', event })
    await this.#dispatcher.onStart?.(event as never)
  }

  #openStep(from?: { readonly settings: StepSettings; readonly prompt: LanguageModelV4Prompt }): Promise<OpenStep> {
    return (this.#stepOpening ??= this.#startStep(from))
  }

  async #startStep(
    from: { readonly settings: StepSettings; readonly prompt: LanguageModelV4Prompt } | undefined,
  ): Promise<OpenStep> {
    await this.#openRoot()
    const { stepNumber, at } = this.#begun!
    const settings = from?.settings ?? this.#run.settings
    const startedAt = Math.min(at, ...this.#due(stepNumber).map(effect => effect.startedAt))
    const event = {
      ...this.#settingsEvent(settings),
      ...(from ? { ...promptEvent(from.prompt), promptMessages: from.prompt } : conversationEvent(this.#run)),
      stepNumber,
      stepToolChoice: settings.toolChoice,
      steps: this.#run.steps.slice(0, stepNumber).map(({ result }) => result),
      timestamp: startTime(startedAt),
    }
    const channel = new TracedSpan()
    const traced = { type: 'step', event: { callId: this.#callId, stepNumber } } as const
    this.#channel.run(() => channel.open(this.#dispatcher.startTracingChannelContext, traced))
    await this.#dispatcher.onStepStart?.(event as never)
    return { event, startedAt, channel, toolMs: {} }
  }

  #settingsEvent({ model, tools, toolChoice, activeTools, providerOptions, modelSettings }: StepSettings) {
    const { provider, modelId } = model
    return {
      callId: this.#callId,
      provider,
      modelId,
      tools: Object.keys(tools).length > 0 ? tools : undefined,
      toolChoice,
      activeTools,
      toolOrder: undefined,
      headers: modelSettings.headers,
      providerOptions,
      output: undefined,
      ...contextsOf(this.#run, this.#options),
    }
  }

  /** Ends the step that was begun; one of which nothing was told yet is told now. */
  async #closeStep(ending?: Ending): Promise<void> {
    if (!this.#begun) return
    const step = await this.#openStep()
    await this.#tellEffects()
    const { event, channel } = step
    this.#begun = undefined
    this.#stepOpening = undefined
    const accepted = this.#run.steps[event.stepNumber]
    if (ending?.stopReason === 'error' && !accepted) {
      const { error } = ending
      await this.#dispatcher.onStepError?.({ ...event, timestamp: undefined, error } as never)
      channel.close({ error })
      return
    }
    const call = this.#lastCall
    const outcome: StepOutcome = {
      accepted,
      ending,
      stepNumber: event.stepNumber,
      usage: call?.usage,
      times: call ? timesOf(call) : { responseTimeMs: 0, timeToFirstOutputMs: undefined },
      own: { stepTimeMs: performance.now() - step.startedAt, toolExecutionMs: step.toolMs },
    }
    this.#lastStep = {
      ...stepEndEvent(this.#run, outcome),
      callId: this.#callId,
      ...contextsOf(this.#run, this.#options),
    }
    await this.#dispatcher.onStepEnd?.(this.#lastStep as never)
    channel.close()
  }

  #due(stepNumber: number): readonly HookEffect[] {
    return this.#effects.filter(
      ({ event, toolCallId }) =>
        event.stepNumber <= stepNumber && (toolCallId === undefined || !this.#toolIds.has(toolCallId)),
    )
  }

  /** Tells of what hooks did: of a tool's those of its call, otherwise those of the open step. One span a hook call. */
  async #tellEffects(toolCallId?: string): Promise<void> {
    const due =
      toolCallId === undefined
        ? this.#due(this.#begun?.stepNumber ?? 0)
        : this.#effects.filter(effect => effect.toolCallId === toolCallId)
    if (due.length === 0) return
    this.#effects = this.#effects.filter(effect => !due.includes(effect))
    const inOrder = due.toSorted((a, b) => a.startedAt - b.startedAt)
    for (const call of new Set(inOrder.map(effect => effect.call)))
      await tellProcessorSpan(
        this.#parent(toolCallId),
        due.filter(effect => effect.call === call),
      )
  }

  #parent(toolCallId?: string): SpanParent {
    const { runId } = this.#run
    const integrations = this.#integrations
    return { callId: this.#callId, runId, toolCallId, integrations, telemetry: this.#options }
  }
}

const outputs: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-delta',
  'tool-call',
  'file',
  'reasoning-file',
])

function timesOf({ startedAt, firstOutputAt, endedAt }: TimedCall): CallTimes {
  return {
    responseTimeMs: endedAt! - startedAt,
    timeToFirstOutputMs: firstOutputAt === undefined ? undefined : firstOutputAt - startedAt,
  }
}
