// Where the messages of a conversation stand in a prompt.
import { MessageList, type AgentMessage } from '@lockstep/message-list'
import type { Prompt, PromptMessage } from './token-counter.ts'

/** Finds messages in one prompt. Cost: the prompt is read once, when the first message is looked for. */
export class PromptPlaces {
  readonly #prompt: Prompt
  readonly #list: MessageList
  #pieces: Map<unknown, number> | undefined
  #standing: ReadonlyMap<unknown, number> | undefined
  #parts: Map<unknown, number> | undefined

  constructor(prompt: Prompt, list: MessageList) {
    this.#prompt = prompt
    this.#list = list
  }

  /** The place where a message of the list begins; undefined when the prompt does not have it. */
  of(message: AgentMessage): number | undefined {
    const piece = firstPieceOf(message)
    if (piece === undefined) return undefined
    this.#pieces ??= placesIn(this.#prompt)
    const same = this.#pieces.get(piece)
    if (same !== undefined) return same
    this.#standing ??= placesBetween(this.#list.get.all.prompt(), this.#prompt, this.#pieces)
    return this.#standing.get(piece) ?? this.#similar(piece)
  }

  #similar({ content }: PromptMessage): number | undefined {
    this.#parts ??= new Map(
      this.#prompt
        .flatMap((message, index) => partsOf(message.content).map(part => [part, index] as const))
        .toReversed(),
    )
    for (const part of partsOf(content)) {
      const place = this.#parts.get(part)
      if (place !== undefined) return place
    }
    return undefined
  }
}

/** The first place of each. */
function placesIn(prompt: Prompt): Map<unknown, number> {
  const places = new Map<unknown, number>()
  for (const [index, message] of prompt.entries()) if (!places.has(message)) places.set(message, index)
  return places
}

/** An edited message stands where it stood, as long as between its neighbours none was added or left out. */
function placesBetween(unedited: Prompt, prompt: Prompt, pieces: ReadonlyMap<unknown, number>): Map<unknown, number> {
  const places = new Map<unknown, number>()
  let begin = 0
  for (let index = 0; index <= unedited.length; index++) {
    const anchor = index === unedited.length ? prompt.length : pieces.get(unedited[index])
    if (anchor === undefined) continue
    const before = begin === 0 ? 0 : pieces.get(unedited[begin - 1])! + 1
    if (anchor - before === index - begin)
      for (let between = begin; between < index; between++) {
        const place = before + between - begin
        if (prompt[place]!.role === unedited[between]!.role) places.set(unedited[between], place)
      }
    begin = index + 1
  }
  return places
}

function partsOf(content: PromptMessage['content']): readonly object[] {
  return typeof content === 'string' ? [] : content
}

const pieces = new WeakMap<AgentMessage, PromptMessage>()

/** Prompts are made of pieces that are made once for a message, so it is the same one in every prompt. */
function firstPieceOf(message: AgentMessage): PromptMessage | undefined {
  const known = pieces.get(message)
  if (known !== undefined) return known
  const prompt = new MessageList().add(message, 'memory').get.all.prompt()
  const piece = prompt.find(({ role }) => role === message.role)
  if (piece !== undefined) pieces.set(message, piece)
  return piece
}
