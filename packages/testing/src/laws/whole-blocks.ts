// whole-blocks: what is written belongs to a block that is open.
import type { Chunk, Processor } from '@lockstep/processors'
import { eachUnit, whole } from '../cut-model.ts'
import { hasHook } from '../processor-places.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { inShort } from '../run-outcome.ts'
import { scenariosOf } from '../scenario.ts'

/** Blocks are opened before they are written to, and closed once. */
export const wholeBlocks: ProcessorLaw = {
  name: 'whole-blocks',
  meaning: 'writes only into blocks that are open, and leaves none open',
  appliesTo: (processor: Processor) =>
    hasHook(processor, 'processOutputStream', 'flush') || 'it does not see the stream',
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options))
      for (const cut of [whole, eachUnit]) {
        const { chunks, result } = await runScenario(factory(), scenario, { cut })
        const fact = faultIn(chunks, result.stopReason === 'completed')
        if (fact !== undefined)
          throw broken('whole-blocks', {
            where: scenario.name,
            fact,
            cure: 'Pass `*-start` and `*-end` chunks on, keep their ids in the deltas that you make, and give back what is held in `flush`, which is called before the end of its block.',
          })
      }
  },
}

const kinds = ['text', 'reasoning', 'tool-input']

function faultIn(chunks: readonly Chunk[], mustClose: boolean): string | undefined {
  const open = new Set<string>()
  for (const chunk of chunks) {
    if (chunk.type === 'step-reset') open.clear()
    const kind = kinds.find(name => chunk.type.startsWith(`${name}-`))
    if (kind === undefined || !('payload' in chunk) || !('id' in chunk.payload)) continue
    const block = `${kind} ${inShort(chunk.payload.id)}`
    if (chunk.type.endsWith('-start')) {
      if (open.has(block)) return `the block ${block} is opened twice`
      open.add(block)
    } else if (!open.has(block)) return `a chunk '${chunk.type}' is for the block ${block}, which is not open`
    if (chunk.type.endsWith('-end')) open.delete(block)
  }
  return mustClose && open.size > 0 ? `the block ${[...open][0]} is never closed` : undefined
}
