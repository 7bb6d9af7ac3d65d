// One conversation on the server: its messages, and the answer that is being given, for whoever comes back to it.
import type { InferUIMessage } from '@lockstep/agent/ui'
import { isToolUIPart, readUIMessageStream, type UIMessageChunk } from 'ai'
import type { shopAgent } from './shop-agent.ts'

/** A message of this chat, on both sides. */
export type ShopMessage = InferUIMessage<ReturnType<typeof shopAgent>, { retry: { reason: string } }>

/** A conversation, in memory. A real server keeps it in a database. */
export class Thread {
  #messages: readonly ShopMessage[] = []
  #answer: RunningAnswer | undefined

  get messages(): readonly ShopMessage[] {
    return this.#messages
  }

  get isAnswering(): boolean {
    return this.#answer !== undefined
  }

  /** The answer from its beginning, as long as it is being given. */
  replay(): ReadableStream<UIMessageChunk> | undefined {
    return this.#answer?.replay()
  }

  /**
   * Takes what the client said: a new message of the user, or what the user decided about calls of an old one. False when
   * it is neither, and there is nothing to answer.
   */
  receive(message: ShopMessage): boolean {
    const before = this.#messages
    const known = before.find(({ id }) => id === message.id)
    if (known) this.#messages = before.map(old => (old === known ? decided(old, message) : old))
    else if (message.role === 'user') this.#messages = [...before, message]
    return this.#messages.some((now, index) => now !== before[index])
  }

  /** Reads the answer to its end, whether the client stays or not, and keeps it. */
  answer(stream: ReadableStream<UIMessageChunk>): ReadableStream<UIMessageChunk> {
    this.#answer = new RunningAnswer(stream, chunks => this.#keep(chunks))
    return this.#answer.replay()
  }

  async #keep(chunks: readonly UIMessageChunk[]): Promise<void> {
    const last = this.#messages.at(-1)
    const continued = last?.role === 'assistant' ? last : undefined
    let message: ShopMessage | undefined
    const stream = new ReadableStream<UIMessageChunk>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
    const states = readUIMessageStream({ stream, ...(continued ? { message: structuredClone(continued) } : {}) })
    for await (const state of states) message = state as ShopMessage
    if (message) this.#messages = [...this.#messages.filter(({ id }) => id !== message.id), message]
    this.#answer = undefined
  }
}

/** Of a client's copy only the decisions count; the rest is as the server knows it. */
function decided(known: ShopMessage, sent: ShopMessage): ShopMessage {
  const answers = new Map(
    sent.parts.flatMap(part =>
      isToolUIPart(part) && part.state === 'approval-responded' ? [[part.approval.id, part.approval]] : [],
    ),
  )
  const isOpen = (part: ShopMessage['parts'][number]) =>
    isToolUIPart(part) && part.state === 'approval-requested' && answers.has(part.approval.id)
  if (!known.parts.some(isOpen)) return known
  const parts = known.parts.map(part => {
    if (!isToolUIPart(part) || part.state !== 'approval-requested') return part
    const answer = answers.get(part.approval.id)
    if (!answer) return part
    const { approved, reason } = answer
    const approval = { ...part.approval, approved, ...(reason === undefined ? {} : { reason }) }
    return { ...part, state: 'approval-responded' as const, approval } as unknown as typeof part
  })
  return { ...known, parts }
}

/** A stream that is read once and can be followed by any number of clients, each from the beginning. */
class RunningAnswer {
  readonly #chunks: UIMessageChunk[] = []
  readonly #followers = new Set<() => void>()
  #over = false

  constructor(stream: ReadableStream<UIMessageChunk>, keep: (chunks: readonly UIMessageChunk[]) => Promise<void>) {
    void this.#read(stream).then(async () => {
      // Whoever hears that it is over may ask for the conversation at once.
      await keep(this.#chunks)
      this.#over = true
      this.#tell()
    })
  }

  replay(): ReadableStream<UIMessageChunk> {
    let next = 0
    return new ReadableStream<UIMessageChunk>({
      pull: async controller => {
        while (next === this.#chunks.length && !this.#over)
          await new Promise<void>(resolve => this.#followers.add(resolve))
        const chunk = this.#chunks[next++]
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
    })
  }

  async #read(stream: ReadableStream<UIMessageChunk>): Promise<void> {
    try {
      for await (const chunk of stream) {
        this.#chunks.push(chunk)
        this.#tell()
      }
    } catch (error) {
      this.#chunks.push({ type: 'error', errorText: 'The answer broke off.' })
      console.error(error)
    }
  }

  #tell(): void {
    for (const follower of this.#followers) follower()
    this.#followers.clear()
  }
}
