// The one runner of processors: a method per hook, state per processor and run, and the ledger.
import type { RunHost, StepPosition } from './context.ts'
import type { HookScope } from './hooks/hook-call.ts'
import { Ledger, type LedgerEvent, type LedgerTotal } from './ledger.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { planProcessors, type ProcessorArrays, type ProcessorPlan } from './plan.ts'
import { runProcessAPIError } from './hooks/process-api-error.ts'
import { runProcessInput, type InputAt } from './hooks/process-input.ts'
import { runProcessInputStep, type InputStepStart, type PreparedStep } from './hooks/process-input-step.ts'
import { runProcessLLMRequest } from './hooks/process-llm-request.ts'
import { runProcessLLMResponse } from './hooks/process-llm-response.ts'
import { runProcessOutputResult } from './hooks/process-output-result.ts'
import { runProcessOutputStep } from './hooks/process-output-step.ts'
import { runProcessRunEnd } from './hooks/process-run-end.ts'
import { runProcessStepEnd } from './hooks/process-step-end.ts'
import { runProcessToolCall } from './hooks/process-tool-call.ts'
import { runProcessToolResult } from './hooks/process-tool-result.ts'
import { saveStates, type SavedStates } from './saved-state.ts'
import { StreamChain } from './stream-chain.ts'

const wholeInput: InputAt['given'] = list => list.get.input.db()

type At<TRun extends (...args: never[]) => unknown> = Parameters<TRun>[2]

/** A runner as data: the state of its processors and its account. */
export interface SavedRunner {
  readonly states: SavedStates
  readonly ledger: { readonly events: readonly LedgerEvent[]; readonly totals: readonly LedgerTotal[] }
}

/**
 * Runs the processors of one run. Create one per run; it holds their state.
 *
 * *Errors*: a tripwire is thrown as `TripWire`, anything else that a hook throws as `ProcessorError`.
 * *Cost*: a hook that no processor has costs nothing, and a result that is no promise is not awaited.
 */
export class ProcessorRunner {
  readonly plan: ProcessorPlan
  readonly ledger: Ledger
  readonly #states: Map<string, object>
  readonly #scope: HookScope
  #emptyChain: StreamChain | undefined

  constructor(arrays: ProcessorArrays, host: RunHost, saved?: SavedRunner) {
    this.plan = planProcessors(arrays)
    this.ledger = new Ledger(saved?.ledger)
    const states = new Map<string, object>(saved && Object.entries(structuredClone(saved.states)))
    this.#states = states
    const stateOf = (processorId: string) => {
      const state = states.get(processorId) ?? {}
      states.set(processorId, state)
      return state
    }
    this.#scope = { host, ledger: this.ledger, stateOf }
  }

  /** What another runner needs to go on from here. Throws: `state-not-json`. */
  save(): SavedRunner {
    return {
      states: saveStates(this.#states),
      ledger: { events: [...this.ledger.events], totals: this.ledger.totals.map(total => ({ ...total })) },
    }
  }

  /** Over the input of the run, or over messages that were put into it later. */
  runProcessInput(position: StepPosition, given: InputAt['given'] = wholeInput): MaybePromise<void> {
    return runProcessInput(this.#scope, this.plan.processInput, { position, given })
  }

  runProcessInputStep(start: InputStepStart): MaybePromise<PreparedStep> {
    return runProcessInputStep(this.#scope, this.plan.processInputStep, start)
  }

  runProcessLLMRequest(at: At<typeof runProcessLLMRequest>): ReturnType<typeof runProcessLLMRequest> {
    return runProcessLLMRequest(this.#scope, this.plan.processLLMRequest, at)
  }

  runProcessAPIError(at: At<typeof runProcessAPIError>): ReturnType<typeof runProcessAPIError> {
    return runProcessAPIError(this.#scope, this.plan.processAPIError, at)
  }

  /** The chain for the chunks of one attempt. Without processors it keeps nothing, so that one serves all attempts. */
  streamChain(position: StepPosition): StreamChain {
    const { streaming } = this.plan
    if (streaming.length > 0) return new StreamChain(this.#scope, streaming, position)
    return (this.#emptyChain ??= new StreamChain(this.#scope, [], position))
  }

  runProcessLLMResponse(at: At<typeof runProcessLLMResponse>): MaybePromise<void> {
    return runProcessLLMResponse(this.#scope, this.plan.processLLMResponse, at)
  }

  runProcessOutputStep(at: At<typeof runProcessOutputStep>): MaybePromise<void> {
    return runProcessOutputStep(this.#scope, this.plan.processOutputStep, at)
  }

  runProcessToolCall(at: At<typeof runProcessToolCall>): ReturnType<typeof runProcessToolCall> {
    return runProcessToolCall(this.#scope, this.plan.processToolCall, at)
  }

  runProcessToolResult(at: At<typeof runProcessToolResult>): ReturnType<typeof runProcessToolResult> {
    return runProcessToolResult(this.#scope, this.plan.processToolResult, at)
  }

  runProcessStepEnd(at: At<typeof runProcessStepEnd>): MaybePromise<void> {
    return runProcessStepEnd(this.#scope, this.plan.processStepEnd, at)
  }

  runProcessOutputResult(at: At<typeof runProcessOutputResult>): MaybePromise<void> {
    return runProcessOutputResult(this.#scope, this.plan.processOutputResult, at)
  }

  runProcessRunEnd(at: At<typeof runProcessRunEnd>): MaybePromise<void> {
    return runProcessRunEnd(this.#scope, this.plan.processRunEnd, at)
  }
}
