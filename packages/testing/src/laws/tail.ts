// tail-at-finish, tail-at-abort: what a processor held back is let go of when the text ends, whatever ends it.
import { plainTexts } from '../contract-samples.ts'
import { cutModel, eachUnit, whole, type Cut } from '../cut-model.ts'
import { hasHook } from '../processor-places.ts'
import { broken, type LawName, type ProcessorFactory, type ProcessorLaw } from '../processor-law.ts'
import { runAborted } from '../aborted-run.ts'
import { inShort } from '../run-outcome.ts'
import { runWith, type ProcessorRun } from '../run-with.ts'
import type { Processor } from '@lockstep/processors'

const seesTheStream = (processor: Processor) =>
  hasHook(processor, 'processOutputStream', 'flush') || 'it does not see the stream'

/** Two answers that differ in their last character alone: a processor that loses the end makes them the same. */
const endings = ['x', 'y'] as const

type SayAll = (processor: Processor, text: string, cut: Cut) => Promise<ProcessorRun>

/** Nothing is lost at the end of a text. */
export const tailAtFinish: ProcessorLaw = {
  name: 'tail-at-finish',
  meaning: 'shows the end of an answer when it ends, however short the answer is',
  appliesTo: seesTheStream,
  check: factory =>
    checkTails('tail-at-finish', factory, {
      say: (processor, text, cut) => runWith(processor, { model: cutModel([{ text }], cut) }),
      cure: "Give back what is held in `flush`, for the block that ends and for all that is open when `reason` is 'finish'.",
    }),
}

/** Nothing is lost when the run is aborted. */
export const tailAtAbort: ProcessorLaw = {
  name: 'tail-at-abort',
  meaning: 'shows what the model had said when the run was aborted',
  appliesTo: processor =>
    processor.hold === undefined ? seesTheStream(processor) : 'it holds each step, and an aborted one is never shown',
  check: factory =>
    checkTails('tail-at-abort', factory, {
      say: (processor, text, cut) => runAborted(processor, { turns: [], text, cut }),
      cure: "Give back what is held in `flush` also when `reason` is 'abort'; if it must not be seen, skip this law and say why.",
    }),
}

async function checkTails(
  law: LawName,
  factory: ProcessorFactory,
  { say, cure }: { readonly say: SayAll; readonly cure: string },
): Promise<void> {
  for (const text of plainTexts)
    for (const cut of [whole, eachUnit]) {
      const runs: ProcessorRun[] = []
      for (const ending of endings) runs.push(await say(factory(), `${text} ${ending}`, cut))
      const [one, other] = runs as [ProcessorRun, ProcessorRun]
      if (one.result.stopReason === 'tripwire' || other.result.stopReason === 'tripwire') continue
      if (one.screen !== other.screen) continue
      const said = endings.map(ending => inShort(`${text} ${ending}`)).join(' and ')
      const how = cut === whole ? 'in one piece' : 'one character at a time'
      throw broken(law, {
        where: `the answers ${said}, ${how}`,
        fact: `the screen shows ${inShort(one.screen)} both times: the end is lost`,
        cure,
      })
    }
}
