// A processor that has texts judged for what is harmful in them.
import type { JudgeOptions, JudgeProcessor } from './judge.ts'
import { judgeProcessor } from './judging-processor.ts'
import type { JudgingOptions } from './judging.ts'

export type {
  Category,
  CategoryChoice,
  CategoryRule,
  Judge,
  JudgedPlace,
  JudgeProcessor,
  JudgeStrategy,
} from './judge.ts'
export type { JudgeErrorPolicy, JudgeFailure, JudgeFinding, JudgeRefusal, JudgeVerdict } from './verdict.ts'

/** The categories that moderation knows, with what belongs to them. */
const known = {
  hate: 'contempt, slurs or calls for discrimination against people for what they are: origin, religion, sex, orientation, disability',
  harassment: 'insults, humiliation, stalking or threats against a person',
  violence: 'calls for violence, praise of it, or detailed gore',
  'self-harm': 'encouragement of suicide, self-harm or eating disorders, or instructions for them',
  sexual: 'content that is made to arouse, or offers sexual services',
  'sexual-minors': 'anything sexual about people under 18',
  weapons: 'instructions for weapons, explosives, poisons, or for chemical, biological or nuclear material',
  crime: 'help with crimes: fraud, theft, trafficking, drugs, breaking into computers, malicious software',
} as const

/** A category of moderation. */
export type ModerationCategory = keyof typeof known

/** Options of moderation. */
export interface ModerationOptions extends JudgeOptions<ModerationCategory>, JudgingOptions {}

/**
 * A processor that has a model judge what users write and what the model answers, and refuses, replaces or reports what
 * is harmful.
 *
 * *Order*: in `inputProcessors` for what comes in, in `outputProcessors` for what comes out; the same one in both.
 * *Cost*: one model call for each input, and one for each 400 characters of an answer, which are held for it.
 * *Throws*: a `BuiltinError` for a category, a threshold or a limit that cannot be.
 */
export function moderation(options: ModerationOptions = {}): JudgeProcessor<'moderation'> {
  return judgeProcessor(
    { id: 'moderation', name: 'Moderation', description: 'Has texts judged for harmful content.' },
    {
      question:
        'Is the text harmful? To report, to warn of, to ask about or to refuse something harmful is not harmful itself.',
      advice: 'Answer without it.',
      where: ['input', 'text'],
      known,
    },
    options,
  )
}
