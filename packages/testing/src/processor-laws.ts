// All laws, in the order in which they are checked: first what the others build on.
import { acts } from './laws/acts.ts'
import { anyContent } from './laws/any-content.ts'
import { anyCut } from './laws/any-cut.ts'
import { blocksApart } from './laws/blocks-apart.ts'
import { boundedRetries } from './laws/bounded-retries.ts'
import { cleanRetry } from './laws/clean-retry.ts'
import { declaredErrors } from './laws/declared-errors.ts'
import { endsWhenAborted } from './laws/ends-when-aborted.ts'
import { frozenInput } from './laws/frozen-input.ts'
import { generateIsStream } from './laws/generate-is-stream.ts'
import { jsonState } from './laws/json-state.ts'
import { runsApart } from './laws/runs-apart.ts'
import { tailAtAbort, tailAtFinish } from './laws/tail.ts'
import { thrownRefusal } from './laws/thrown-refusal.ts'
import { toolPairs } from './laws/tool-pairs.ts'
import { wholeBlocks } from './laws/whole-blocks.ts'
import type { ProcessorLaw } from './processor-law.ts'

/** The laws of processors. */
export const processorLaws: readonly ProcessorLaw[] = Object.freeze([
  acts,
  anyContent,
  frozenInput,
  anyCut,
  tailAtFinish,
  tailAtAbort,
  wholeBlocks,
  blocksApart,
  cleanRetry,
  runsApart,
  jsonState,
  generateIsStream,
  toolPairs,
  thrownRefusal,
  declaredErrors,
  boundedRetries,
  endsWhenAborted,
])
