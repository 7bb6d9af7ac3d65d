// A model that says what its script has, cut into pieces in a given way: texts, reasoning and the inputs of tool calls.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { scriptedModel, streamOf, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MockLanguageModelV4 } from 'ai/test'

/** A way to cut a text into pieces, which together are the text. */
export type Cut = (text: string) => readonly string[]

/** The text in one piece. */
export const whole: Cut = text => [text]

/** One UTF-16 unit a piece: also within surrogate pairs. */
export const eachUnit: Cut = text => text.split('')

/** Cut before the given places, which are taken from a text of any length. */
export function cutAt(places: readonly number[]): Cut {
  return text => {
    const at = [...new Set(places.map(place => place % (text.length + 1)))].toSorted((a, b) => a - b)
    return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end))
  }
}

/** Turns that a model may go on with when a processor asks for more than the script has. */
const spareTurnCount = 80

/** Plays the turns; the last one again and again when it is asked for more. */
export function cutModel(turns: readonly ScriptedTurn[], cut: Cut): LanguageModelV4 {
  const spare = Array.from({ length: spareTurnCount }, () => turns.at(-1)!)
  const script = scriptedModel([...turns, ...spare])
  return new MockLanguageModelV4({
    provider: script.provider,
    modelId: script.modelId,
    doStream: async options => {
      const { stream } = await script.doStream(options)
      const parts: LanguageModelV4StreamPart[] = []
      for await (const part of stream) parts.push(part)
      return { stream: streamOf(recut(parts, cut)) }
    },
  })
}

/** The parts with their texts cut anew. A tool call without pieces of its input gets some. */
function recut(parts: readonly LanguageModelV4StreamPart[], cut: Cut): readonly LanguageModelV4StreamPart[] {
  const written = new Set(parts.flatMap(part => (part.type === 'tool-input-start' ? [part.id] : [])))
  return joinedDeltas(parts).flatMap((part): readonly LanguageModelV4StreamPart[] => {
    if (isDelta(part)) return cut(part.delta).map(delta => ({ ...part, delta }))
    if (part.type !== 'tool-call' || written.has(part.toolCallId)) return [part]
    const { toolCallId: id, toolName, input } = part
    return [
      { type: 'tool-input-start', id, toolName },
      ...cut(input).map(delta => ({ type: 'tool-input-delta' as const, id, delta })),
      { type: 'tool-input-end', id },
      part,
    ]
  })
}

type Delta = Extract<
  LanguageModelV4StreamPart,
  { readonly type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }
>

function isDelta(part: LanguageModelV4StreamPart | undefined): part is Delta {
  return part !== undefined && part.type.endsWith('-delta')
}

function joinedDeltas(parts: readonly LanguageModelV4StreamPart[]): readonly LanguageModelV4StreamPart[] {
  const joined: LanguageModelV4StreamPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (isDelta(part) && isDelta(last) && last.type === part.type && last.id === part.id)
      joined[joined.length - 1] = { ...last, delta: last.delta + part.delta }
    else joined.push(part)
  }
  return joined
}
