// The redactor that looks for secrets only. What it can do is in redactor.ts.
import type { Processor } from '@lockstep/processors'
import { redactingProcessor, type RedactorState } from './redacting-processor.ts'
import type { RedactorOptions } from './redaction.ts'
import { secretPatterns } from './secret-patterns.ts'

/** Options of the secret redactor: those of the redactor. */
export type SecretRedactorOptions = RedactorOptions

const kinds: ReadonlySet<string> = new Set(secretPatterns.map(({ kind }) => kind))

/**
 * A processor that no secret it knows gets past: API keys, tokens, private keys. Text without the beginning of a secret
 * is shown at once.
 *
 * *Order*: put it after processors that write text.
 */
export function secretRedactor(
  options: SecretRedactorOptions = {},
): Processor<'secret-redactor', unknown, RedactorState> {
  return redactingProcessor(
    {
      id: 'secret-redactor',
      name: 'Secret redactor',
      description: 'Replaces API keys, tokens and private keys wherever text comes in or goes out.',
      kinds,
    },
    options,
  )
}
