// What a client holds of its current step, so that it can be told again without what was taken back.
import type { UIMessageChunk } from 'ai'

/**
 * The UI protocol can take back one thing: all of the current step. Whatever of it stays has to be said again. The log
 * knows what that is; it keeps text as one piece, however many chunks it came in.
 */
export class UIStepLog {
  #chunks: UIMessageChunk[] = []
  #marks: number[] = []
  /** The last accepted value of each data part with an id: one that a later step replaced may have to come back. */
  readonly #data = new Map<string, UIMessageChunk>()

  /** How many steps of the run are in the client's step. */
  get stepCount(): number {
    return this.#marks.length
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  /** A step of the run begins inside the client's step; one that said nothing is not told apart. */
  mark(): void {
    if (this.#marks.at(-1) !== this.#chunks.length) this.#marks.push(this.#chunks.length)
  }

  /** The client begins a step: what came before stays with it. */
  clear(): void {
    for (const chunk of this.#chunks) {
      const key = dataKeyOf(chunk)
      if (key !== undefined) this.#data.set(key, chunk)
    }
    this.#chunks = []
    this.#marks = []
  }

  add(chunk: UIMessageChunk): void {
    const last = this.#chunks.at(-1)
    const merged = last && mergedDelta(last, chunk)
    if (merged) this.#chunks[this.#chunks.length - 1] = merged
    else this.#chunks.push(chunk)
  }

  /** Forgets the last step of the run, or all of them, and gives what makes the client forget it too. */
  withdraw(all: boolean): readonly UIMessageChunk[] {
    const from = (all ? this.#marks[0] : this.#marks.at(-1)) ?? 0
    const gone = this.#chunks.slice(from)
    // What a person put in is not the run's to take back.
    this.#chunks = [...this.#chunks.slice(0, from), ...gone.filter(chunk => chunk.type === 'steering-message')]
    if (all) this.#marks = this.#marks.slice(0, 1)
    const restored = gone.flatMap(chunk => this.#data.get(dataKeyOf(chunk) ?? '') ?? [])
    return [{ type: 'reset-step' }, ...said(this.#chunks), ...new Set(restored)]
  }

  /** Forgets these calls, and gives what makes the client forget them too. */
  withdrawCalls(toolCallIds: ReadonlySet<string>): readonly UIMessageChunk[] {
    const kept: UIMessageChunk[] = []
    const marks = [...this.#marks]
    this.#chunks.forEach((chunk, index) => {
      if (!('toolCallId' in chunk && toolCallIds.has(chunk.toolCallId))) kept.push(chunk)
      else this.#marks.forEach((mark, step) => (mark > index ? marks[step]!-- : undefined))
    })
    this.#chunks = kept
    this.#marks = marks
    return [{ type: 'reset-step' }, ...said(this.#chunks)]
  }

  /** Says the client's step again as the steps of the run that it holds; nothing when it holds one. */
  divide(): readonly UIMessageChunk[] {
    if (this.#marks.length < 2) return []
    const steps = this.#marks.map((mark, index) => said(this.#chunks.slice(mark, this.#marks[index + 1])))
    const boundary: readonly UIMessageChunk[] = [{ type: 'finish-step' }, { type: 'start-step' }]
    const divided = steps.flatMap((step, index) => (index === 0 ? step : [...boundary, ...step]))
    this.clear()
    return [{ type: 'reset-step' }, ...divided]
  }
}

/**
 * What is said a second time must not act a second time: `tool-input-available` makes a client run its tools, so the
 * input of a call that has its outcome is told as it would be streamed.
 */
function said(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] {
  const settled = new Set(chunks.flatMap(chunk => (isOutcome(chunk) ? [chunk.toolCallId] : [])))
  return chunks.flatMap(chunk =>
    chunk.type === 'tool-input-available' && settled.has(chunk.toolCallId) ? inputAsStreamed(chunk) : [chunk],
  )
}

function isOutcome(chunk: UIMessageChunk): chunk is Extract<UIMessageChunk, { type: 'tool-output-available' }> {
  return chunk.type.startsWith('tool-output-')
}

/** The input of a call, shown without the word that it can be run now. */
export function inputAsStreamed(
  call: Extract<UIMessageChunk, { type: 'tool-input-available' }>,
): readonly UIMessageChunk[] {
  const { type: _, input, ...rest } = call
  const start: UIMessageChunk = { type: 'tool-input-start', ...rest }
  const text = JSON.stringify(input) as string | undefined
  return text === undefined
    ? [start]
    : [start, { type: 'tool-input-delta', toolCallId: call.toolCallId, inputTextDelta: text }]
}

function mergedDelta(last: UIMessageChunk, chunk: UIMessageChunk): UIMessageChunk | undefined {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta')
    return last.type === chunk.type && last.id === chunk.id
      ? { ...last, ...chunk, delta: last.delta + chunk.delta }
      : undefined
  if (chunk.type === 'tool-input-delta')
    return last.type === chunk.type && last.toolCallId === chunk.toolCallId
      ? { ...chunk, inputTextDelta: last.inputTextDelta + chunk.inputTextDelta }
      : undefined
  return undefined
}

function dataKeyOf(chunk: UIMessageChunk): string | undefined {
  return 'data' in chunk && chunk.id !== undefined ? `${chunk.type} ${chunk.id}` : undefined
}
