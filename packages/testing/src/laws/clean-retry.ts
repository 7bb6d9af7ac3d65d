// clean-retry: an attempt that was withdrawn leaves nothing in the one after it.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { finishPart, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { plainTexts, textSample } from '../contract-samples.ts'
import { cutModel, eachUnit } from '../cut-model.ts'
import { hasHook } from '../processor-places.ts'
import { broken, type LawOptions, type ProcessorLaw } from '../processor-law.ts'
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
    const expected = await runWith(factory(), { model: cutModel([{ text: second }], eachUnit) })
    if (expected.result.stopReason !== 'completed') return
    for (const first of texts)
      for (const [how, withdrawn] of Object.entries(withdrawals)) {
        const run = await withdrawn(factory(), first, second)
        if (run.result.stopReason === 'tripwire' || run.screen === expected.screen) continue
        throw broken('clean-retry', {
          where: `the attempt ${quoted(first)}, ${how}, and then ${quoted(second)}`,
          fact: `the screen shows ${inShort(run.screen)} and not ${inShort(expected.screen)}`,
          cure: '`state` is not rolled back with an attempt: keep what you hold by block id (ids are unique in a run), and drop it when `streamParts` begins anew.',
        })
      }
  },
}

type Withdrawal = (processor: Processor, first: string, second: string) => Promise<ProcessorRun>

const withdrawals: Readonly<Record<string, Withdrawal>> = {
  'refused by another processor': (processor, first, second) =>
    runTwice(processor, [{ text: first }, { text: second }], { outputProcessors: [refusesOnce()] }),
  'cut off by a failure of the provider': (processor, first, second) =>
    runTwice(processor, [{ parts: brokenOff(first) }, { text: second }], { errorProcessors: [triesAgain] }),
}

function runTwice(
  processor: Processor,
  turns: readonly ScriptedTurn[],
  others: NonNullable<RunWithOptions['others']>,
): Promise<ProcessorRun> {
  return runWith(processor, { model: cutModel(turns, eachUnit), others, maxProcessorRetries: 3 })
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
