// What providers have against a history, how they say it, and the prompt that they take instead.
import type { ProcessLLMRequestArgs } from '@lockstep/processors'

type Prompt = ProcessLLMRequestArgs['prompt']
type Message = Prompt[number]
type Part = Extract<Message, { role: 'assistant' | 'tool' }>['content'][number]
type Options = NonNullable<Part['providerOptions']>

/** A repair: how the refusal sounds, and what is done about it. */
export interface PromptRepair {
  readonly refusal: RegExp
  readonly repair: (prompt: Prompt) => Prompt
}

/** The name of a repair. */
export type PromptRepairName =
  /** Items that a provider has stored are sent as what they say, without their ids. */
  | 'item-references'
  /** Reasoning with a signature that does not hold is left out. */
  | 'reasoning-signatures'
  /** Tool calls get short ids of letters and digits. */
  | 'tool-call-ids'
  /** A call without its result, or a result without its call, is left out. */
  | 'tool-pairs'
  /** Blank texts, and white space at the end of the last message, are left out. */
  | 'blank-texts'

/** The repairs by name. The refusals are those of Anthropic, Bedrock, OpenAI, Azure, Mistral and Google. */
export const promptRepairs: { readonly [name in PromptRepairName]: PromptRepair } = {
  'item-references': {
    refusal:
      /provided without its required|not found\. items are not persisted|item with id '[^']*' not found|duplicate item found with id|encrypted[_ ]content/i,
    repair: prompt => mapParts(prompt, withoutReferences),
  },
  'reasoning-signatures': {
    refusal: /invalid `?(signature|data)`? in `?(redacted_)?thinking|thinking`? blocks? .{0,60}cannot be modified/i,
    repair: prompt => mapParts(prompt, part => (isSigned(part) ? undefined : part)),
  },
  'tool-call-ids': {
    refusal:
      /tool_(use|result)\.(tool_use_)?id: string should match|tool call id was .{0,200} but must be|invalid '[^']*(call_id|tool_calls?[^']*\.id)': string too long|toolUseId.{0,80}(pattern|length)/i,
    repair: withShortIds,
  },
  'tool-pairs': {
    refusal:
      /tool_use`? ids were found without|unexpected `?tool_use_id|no tool (output|call) found for function call|'?tool_calls'? must be followed by tool messages|must be a response to a prec\w+ message with '?tool_calls|number of function response parts|not the same number of function calls and responses|number of tool(Use|Result) blocks/i,
    repair: withoutOrphans,
  },
  'blank-texts': {
    refusal:
      /text content blocks must (be non-empty|contain non-whitespace)|content cannot end with trailing whitespace|text field in the ContentBlock object .{0,80} is blank/i,
    repair: withoutBlanks,
  },
}

/** Each part of what the assistant and the tools said, or nothing in its place; a message without parts goes. */
function mapParts(prompt: Prompt, change: (part: Part) => Part | undefined): Prompt {
  return prompt.flatMap(message => {
    if (message.role !== 'assistant' && message.role !== 'tool') return [message]
    const parts: readonly Part[] = message.content
    const changed = parts.map(change)
    if (changed.every((part, index) => part === parts[index])) return [message]
    const content = changed.filter(part => part !== undefined)
    return content.length === 0 ? [] : [{ ...message, content } as Message]
  })
}

/** The keys under which providers name what they have stored of an answer. */
const references: ReadonlySet<string> = new Set(['itemId', 'reasoningEncryptedContent'])

function withoutReferences(part: Part): Part | undefined {
  const { providerOptions } = part
  if (!hasOption(providerOptions, references)) return part
  if (part.type === 'reasoning' || part.type === 'custom') return undefined
  const kept = Object.entries(providerOptions).map(([provider, options]) => [
    provider,
    Object.fromEntries(Object.entries(options).filter(([key]) => !references.has(key))),
  ])
  return { ...part, providerOptions: Object.fromEntries(kept) as Options }
}

const signatures: ReadonlySet<string> = new Set(['signature', 'redactedData'])

function isSigned({ type, providerOptions }: Part): boolean {
  return type === 'reasoning' && hasOption(providerOptions, signatures)
}

function hasOption(options: Part['providerOptions'], keys: ReadonlySet<string>): options is Options {
  return Object.values(options ?? {}).some(noted => Object.keys(noted).some(key => keys.has(key)))
}

/** Nine letters and digits are what all providers take. The same id gets the same one in each prompt of a run. */
function withShortIds(prompt: Prompt): Prompt {
  const ids = new Map<string, string>()
  const shortId = (id: string) => {
    const known = ids.get(id) ?? `c${ids.size.toString(36).padStart(8, '0')}`
    ids.set(id, known)
    return known
  }
  return mapParts(prompt, part => ('toolCallId' in part ? { ...part, toolCallId: shortId(part.toolCallId) } : part))
}

function withoutOrphans(prompt: Prompt): Prompt {
  const pairs = new Set<Part>()
  let open = new Map<string, Part>()
  for (const message of prompt) {
    if (message.role === 'user' || message.role === 'system') open = new Map()
    if (message.role !== 'assistant' && message.role !== 'tool') continue
    // What a tool gave stands directly behind the message with the call.
    if (message.role === 'assistant') open = new Map()
    for (const part of message.content) {
      if (part.type === 'tool-call') open.set(part.toolCallId, part)
      const call = part.type === 'tool-result' ? open.get(part.toolCallId) : undefined
      if (call === undefined) continue
      pairs.add(call).add(part)
      open.delete((part as { readonly toolCallId: string }).toolCallId)
    }
  }
  return mapParts(prompt, part =>
    (part.type === 'tool-call' || part.type === 'tool-result') && !pairs.has(part) ? undefined : part,
  )
}

function withoutBlanks(prompt: Prompt): Prompt {
  const last = prompt.at(-1)
  return prompt.flatMap((message): readonly Message[] => {
    if (message.role !== 'user' && message.role !== 'assistant') return [message]
    const parts: readonly { readonly type: string; readonly text?: string }[] = message.content
    const said = parts.filter(({ type, text }) => type !== 'text' || text!.trim() !== '')
    const content = message === last && message.role === 'assistant' ? said.map(withoutTail) : said
    return content.length === 0 ? [] : [{ ...message, content } as Message]
  })
}

function withoutTail<P extends { readonly type: string; readonly text?: string }>(part: P): P {
  return part.type === 'text' ? { ...part, text: part.text!.trimEnd() } : part
}
