// The desk: one conversation, its session, and a line about what each turn took.
import {
  BatchExecutor,
  createSession,
  type ConversationResponse,
  type Session,
  type TurnChunk,
} from '@lockstep/batch-executor'
import type { LanguageModel } from 'ai'
import { booking, fields, type Booking } from './booking-route.ts'
import { Bookings } from './hotels.ts'

/** How a desk is set up. */
export interface DeskOptions {
  readonly model: Exclude<LanguageModel, string>
  /** Gets each line of what the executor decides. */
  readonly debug?: (line: string) => void
}

/** Leads one booking. */
export class Desk {
  readonly bookings = new Bookings()
  readonly #executor: BatchExecutor
  readonly #model: DeskOptions['model']
  #session: Session<Booking> = createSession({ fields, id: 'desk' })
  #conversation: Pick<ConversationResponse<Booking>, 'messageList'> | undefined

  constructor({ model, debug = () => undefined }: DeskOptions) {
    this.#model = model
    this.#executor = new BatchExecutor({ debug })
  }

  get data(): Session<Booking>['data'] {
    return this.#session.data
  }

  /** Takes what the guest says, nothing to begin with, and streams the answer. A turn that fails changes nothing. */
  async *say(
    words: string | undefined,
    abortSignal: AbortSignal,
  ): AsyncGenerator<TurnChunk, ConversationResponse<Booking>, void> {
    const response = yield* this.#executor.streamResponse(words ?? [], {
      routes: [booking],
      session: this.#session,
      model: this.#model,
      context: this.bookings,
      abortSignal,
      ...this.#conversation,
    })
    this.#session = response.session
    this.#conversation = { messageList: response.messageList }
    return response
  }
}

/** What a turn took, in one line. */
export function describeTurn({
  executedSteps,
  stoppedReason,
  callCount,
  savings,
}: ConversationResponse<Booking>): string {
  const steps = executedSteps.map(({ id }) => id).join(', ') || 'none'
  const saved = savings.callCount > 0 ? `, ${savings.callCount} saved` : ''
  return `model calls: ${callCount}${saved} · steps: ${steps} · stopped: ${stoppedReason}`
}
