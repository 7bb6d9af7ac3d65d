// prepareStep as a processor: the last of the input array, with the final say on a step.
import type { ToolSet } from 'ai'
import { isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import type { Processor } from '../processor.ts'
import { MessageList, type MessageInput } from '@lockstep/message-list'
import type { ProcessInputStepArgs, ProcessInputStepResult, ProcessInputStepReturn } from './process-input-step.ts'

/** Shapes a step. Messages that it returns are for this step's prompt alone, unless it says `scope: 'run'`. */
export type PrepareStep<TOOLS extends ToolSet = ToolSet> = (
  args: ProcessInputStepArgs<unknown, Record<string, unknown>, TOOLS>,
) => MaybePromise<ProcessInputStepResult<TOOLS> | MessageList | readonly MessageInput[] | undefined | void>

/** Runs a `prepareStep` function in the `processInputStep` pipeline. */
export class PrepareStepProcessor<TOOLS extends ToolSet = ToolSet> implements Processor<'prepare-step'> {
  readonly id = 'prepare-step'
  readonly name = 'Prepare step'
  readonly #prepareStep: PrepareStep

  constructor(options: { readonly prepareStep: PrepareStep<TOOLS> }) {
    this.#prepareStep = options.prepareStep as unknown as PrepareStep
  }

  processInputStep(args: ProcessInputStepArgs): MaybePromise<ProcessInputStepReturn> {
    const result = this.#prepareStep(args)
    return isPromiseLike(result) ? result.then(stepScoped) : stepScoped(result as ProcessInputStepReturn)
  }
}

function stepScoped(result: ProcessInputStepReturn): ProcessInputStepReturn {
  if (Array.isArray(result)) return { messages: result as readonly MessageInput[], scope: 'step' }
  if (typeof result !== 'object' || result === null || result instanceof MessageList) return result
  return { ...(result as ProcessInputStepResult), scope: (result as ProcessInputStepResult).scope ?? 'step' }
}
