// Where the messages of a conversation stand in a prompt.
import { MessageList, type AgentMessage } from '@lockstep/message-list'
import type { Prompt, PromptMessage } from './token-counter.ts'

/** What an edited message of a prompt was made from: known to processors that come later, and see less of the prompt. */
const originals = new WeakMap<PromptMessage, PromptMessage>()

/** Finds messages in one prompt. Cost: the prompt is read once, when the first message is looked for. */
export class PromptPlaces {
  readonly #prompt: Prompt
  readonly #list: MessageList
  #pieces: ReadonlyMap<PromptMessage, number> | undefined
  #parts: ReadonlyMap<unknown, number> | undefined

  constructor(prompt: Prompt, list: MessageList) {
    this.#prompt = prompt
    this.#list = list
  }

  /** The place where a message of the list begins; undefined when the prompt does not have it. */
  of(message: AgentMessage): number | undefined {
    const piece = firstPieceOf(message)
    if (piece === undefined) return undefined
    this.#pieces ??= placesIn(this.#prompt, this.#list)
    return this.#pieces.get(piece) ?? this.#similar(piece)
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

function placesIn(prompt: Prompt, list: MessageList): ReadonlyMap<PromptMessage, number> {
  const places = new Map<PromptMessage, number>()
  for (const [index, message] of prompt.entries()) {
    const piece = originals.get(message) ?? message
    if (!places.has(piece)) places.set(piece, index)
  }
  addEdited(places, list.get.all.prompt(), prompt)
  return places
}

/** An edited message stands where it stood, as long as between its neighbours none was added or left out. */
function addEdited(places: Map<PromptMessage, number>, unedited: Prompt, prompt: Prompt): void {
  let begin = 0
  for (let index = 0; index <= unedited.length; index++) {
    const anchor = index === unedited.length ? prompt.length : places.get(unedited[index]!)
    if (anchor === undefined) continue
    const before = begin === 0 ? 0 : places.get(unedited[begin - 1]!)! + 1
    if (anchor - before === index - begin)
      for (let between = begin; between < index; between++) {
        const place = before + between - begin
        if (prompt[place]!.role !== unedited[between]!.role) continue
        places.set(unedited[between]!, place)
        originals.set(prompt[place]!, unedited[between]!)
      }
    begin = index + 1
  }
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
