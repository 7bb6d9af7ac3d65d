// What PostgreSQL's and the network's error codes mean for a user of the store.
import { MemoryError, type MemoryErrorCode } from '../errors.ts'

/** Whether the server gave up a transaction only because another one was in its way. */
export function isPassing(error: unknown): boolean {
  return ['40001', '40P01', '23505'].includes(codeOf(error) ?? '')
}

type Meaning = readonly [codes: RegExp, code: MemoryErrorCode, fact: string, cure: string]

const meanings: readonly Meaning[] = [
  [
    /^(28|42501)/,
    'access-denied',
    'refused access',
    'Check the user, the password and the rights in the connection string',
  ],
  [
    /^42P01/,
    'missing-table',
    'has no such table, although its migrations have run: somebody dropped it',
    'Restore it from a backup, or use another database',
  ],
  [/^(53100|53200)/, 'store-full', 'has no room left', 'Free some space; nothing was lost'],
  [
    /^(55P03|57014)/,
    'store-locked',
    'holds a lock too long',
    'Find the transaction that does not end, in pg_stat_activity',
  ],
  [
    /^(08|3D000|53300|57P|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|ENOENT|EHOSTUNREACH)/,
    'store-unreachable',
    'cannot be reached',
    'Check the address and the name of the database, and that the server runs',
  ],
]

/** An error of the driver as one of ours. Errors of this package pass. */
export function postgresError(error: unknown): MemoryError {
  if (MemoryError.isInstance(error)) return error
  const text = textOf(error)
  const code = codeOf(error) ?? (/timeout|terminated|not queryable/i.test(text) ? 'ECONNRESET' : '')
  const meaning = meanings.find(([codes]) => codes.test(code))
  if (meaning === undefined)
    return new MemoryError('store-failed', `PostgreSQL failed: ${text}. The cause has the details.`, { cause: error })
  const [, ours, fact, cure] = meaning
  return new MemoryError(ours, `PostgreSQL ${fact} (${text}). ${cure}.`, { cause: error })
}

/** Node tries several addresses and puts what they said into one error. */
function first(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error
}

function codeOf(error: unknown): string | undefined {
  const { code } = (first(error) ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}

function textOf(error: unknown): string {
  const cause = first(error)
  return cause instanceof Error ? cause.message : String(cause)
}
