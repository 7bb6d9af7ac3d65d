// A message of a prompt without its reasoning, and without the references to what is then not there.
import { TokenCounter, type PromptMessage } from './token-counter.ts'

/** Which reasoning: that with a mark of its provider (a signature, an id, encrypted data), that without, or both. */
export type ReasoningKind = 'signed' | 'plain' | 'all'

/** A message, and what is shown of it. */
export interface PrunedMessage {
  readonly message: PromptMessage
  /** Nothing, when it was no more than reasoning. */
  readonly shown: PromptMessage | undefined
  readonly partCount: number
  readonly tokens: number
}

type Spoken = Extract<PromptMessage, { readonly role: 'assistant' }>
type Part = Spoken['content'][number]

/** Cuts messages, each once: the same message is shown as the same one in every prompt. */
export class ReasoningCut {
  readonly #counter: TokenCounter
  readonly #known = new WeakMap<PromptMessage, Partial<Record<ReasoningKind, PrunedMessage | null>>>()

  constructor(counter: TokenCounter) {
    this.#counter = counter
  }

  /** The message without reasoning of that kind; undefined when there is none, or its provider wants it back. */
  of(message: PromptMessage, kind: ReasoningKind): PrunedMessage | undefined {
    if (message.role !== 'assistant') return undefined
    let known = this.#known.get(message)
    if (known === undefined) this.#known.set(message, (known = {}))
    if (known[kind] === undefined) known[kind] = this.#cut(message, kind) ?? null
    return known[kind] ?? undefined
  }

  #cut(message: Spoken, kind: ReasoningKind): PrunedMessage | undefined {
    const goes = (part: Part) => isReasoning(part) && (kind === 'all' || kind === kindOf(part))
    const gone = message.content.filter(goes)
    if (gone.length === 0) return undefined
    const rest = message.content.filter(part => !goes(part))
    const hasItem = gone.some(part => itemIdsOf(part).length > 0)
    if (hasItem && rest.some(isBoundToItem)) return undefined
    const content = hasItem ? rest.flatMap(part => withoutItemId(part) ?? []) : rest
    const shown = content.length === 0 ? undefined : { ...message, content }
    const tokens = this.#counter.ofMessage(message) - (shown === undefined ? 0 : this.#counter.ofMessage(shown))
    return { message, shown, partCount: gone.length, tokens }
  }
}

function isReasoning({ type }: Part): boolean {
  return type === 'reasoning' || type === 'reasoning-file'
}

function kindOf({ providerOptions }: Part): ReasoningKind {
  return Object.values(providerOptions ?? {}).some(noted => Object.keys(noted).length > 0) ? 'signed' : 'plain'
}

function itemIdsOf({ providerOptions }: Part): readonly string[] {
  return Object.values(providerOptions ?? {}).flatMap(({ itemId }) => (typeof itemId === 'string' ? [itemId] : []))
}

/** Texts and calls of functions are accepted without their item ids; what else is an item is sent as a reference only. */
function isBoundToItem(part: Part): boolean {
  const isFree = part.type === 'text' || (part.type === 'tool-call' && part.providerExecuted !== true)
  return itemIdsOf(part).some(id => !isFree || !/^(fc|msg)_/.test(id))
}

/** An item that was reasoned about is refused without its reasoning, and accepted when it is not referred to as an item. */
function withoutItemId(part: Part): Part | undefined {
  if (itemIdsOf(part).length === 0) return part
  if (part.type === 'text' && part.text === '') return undefined
  const kept = Object.entries(part.providerOptions ?? {}).map(([provider, { itemId: _, ...noted }]) => [
    provider,
    noted,
  ])
  return { ...part, providerOptions: Object.fromEntries(kept) as NonNullable<Part['providerOptions']> }
}
