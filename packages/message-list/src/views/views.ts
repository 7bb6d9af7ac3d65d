// What is read from a list: each part of it in each format. Everything is frozen, and cached with its snapshot.
import type { LanguageModel, ModelMessage, UIMessage } from 'ai'
import { convertMessages, convertOpenMessage, convertSequence } from './convert.ts'
import type { Conversion, ConvertedMessage, Target } from './convert-step.ts'
import { isToolPart, type AgentMessage, type MessagePart, type MessageSource } from '../message.ts'
import { applyOverlay, overlaidSequence, type Overlay } from './overlay.ts'
import { repair, type PromptRepair } from './prompt-repair.ts'
import type { ListSnapshot } from '../snapshot.ts'
import type { SystemMessage } from '../system-message.ts'
import { sequenceToUI, toUI } from './to-ui.ts'

/** The prompt of a `LanguageModelV4`. */
export type LanguageModelPrompt = Parameters<
  Extract<LanguageModel, { specificationVersion: 'v4' }>['doStream']
>[0]['prompt']

/** How a prompt is built. */
export interface PromptOptions {
  /** Edits for this prompt alone. */
  readonly overlay?: Overlay
  /** Instructions in the place of the list's own. */
  readonly systemMessages?: readonly SystemMessage[]
  /** Is told of everything that was put right. */
  readonly onRepair?: (repair: PromptRepair) => void
  /** Is told that there are files in the prompt. */
  readonly onFiles?: () => void
}

/** How model messages are made. */
export type ModelOptions = Pick<PromptOptions, 'onRepair'>

/** The messages of one source, or all of them, in every format. */
export interface View {
  /** As they are stored. */
  db(): readonly AgentMessage[]
  /**
   * The messages, as they are stored, that have such a part.
   *
   * Cost: each message is looked at once for each `test`, which has to be pure, and the same function each time.
   */
  having(test: (part: MessagePart) => boolean): readonly AgentMessage[]
  /** As the AI SDK's clients show them. Frozen, and typed as the SDK wants it. */
  ui(): UIMessage[]
  /** As the AI SDK's functions take them. Frozen, and typed as the SDK wants it. */
  model(options?: ModelOptions): ModelMessage[]
  /** As a model takes them: instructions first. The array is the caller's, its elements are shared and frozen. */
  prompt(options?: PromptOptions): LanguageModelPrompt
  /** The same as `model`. */
  core(options?: ModelOptions): ModelMessage[]
  /** The same under the names that other frameworks use. */
  readonly aiV5: {
    ui(): UIMessage[]
    model(options?: ModelOptions): ModelMessage[]
    llmPrompt(options?: PromptOptions): LanguageModelPrompt
  }
}

/** The views of a list. `remembered` are the messages with the source `memory`. */
export interface Views {
  readonly all: View
  readonly input: View
  readonly response: View
  readonly remembered: View
  readonly context: View
}

/** Makes the views of what `read` returns at the time of reading. */
export function viewsOf(read: () => ListSnapshot): Views {
  return {
    all: new SnapshotView(read, undefined),
    input: new SnapshotView(read, 'input'),
    response: new SnapshotView(read, 'response'),
    remembered: new SnapshotView(read, 'memory'),
    context: new SnapshotView(read, 'context'),
  }
}

class SnapshotView implements View {
  readonly #read: () => ListSnapshot
  readonly #source: MessageSource | undefined

  constructor(read: () => ListSnapshot, source: MessageSource | undefined) {
    this.#read = read
    this.#source = source
  }

  get aiV5(): View['aiV5'] {
    return { ui: () => this.ui(), model: options => this.model(options), llmPrompt: options => this.prompt(options) }
  }

  db(): readonly AgentMessage[] {
    const snapshot = this.#read()
    return this.#source === undefined ? snapshot.messages : snapshot.messagesOf(this.#source)
  }

  having(test: (part: MessagePart) => boolean): readonly AgentMessage[] {
    const found: AgentMessage[] = []
    for (const segment of this.#read().sequence.segments) {
      const offsets = segment.derive(test, ({ messages }) =>
        messages.flatMap((message, offset) => (message.content.parts.some(part => test(part)) ? [offset] : [])),
      )
      for (const offset of offsets)
        if (this.#source === undefined || segment.sources[offset] === this.#source)
          found.push(segment.messages[offset]!)
    }
    return found
  }

  ui(): UIMessage[] {
    return this.#derive('ui', () =>
      this.#source === undefined ? sequenceToUI(this.#read().sequence) : toUI(this.db()),
    )
  }

  model({ onRepair }: ModelOptions = {}): ModelMessage[] {
    const { messages, repairs } = this.#derive('model messages', () => {
      const pieces = this.#withOpenEnd(this.#convert('model'))
      const made: ConvertedMessage[] = []
      return {
        messages: Object.freeze(made.concat(...pieces.map(piece => piece.messages))),
        repairs: pieces.flatMap(piece => piece.repairs),
      }
    })
    if (onRepair !== undefined) repairs.forEach(onRepair)
    return messages as unknown as ModelMessage[]
  }

  core(options?: ModelOptions): ModelMessage[] {
    return this.model(options)
  }

  prompt({ overlay, systemMessages, onRepair, onFiles }: PromptOptions = {}): LanguageModelPrompt {
    const pieces = overlay === undefined ? this.#convert('prompt') : this.#convertUnder(overlay)
    const prompt: unknown[] = [...(systemMessages ?? this.#read().systemMessages)]
    if (pieces.find(piece => piece.messages.length > 0)?.messages[0]?.role === 'assistant') {
      prompt.push(opening)
      onRepair?.(
        repair('starts-with-assistant', this.#firstSpeaker(overlay), {
          reason:
            'A user message "." was put first, because many models refuse a conversation that begins with the assistant.',
        }),
      )
    }
    if (onRepair !== undefined) for (const { repairs } of pieces) repairs.forEach(onRepair)
    if (onFiles !== undefined && pieces.some(piece => piece.hasFiles)) onFiles()
    return prompt.concat(...pieces.map(piece => piece.messages)) as LanguageModelPrompt
  }

  #firstSpeaker(overlay: Overlay | undefined): string {
    const messages = overlay === undefined ? this.db() : applyOverlay(this.db(), overlay)
    return messages.find(message => message.role === 'assistant')!.id
  }

  #convert(target: Target): readonly Conversion[] {
    return this.#source === undefined
      ? convertSequence(this.#read().sequence, target)
      : [this.#derive(target, () => convertMessages(this.db(), target))]
  }

  #convertUnder(overlay: Overlay): readonly Conversion[] {
    const sequence = this.#source === undefined ? overlaidSequence(this.#read().sequence, overlay) : undefined
    return sequence === undefined
      ? [convertMessages(applyOverlay(this.db(), overlay), 'prompt')]
      : convertSequence(sequence, 'prompt')
  }

  /** At the end of the conversation, the AI SDK goes on with calls that were asked about and have no result yet. */
  #withOpenEnd(pieces: readonly Conversion[]): readonly Conversion[] {
    // The last piece is of the last segment, or of all messages of a source.
    const messages =
      this.#source === undefined ? (this.#read().sequence.segments.at(-1)?.messages ?? []) : [...this.db()]
    const last = messages.at(-1)
    return last !== undefined && isOpen(last)
      ? [...pieces.slice(0, -1), convertMessages(messages.slice(0, -1), 'model'), convertOpenMessage(last)]
      : pieces
  }

  #derive<T>(name: string, make: () => T): T {
    return this.#read().derive(`${this.#source ?? 'all'}.${name}`, make)
  }
}

const opening = Object.freeze({ role: 'user', content: Object.freeze([Object.freeze({ type: 'text', text: '.' })]) })

const openStates: ReadonlySet<string> = new Set(['approval-requested', 'approval-responded'])

function isOpen(message: AgentMessage): boolean {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  return [...message.content.parts].some(part => isToolPart(part) && openStates.has(part.state))
}
