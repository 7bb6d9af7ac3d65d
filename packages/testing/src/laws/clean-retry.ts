// clean-retry: an attempt that was withdrawn leaves nothing in the one after it.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { finishPart, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { plainTexts, textSample } from '../contract-samples.ts'
import { cutModel, eachUnit } from '../cut-model.ts'
import { hasHook } from '../processor-places.ts'
import { broken, type LawOptions, type ProcessorLaw } from '../processor-law.ts'
import { runAborted } from '../aborted-run.ts'
import { inShort } from '../run-outcome.ts'
import { runWith, type ProcessorRun, type RunWithOptions } from '../run-with.ts'
import { quoted } from '../scenario.ts'

/** The second attempt is shown as if there had been no first. */
export const cleanRetry: ProcessorLaw = {
  name: 'clean-retry',
  meaning: 'shows nothing of an attempt that was withdrawn in the attempt that came after it',
  appliesTo: processor => hasHook(processor, 'processOutputStream', 'flush') || 'it does not see the stream',
  async check(factory, options: LawOptions = {}) {
    const texts = [...(options.texts ?? []).map(sample => textSample(sample).text), ...plainTexts]
    const second = plainTexts[1]!
    for (const [how, { turnOf, others }] of Object.entries(withdrawals))
      for (const [end, run] of Object.entries(ends)) {
        const expected = await run(factory(), { before: [], text: second })
        if (expected.result.stopReason === 'tripwire') continue
        for (const first of texts) {
          const turn = turnOf(first)
          const { result, screen } = await run(factory(), { before: [turn], text: second, others: others() })
          if (result.stopReason === 'tripwire' || screen === expected.screen) continue
          throw broken('clean-retry', {
            where: `the attempt ${quoted(first)}, ${how}, and then ${quoted(second)}, ${end}`,
            fact: `the screen shows ${inShort(screen)} and not ${inShort(expected.screen)}`,
            cure: 'Neither `state` nor the instance is rolled back with an attempt: forget what you hold when one begins (`streamParts.length === 1`).',
          })
        }
      }
  },
}

type Others = NonNullable<RunWithOptions['others']>

/** Why an attempt is withdrawn, and by whom. */
const withdrawals: {
  readonly [how: string]: { readonly turnOf: (text: string) => ScriptedTurn; readonly others: () => Others }
} = {
  'refused by another processor': {
    turnOf: text => ({ text: text.split('') }),
    others: () => ({ outputProcessors: [refusesOnce()] }),
  },
  'cut off by a failure of the provider': {
    turnOf: text => ({ parts: brokenOff(text) }),
    others: () => ({ errorProcessors: [triesAgain] }),
  },
}

interface Attempts {
  readonly before: readonly ScriptedTurn[]
  readonly text: string
  readonly others?: Others
}

type RunAfter = (processor: Processor, attempts: Attempts) => Promise<ProcessorRun>

/** How the attempt after it ends. */
const ends: { readonly [end: string]: RunAfter } = {
  'said to its end': (processor, { before, text, others = {} }) =>
    runWith(processor, { model: cutModel([...before, { text }], eachUnit), others, maxProcessorRetries: 3 }),
  'aborted at its end': (processor, { before, text, others = {} }) =>
    runAborted(processor, { turns: before, text, cut: eachUnit }, { others, maxProcessorRetries: 3 }),
}

/** Refuses the first answer that it sees. */
function refusesOnce(): Processor {
  return {
    id: 'lockstep-testing-refuses-once',
    processOutputStep: ({ retryCount, abort }) => void (retryCount === 0 && abort('Once more.', { retry: true })),
  }
}

const triesAgain: Processor = { id: 'lockstep-testing-tries-again', processAPIError: () => ({ retry: true }) }

/** All of a text, and then the provider fails. */
function brokenOff(text: string): readonly LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id: 't1' },
    { type: 'text-delta', id: 't1', delta: text },
    { type: 'error', error: new Error('The connection was lost.') },
    finishPart('error'),
  ]
}
