// An answer that was given before, as it is given again: it costs nothing, and its calls are not calls of before.
import { isToolPart, type MessageList } from '@lockstep/message-list'
import type { CachedResponse } from '@lockstep/processors'

/** A part of a provider's stream. */
export type ModelPart = CachedResponse['chunks'][number]
type Finish = Extract<ModelPart, { readonly type: 'finish' }>

/** What the answer has used, when it was made. */
export function usageIn(parts: readonly ModelPart[]): Finish['usage'] | undefined {
  return parts.find(part => part.type === 'finish')?.usage
}

/** Tells whether an answer is worth keeping: it came to its end, of its own will, without an error. */
export function isWhole(parts: readonly ModelPart[]): boolean {
  const reasons = parts.flatMap(part => (part.type === 'finish' ? [part.finishReason.unified] : []))
  const isEnded = reasons.length === 1 && (reasons[0] === 'stop' || reasons[0] === 'tool-calls')
  return isEnded && parts.every(part => part.type !== 'error')
}

/** The parts to be given again. Ids of calls that the conversation has already are replaced. */
export function replayed(parts: readonly ModelPart[], list: MessageList): readonly ModelPart[] {
  const ids = freshIds(parts, list)
  return parts.map(part => {
    if (part.type === 'finish') return { ...part, usage: nothingUsed }
    if ('toolCallId' in part && ids.has(part.toolCallId)) return { ...part, toolCallId: ids.get(part.toolCallId)! }
    if (part.type.startsWith('tool-input-') && 'id' in part && ids.has(part.id!))
      return { ...part, id: ids.get(part.id!)! } as ModelPart
    return part
  })
}

const nothingUsed: Finish['usage'] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

function freshIds(parts: readonly ModelPart[], list: MessageList): ReadonlyMap<string, string> {
  const calls = parts.flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : []))
  if (calls.length === 0) return new Map()
  const taken = new Set<string>(calls)
  const known = new Set<string>()
  for (const { content } of list.get.all.db())
    for (const part of content.parts) if (isToolPart(part)) known.add(part.toolCallId)
  return new Map(
    calls.flatMap(id => {
      if (!known.has(id)) return []
      let count = 2
      while (known.has(`${id}-${count}`) || taken.has(`${id}-${count}`)) count++
      taken.add(`${id}-${count}`)
      return [[id, `${id}-${count}`] as const]
    }),
  )
}
