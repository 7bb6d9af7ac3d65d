// Messages for a run that goes on: they wait here until the run is at a place where they can enter.
import type { MessageInput } from '@lockstep/message-list'
import type { StopReason } from '@lockstep/processors'

/** What became of a message: it entered before a step, or the run ended first. */
export type Delivery =
  | { readonly delivered: true; readonly stepNumber: number }
  | { readonly delivered: false; readonly reason: StopReason }

/** A message that waits. */
export interface WaitingMessage {
  readonly message: MessageInput
  readonly settle: (delivery: Delivery) => void
  readonly refuse: (error: unknown) => void
}

/** The way to speak to a run while it goes. Give it to the run as `steering`; one serves one run. */
export class Steering {
  readonly #steered: WaitingMessage[] = []
  readonly #followUps: WaitingMessage[] = []
  #ended: StopReason | undefined

  /** Puts a message in before the next step; a run that was about to end goes on. Rejects for what is no message. */
  steer(message: MessageInput): Promise<Delivery> {
    return this.#wait(this.#steered, message)
  }

  /** Puts a message in when the run has its answer, and lets it answer that too. */
  followUp(message: MessageInput): Promise<Delivery> {
    return this.#wait(this.#followUps, message)
  }

  /** For the run: the next message that enters before a step. */
  take(): WaitingMessage | undefined {
    return this.#steered.shift()
  }

  /** For the run, when it has an answer: lets the next follow-up in. False when nothing waits. */
  hasMore(): boolean {
    if (this.#steered.length === 0) this.#steered.push(...this.#followUps.splice(0, 1))
    return this.#steered.length > 0
  }

  /** For the run: what still waits, and what comes later, was not delivered. */
  end(reason: StopReason): void {
    this.#ended = reason
    for (const { settle } of [...this.#steered.splice(0), ...this.#followUps.splice(0)])
      settle({ delivered: false, reason })
  }

  #wait(queue: WaitingMessage[], message: MessageInput): Promise<Delivery> {
    if (this.#ended) return Promise.resolve({ delivered: false, reason: this.#ended })
    return new Promise((settle, refuse) => queue.push({ message, settle, refuse }))
  }
}
