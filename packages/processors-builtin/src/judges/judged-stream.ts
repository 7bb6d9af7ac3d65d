// The texts of an attempt under judgement: each window is held until it was judged, while the model goes on writing.
import { isPromiseLike, type Chunk, type ChunkNamed, type MaybePromise } from '@lockstep/processors'
import type { Passage } from './judge-prompt.ts'
import { TextWindows } from './text-windows.ts'
import type { Ruling } from './verdict.ts'

/** What a text is judged with: asking about a window, and acting on what was said. */
export interface WindowJudge {
  ask(passage: Passage): Promise<Ruling>
  /** What is shown of the text. Throws: a tripwire. */
  settle(passage: Passage, ruling: Ruling): string
}

type PieceType = 'text-delta' | 'reasoning-delta'
type Piece = ChunkNamed<PieceType>

/** So much of the text before goes with a window. */
const contextLength = 400

/** The blocks of one attempt that are open. */
export class JudgedStream {
  readonly #window: number
  readonly #types: ReadonlySet<string>
  readonly #blocks = new Map<string, JudgedText>()

  constructor(window: number, types: ReadonlySet<PieceType>) {
    this.#window = window
    this.#types = types
  }

  /** Gives what can be shown of a chunk, and of the windows before it that have been judged. */
  pass(part: Chunk, judge: WindowJudge): MaybePromise<Chunk | readonly Chunk[] | null> {
    if (!this.#types.has(part.type)) {
      // What the provider sent, word by word, has what is held here.
      if (part.type === 'raw') return null
      const settled = [...this.#blocks.values()].flatMap(text => text.take(judge))
      return settled.length === 0 ? part : [...settled, part]
    }
    const piece = part as Piece
    const { id } = piece.payload
    let text = this.#blocks.get(id)
    if (!text) this.#blocks.set(id, (text = new JudgedText(piece, this.#window)))
    const shown = text.push(piece.payload.text, judge)
    if (piece.payload.providerMetadata === undefined) return shown
    // What a provider says of a piece (a signature, say) belongs to the block, whichever text is shown with it.
    const bare = { ...piece, payload: { ...piece.payload, text: '' } } as Chunk
    return isPromiseLike(shown) ? shown.then(chunks => [...chunks, bare]) : [...(shown as readonly Chunk[]), bare]
  }

  /** Ends a block, or all that are open, and gives what was held. */
  async flush(blockId: string | undefined, judge: WindowJudge): Promise<readonly Chunk[]> {
    const chunks: Chunk[] = []
    for (const id of blockId === undefined ? [...this.#blocks.keys()] : [blockId]) {
      const text = this.#blocks.get(id)
      if (!text) continue
      this.#blocks.delete(id)
      chunks.push(...(await text.end(judge)))
    }
    return chunks
  }

  get isOpen(): boolean {
    return this.#blocks.size > 0
  }
}

interface OpenWindow {
  readonly passage: Passage
  readonly ruling: Promise<void>
  said: Ruling | undefined
}

/** One text: a window that fills, at most one that is being judged, and those between, which make the text wait. */
class JudgedText {
  readonly #first: Piece
  readonly #windows: TextWindows
  readonly #complete: string[] = []
  #asked: OpenWindow | undefined
  #before = ''

  /** `first` is its first piece: the others are like it. */
  constructor(first: Piece, window: number) {
    this.#first = first
    this.#windows = new TextWindows(window)
  }

  /** Adds a piece. Waits only while a second window is complete before the first was judged. */
  push(piece: string, judge: WindowJudge): MaybePromise<readonly Chunk[]> {
    this.#complete.push(...this.#windows.push(piece))
    const shown = this.take(judge)
    this.#ask(judge)
    if (this.#complete.length === 0) return shown
    return this.#judgeAll(judge, 0).then(more => [...shown, ...more])
  }

  /** Gives the window that was judged, if one was. */
  take(judge: WindowJudge): readonly Chunk[] {
    const { passage, said } = this.#asked ?? {}
    if (!passage || !said) return []
    this.#asked = undefined
    const { type, runId, from, payload } = this.#first
    return [{ type, runId, from, payload: { id: payload.id, text: judge.settle(passage, said) } } as Chunk]
  }

  /** Judges all that is left and gives it. */
  end(judge: WindowJudge): Promise<readonly Chunk[]> {
    const rest = this.#windows.end()
    if (rest !== '') this.#complete.push(rest)
    return this.#judgeAll(judge, -1)
  }

  /** Waits until so many windows are complete and not asked about; with -1, until none is being judged either. */
  async #judgeAll(judge: WindowJudge, left: number): Promise<readonly Chunk[]> {
    const shown: Chunk[] = []
    this.#ask(judge)
    while (this.#asked && this.#complete.length > left) {
      await this.#asked.ruling
      shown.push(...this.take(judge))
      this.#ask(judge)
    }
    return shown
  }

  #ask(judge: WindowJudge): void {
    const text = this.#asked ? undefined : this.#complete.shift()
    if (text === undefined) return
    const where = this.#first.type === 'text-delta' ? 'text' : 'reasoning'
    const passage: Passage = { where, text, before: this.#before }
    this.#before = (this.#before + text).slice(-contextLength)
    const ruling = judge.ask(passage)
    const open: OpenWindow = { passage, said: undefined, ruling: ruling.then(said => void (open.said = said)) }
    // Whoever waits for it is told; when the run ends before, nobody has to hear of it.
    open.ruling.catch(() => {})
    this.#asked = open
  }
}
