// What a contestant was seen to do in one run: how a run is checked, and where its stages end.
import { outputOf, word } from './script.mjs'

export class Observation {
  toolCount = 0
  chunkCount = 0
  characterCount = 0
  readCount = 0
  firstToolAt = 0
  /** Milliseconds between two chunks, where somebody asked for them. */
  gaps

  constructor(work, gaps) {
    this.work = work
    this.gaps = gaps
  }

  /** The tool was called: its answer. */
  tool() {
    if (this.toolCount === 0) this.firstToolAt = performance.now()
    return outputOf(this.work, ++this.toolCount)
  }

  /** A piece of the answer came to the caller. */
  text(text) {
    this.chunkCount++
    this.characterCount += text.length
    if (!this.gaps) return
    const now = performance.now()
    if (this.chunkCount > 1) this.gaps.push(now - this.lastChunkAt)
    this.lastChunkAt = now
  }

  /** A reader has all messages in front of it, and looks at each. */
  read(messages) {
    for (const message of messages) if (message) this.readCount++
  }

  /** Throws when the run was not the work. */
  check({ streams = true }) {
    const { steps, deltas, readers, history } = this.work
    const expect = (what, actual, expected) => {
      if (actual !== expected) throw new Error(`${actual} ${what} instead of ${expected}: that was not the work.`)
    }
    expect('tool calls', this.toolCount, steps)
    expect('characters', this.characterCount, deltas * word.length)
    expect('chunks', this.chunkCount, streams ? deltas : 1)
    // Each reader has the history and the question before the first step, and a call and its result more before each other.
    const least = readers * (steps + 1) * (history + 1)
    if (this.readCount < least)
      throw new Error(`The readers saw ${this.readCount} messages instead of at least ${least}.`)
  }
}

/** One run that is checked: when it began and ended, what was seen of it, and what a caller would hold. */
export async function observed(contestant, work) {
  const prepared = await contestant.prepare(work)
  const seen = new Observation(work)
  const start = performance.now()
  const kept = await contestant.run(work, prepared, seen)
  const end = performance.now()
  seen.check(contestant)
  return { start, end, seen, kept }
}
