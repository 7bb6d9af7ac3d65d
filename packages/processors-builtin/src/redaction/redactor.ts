// A processor for personal data and secrets: at the input, in the prompt, in the stream, at tools and in the result.
import type { Processor } from '@lockstep/processors'
import { redactingProcessor, type RedactorState } from './redacting-processor.ts'
import { sensitiveKinds, type RedactorOptions } from './redaction.ts'

export type {
  CustomPattern,
  Finding,
  FindingPlace,
  RedactionStrategy,
  RedactorOptions,
  SensitiveKind,
} from './redaction.ts'
export type { PiiKind } from './pii-patterns.ts'
export type { SecretKind } from './secret-patterns.ts'
export type { SensitivePattern } from './sensitive-pattern.ts'
export type { RedactorState } from './redacting-processor.ts'

/** A link is rarely a secret: it is looked for when asked for. */
const kinds: ReadonlySet<string> = new Set(sensitiveKinds.filter(kind => kind !== 'url'))

/**
 * A processor that finds personal data and secrets and redacts, masks, hashes, tokenizes or refuses them, by kind.
 *
 * *Order*: in `inputProcessors` it guards what the model is given; in `outputProcessors` what comes out and what tools
 * get and give; the same one in both is one processor. Put it after processors that write text.
 * *Cost*: a text is shown up to where a match may have begun; every character is read once.
 * *Throws*: a `BuiltinError` for a kind or a strategy that does not exist, or a pattern that cannot be read in a stream.
 */
export function redactor(options: RedactorOptions = {}): Processor<'redactor', unknown, RedactorState> {
  return redactingProcessor(
    {
      id: 'redactor',
      name: 'Redactor',
      description: 'Finds personal data and secrets, and redacts, masks, hashes, tokenizes or refuses them.',
      kinds,
    },
    options,
  )
}
