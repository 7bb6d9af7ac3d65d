// What SQLite's result codes mean for a user of the store.
import { MemoryError, type MemoryErrorCode } from '../errors.ts'

const busy = 5

/** Whether somebody else holds the lock that was wanted, so that it is worth trying again. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busy
}

const meanings: Readonly<Record<number, readonly [code: MemoryErrorCode, fact: string, cure: string]>> = {
  [busy]: [
    'store-locked',
    'is locked by another connection',
    'Let the other writer end its transaction, or give `lockTimeoutMs` more time',
  ],
  8: ['access-denied', 'cannot be written', 'Make the file and its folder writable for this user'],
  11: ['damaged', 'is damaged', 'Restore it from a backup'],
  13: ['store-full', 'is full: the disk, or a limit set for it, has no room left', 'Free some space; nothing was lost'],
  14: [
    'store-unreachable',
    'cannot be opened',
    'Check that the folder exists and that this user may read and write it',
  ],
  26: ['damaged', 'is not an SQLite database', 'Give the path of another file'],
}

/** An error of the driver as one of ours. Errors of this package pass. */
export function sqliteError(error: unknown, path: string): MemoryError {
  if (MemoryError.isInstance(error)) return error
  const text = error instanceof Error ? error.message : String(error)
  const table = /no such (?:table|column): (\S+)/.exec(text)?.[1]
  if (table !== undefined)
    return new MemoryError(
      'missing-table',
      `The database ${path} has no ${table}, although its migrations have run: somebody dropped it. Restore it from a backup, or use another file.`,
      { cause: error },
    )
  const meaning = meanings[primaryCode(error) ?? -1]
  if (meaning === undefined)
    return new MemoryError('store-failed', `The database ${path} failed: ${text}. The cause has the details.`, {
      cause: error,
    })
  const [code, fact, cure] = meaning
  return new MemoryError(code, `The database ${path} ${fact} (${text}). ${cure}.`, { cause: error })
}

/** The low byte of an extended result code. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}
