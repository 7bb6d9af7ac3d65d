// What is done with a finding, by name: a name that means nothing must not let everything pass.
import { BuiltinError } from './errors.ts'

/** Throws: `invalid-strategy` for a strategy of `whose` that is none of some. */
export function checkStrategy(whose: string, strategy: unknown, strategies: readonly string[]): void {
  if (strategies.includes(strategy as string)) return
  throw new BuiltinError(
    'invalid-strategy',
    `The strategy of '${whose}' is '${String(strategy)}'. Give one of ${strategies.join(', ')}.`,
  )
}
