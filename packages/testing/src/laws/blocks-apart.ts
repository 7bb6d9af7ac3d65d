// blocks-apart: blocks of one answer may be open at the same time, and have nothing to do with each other.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { finishPart, streamOf } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'
import { plainTexts, textSample } from '../contract-samples.ts'
import { hasHook } from '../processor-places.ts'
import { broken, type LawOptions, type ProcessorLaw } from '../processor-law.ts'
import { differenceOf } from '../run-outcome.ts'
import { runWith } from '../run-with.ts'
import { quoted } from '../scenario.ts'
import { screenOf } from '../screen.ts'

/** Text and reasoning that come at the same time are treated as if one came after the other. */
export const blocksApart: ProcessorLaw = {
  name: 'blocks-apart',
  meaning: 'treats a block the same when another one is open beside it',
  appliesTo: processor => hasHook(processor, 'processOutputStream', 'flush') || 'it does not see the stream',
  async check(factory, options: LawOptions = {}) {
    const texts = [...(options.texts ?? []).map(sample => textSample(sample).text), ...plainTexts]
    for (const [index, text] of texts.entries()) {
      const other = texts[(index + 1) % texts.length]!
      const [one, beside] = [deltas('text', text), deltas('reasoning', other)]
      const apart = await blocksOf(factory(), [...one, ...beside])
      const together = await blocksOf(factory(), inTurn(one, beside))
      const difference = apart && together && differenceOf(apart, together)
      if (difference !== undefined)
        throw broken('blocks-apart', {
          where: `the text ${quoted(text)} beside the reasoning ${quoted(other)}, one character of each in turn`,
          fact: `${difference}, as it is when one comes after the other`,
          cure: 'Keep what you hold of each block apart: by `part.payload.id` in `processOutputStream`, by `blockId` in `flush`.',
        })
    }
  },
}

function deltas(kind: 'text' | 'reasoning', text: string): readonly LanguageModelV4StreamPart[] {
  const id = `${kind}-block`
  return [
    { type: `${kind}-start`, id },
    ...text.split('').map(delta => ({ type: `${kind}-delta` as const, id, delta })),
    { type: `${kind}-end`, id },
  ]
}

function inTurn<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, index) => [one.slice(index, index + 1), other.slice(index, index + 1)]).flat(2)
}

/** What is on the screen, kind by kind; nothing when the answer was refused. */
async function blocksOf(
  processor: Processor,
  parts: readonly LanguageModelV4StreamPart[],
): Promise<object | undefined> {
  const model = new MockLanguageModelV4({
    doStream: () => Promise.resolve({ stream: streamOf([...parts, finishPart('stop')]) }),
  })
  const { result, chunks } = await runWith(processor, { model })
  if (result.stopReason === 'tripwire') return undefined
  const textOf = (type: string) =>
    screenOf(chunks)
      .map(block => (block.type === type && 'text' in block ? block.text : ''))
      .join('')
  return { text: textOf('text'), reasoning: textOf('reasoning') }
}
