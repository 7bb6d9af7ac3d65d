// Changes the settings of a step: after some steps the model may call no more tools and has to answer.
import type { Processor } from '@lockstep/processors'

/** Lets the model call tools in the first steps only. */
export function answerAfter(toolSteps: number): Processor<'answer-after'> {
  return {
    id: 'answer-after',
    processInputStep: ({ stepNumber }) => (stepNumber >= toolSteps ? { toolChoice: 'none' } : undefined),
  }
}
