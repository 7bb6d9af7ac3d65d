// Vetoes a step: an answer that cites nothing of what was read is not accepted, and the model learns why.
import type { Processor } from '@lockstep/processors'
import { readReferences } from '../read-references.ts'

/**
 * Demands that an answer cites a section that was read in this run, as `[reference]`. It asks for another attempt as long as
 * the agent's `maxProcessorRetries` allows; after that the answer is withheld. An answer for which nothing was read has
 * nothing to cite and passes.
 */
export function citationGuard(): Processor<'citation-guard'> {
  return {
    id: 'citation-guard',
    processOutputStep({ toolCalls, text, steps, abort }) {
      const references = readReferences(steps)
      const [first] = references
      if (toolCalls.length > 0 || first === undefined || references.some(reference => text.includes(`[${reference}]`)))
        return
      abort(`Cite your sources: name a section that you read, as in [${first}].`, {
        retry: true,
        metadata: { references },
      })
    },
  }
}
