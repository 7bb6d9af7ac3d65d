// When processors of a chain want to be asked for what they hold back, though no chunk has come.
import { untilAborted } from './until-aborted.ts'

/** The wishes of one attempt: one for each place in the chain, the newest counts. */
export class FlushTimers {
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()
  readonly #due = new Set<number>()
  #ring: (() => void) | undefined
  #isClosed = false

  set(place: number, ms: number): void {
    if (this.#isClosed) return
    this.#clear(place)
    const ring = () => {
      this.#timers.delete(place)
      this.#due.add(place)
      this.#ring?.()
    }
    this.#timers.set(place, setTimeout(ring, ms))
  }

  get isIdle(): boolean {
    return this.#timers.size === 0 && this.#due.size === 0
  }

  /** Tells whether the time of a wish comes before something else has settled. One may wait at a time. */
  isDueBefore(other: Promise<unknown>): Promise<boolean> {
    if (this.#due.size > 0) return Promise.resolve(true)
    return new Promise(resolve => {
      const settled = () => resolve(false)
      this.#ring = () => resolve(true)
      other.then(settled, settled)
    })
  }

  /** The places whose time has come, in order. They have to wish again. */
  take(): readonly number[] {
    const places = [...this.#due].toSorted((one, other) => one - other)
    this.#due.clear()
    return places
  }

  close(): void {
    this.#isClosed = true
    for (const place of this.#timers.keys()) this.#clear(place)
    this.#due.clear()
  }

  #clear(place: number): void {
    clearTimeout(this.#timers.get(place))
    this.#timers.delete(place)
    this.#due.delete(place)
  }
}

/** Waits; an abort ends it with the reason of the signal, and no timer is left. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await untilAborted(new Promise<void>(resolve => (timer = setTimeout(resolve, ms))), signal)
  } finally {
    clearTimeout(timer)
  }
}
