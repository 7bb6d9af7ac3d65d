// Whether a change can still be taken back: not twice, and not from under a later one.
import { changesOf, idsOf, type Change, type ChangeLog, type Edit } from './change.ts'
import { MessageListError } from '../errors.ts'

/** Refuses a change that cannot be taken back. Throws: `unknown-change` and `undo-conflict`. */
export function checkUndo(log: ChangeLog | undefined, change: Change): void {
  const takenBack = new Set<number>()
  for (const later of changesAfter(log, change).toReversed()) {
    if (takenBack.has(later.sequence)) continue
    if (later.undoes === change.sequence)
      throw conflict(change, later, 'took it back already. Take that one back to have it again')
    if (later.undoes !== undefined && later.undoes > change.sequence) takenBack.add(later.undoes)
    else if (overlap(change, later))
      throw conflict(change, later, 'is about the same messages. Take that one back first')
  }
}

function changesAfter(log: ChangeLog | undefined, change: Change): readonly Change[] {
  let entry = log
  while (entry !== undefined && entry.change !== change) entry = entry.previous
  if (entry !== undefined) return changesOf(log, entry)
  throw new MessageListError(
    'unknown-change',
    `Change ${change.sequence} is not in the history of this list: it belongs to another list, or the list was restored to before it.`,
  )
}

/** Whether two changes are about what the same messages say, about where the same messages stand, or about instructions. */
function overlap(one: Change, other: Change): boolean {
  const touched = new Set(one.edits.flatMap(touches))
  return other.edits.flatMap(touches).some(mark => touched.has(mark))
}

function touches(edit: Edit): readonly string[] {
  if (edit.type === 'system') return ['system']
  const contents = edit.type === 'order' ? [] : idsOf(edit).map(id => `content ${id}`)
  const places = edit.type === 'patch' ? [] : idsOf(edit).map(id => `place ${id}`)
  return [...contents, ...places]
}

function conflict(change: Change, later: Change, why: string): MessageListError {
  return new MessageListError(
    'undo-conflict',
    `Change ${change.sequence} cannot be taken back, because change ${later.sequence} by "${later.author.id}" ${why}.`,
  )
}
