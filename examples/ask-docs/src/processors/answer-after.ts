// Changes the settings of a step: after some steps the model may call no more tools and has to answer.
import type { InputProcessor } from '@lockstep/processors'

/** Lets the model call tools in the first steps only. */
export function answerAfter(toolSteps: number): InputProcessor {
  return {
    id: 'answer-after',
    processInputStep: ({ stepNumber }) => (stepNumber >= toolSteps ? { toolChoice: 'none' } : undefined),
  }
}
