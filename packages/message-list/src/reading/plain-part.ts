// Parts that have nothing but what most parts have: they are seen to be valid without asking their schema.

interface PlainPart {
  readonly type?: unknown
  readonly text?: unknown
  readonly state?: unknown
  readonly toolCallId?: unknown
}

/** Whether a part has exactly the usual fields of its kind. One that has not may be valid all the same. */
export function isPlainPart(part: PlainPart): boolean {
  const { type, text, state, toolCallId } = part
  let count = 0
  for (const _ in part) count++
  if (type === 'step-start') return count === 1
  if (type === 'text' || type === 'reasoning') {
    const hasState = state === 'done' || state === 'streaming'
    return typeof text === 'string' && count === (hasState ? 3 : 2)
  }
  const isCall = typeof type === 'string' && type.startsWith('tool-') && type !== 'tool-'
  if (!isCall || typeof toolCallId !== 'string' || toolCallId === '' || !('input' in part)) return false
  if (state === 'input-available') return count === 4
  return state === 'output-available' && 'output' in part && count === 5
}
