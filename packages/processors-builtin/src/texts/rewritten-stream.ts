// Rewriting of a run's chunks: texts that come in pieces, and values that come whole.
import { isDataChunk, type Chunk } from '@lockstep/processors'
import { JsonText } from './json-text.ts'
import { rewriteWith, type OpenText, type RewrittenText, type TextPlace } from './rewritten-text.ts'
import { rewriteProperties } from './rewritten-value.ts'

type PieceType = 'text-delta' | 'reasoning-delta' | 'tool-input-delta'

interface OpenPiece {
  readonly type: PieceType
  readonly id: string
  readonly text: RewrittenText
}

const placeOf = { 'text-delta': 'text', 'reasoning-delta': 'reasoning', 'tool-input-delta': 'tool-input' } as const

const asItIs: RewrittenText = { push: piece => piece, end: () => '' }

/** The chunks of one run. `TContext` is what texts need of the hook that is running. */
export class RewrittenStream<TContext> {
  readonly #openText: OpenText<TContext>
  readonly #open = new Map<string, OpenPiece>()
  /** Of the hook that is running: a text that was opened in one may be refused in another. */
  #context: TContext | undefined
  readonly #current = () => this.#context!

  constructor(open: OpenText<TContext>) {
    this.#openText = open
  }

  /** Gives what can be shown of a chunk and what was held before it. */
  pass(part: Chunk, context: TContext): Chunk | readonly Chunk[] | null {
    this.#context = context
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const shown = this.#textFor(part.type, part.payload.id).push(part.payload.text)
        if (shown === part.payload.text) return part
        // What a provider says of a piece, such as a signature, is not held with its text.
        const isBare = shown === '' && part.payload.providerMetadata === undefined
        return isBare ? null : ({ ...part, payload: { ...part.payload, text: shown } } as Chunk)
      }
      case 'tool-input-delta': {
        const shown = this.#textFor(part.type, part.payload.id).push(part.payload.delta)
        if (shown === part.payload.delta) return part
        return shown === '' ? null : { ...part, payload: { ...part.payload, delta: shown } }
      }
      case 'tool-input-end':
        return [...this.#end(keyOf('tool-input-delta', part.payload.id), part.runId), part]
      // What the provider sent, word by word, has what was taken out of the other chunks.
      case 'raw':
        return null
      default:
        return this.#passWhole(part)
    }
  }

  /** Ends a text or reasoning block, or everything that is open, and gives what was held. */
  flush(blockId: string | undefined, runId: string, context: TContext): readonly Chunk[] {
    this.#context = context
    const keys =
      blockId === undefined ? [...this.#open.keys()] : [keyOf('text-delta', blockId), keyOf('reasoning-delta', blockId)]
    return keys.flatMap(key => this.#end(key, runId))
  }

  #textFor(type: PieceType, id: string): RewrittenText {
    const key = keyOf(type, id)
    let open = this.#open.get(key)
    if (!open) {
      open = { type, id, text: this.#start(type) ?? asItIs }
      this.#open.set(key, open)
    }
    return open.text
  }

  #start(type: PieceType): RewrittenText | undefined {
    const start = () => this.#openText(placeOf[type], this.#current)
    const text = start()
    return text !== undefined && type === 'tool-input-delta' ? new JsonText(() => start() ?? asItIs) : text
  }

  #end(key: string, runId: string): readonly Chunk[] {
    const open = this.#open.get(key)
    if (!open) return []
    this.#open.delete(key)
    const rest = open.text.end()
    if (rest === '') return []
    const { type, id } = open
    const payload = type === 'tool-input-delta' ? { id, delta: rest } : { id, text: rest }
    return [{ type, runId, from: 'AGENT', payload } as Chunk]
  }

  #passWhole(part: Chunk): Chunk {
    const rewriteIn = (where: TextPlace) => rewriteWith(this.#openText, where, this.#current)
    if (isDataChunk(part)) return rewriteProperties(part, ['data'], rewriteIn('data'))
    const names = textNames[part.type]
    if (names === undefined || (part.type === 'tool-result' && part.payload.providerExecuted !== true)) return part
    const where = part.type === 'tool-call' ? 'tool-input' : 'tool-output'
    const payload = rewriteProperties(part.payload, names, rewriteIn(where))
    return payload === part.payload ? part : ({ ...part, payload } as Chunk)
  }
}

/** Where chunks that come whole have texts. A local tool's result was seen before it became a chunk. */
const textNames: { readonly [type: string]: readonly string[] | undefined } = {
  'tool-call': ['input', 'error'],
  'tool-result': ['input', 'output'],
  'tool-error': ['input', 'error'],
  'tool-output-denied': ['input', 'reason'],
  'tool-approval-request': ['input', 'reason'],
  'tool-approval-response': ['input', 'reason'],
  source: ['source'],
  'unknown-part': ['part'],
}

function keyOf(type: PieceType, id: string): string {
  return `${type} ${id}`
}
