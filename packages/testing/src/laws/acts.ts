// acts: a contract over samples that a processor does nothing with proves nothing.
import { hasHook } from '../processor-places.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { scenariosOf } from '../scenario.ts'

/** The processor does something with the samples. */
export const acts: ProcessorLaw = {
  name: 'acts',
  meaning: 'does something with at least one of the samples',
  appliesTo: processor =>
    hasHook(
      processor,
      'processInput',
      'processInputStep',
      'processLLMRequest',
      'processAPIError',
      'processOutputStream',
      'processOutputStep',
      'processToolCall',
      'processToolResult',
      'processOutputResult',
    ) || 'it has only hooks that observe',
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const processor = factory()
      const { result, chunks } = await runScenario(processor, scenario)
      const { events, usageByProcessor } = result.trace
      const wrote = chunks.some(chunk => 'data' in chunk)
      if (wrote || usageByProcessor.has(processor.id) || events.some(event => event.processorId === processor.id))
        return
    }
    throw broken('acts', {
      where: 'all samples together',
      fact: 'the processor changed, refused, asked and wrote nothing, so the other laws prove nothing about it',
      cure: 'Give `texts`, `inputs`, `toolInputs`, `toolResults` or `scripts` that it acts on; if it only observes, skip this law and say so.',
    })
  },
}
