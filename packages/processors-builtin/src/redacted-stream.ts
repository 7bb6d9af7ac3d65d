// Redaction of a run's chunks: texts that come in pieces, and values that come whole.
import { isDataChunk, type Chunk } from '@lockstep/processors'
import { JsonText } from './json-text.ts'
import type { RedactedText } from './redacted-text.ts'
import { redactProperties } from './redacted-value.ts'
import type { FindingPlace, Redaction, RedactionScope } from './redaction.ts'

type PieceType = 'text-delta' | 'reasoning-delta' | 'tool-input-delta'

interface OpenText {
  readonly type: PieceType
  readonly id: string
  readonly text: RedactedText
}

const placeOf = { 'text-delta': 'text', 'reasoning-delta': 'reasoning', 'tool-input-delta': 'tool-input' } as const

/** The chunks of one run. */
export class RedactedStream {
  readonly #redaction: Redaction
  readonly #open = new Map<string, OpenText>()
  /** Of the hook that is running: a text that was opened in one may be refused in another. */
  #current: RedactionScope | undefined
  readonly #scope: RedactionScope = {
    vault: () => this.#current!.vault(),
    block: finding => this.#current!.block(finding),
  }

  constructor(redaction: Redaction) {
    this.#redaction = redaction
  }

  /** Gives what can be shown of a chunk and what was held before it. */
  pass(part: Chunk, scope: RedactionScope): Chunk | readonly Chunk[] | null {
    this.#current = scope
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const shown = this.#textFor(part.type, part.payload.id).push(part.payload.text)
        if (shown === part.payload.text) return part
        return shown === '' ? null : ({ ...part, payload: { ...part.payload, text: shown } } as Chunk)
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
  flush(blockId: string | undefined, runId: string, scope: RedactionScope): readonly Chunk[] {
    this.#current = scope
    const keys =
      blockId === undefined ? [...this.#open.keys()] : [keyOf('text-delta', blockId), keyOf('reasoning-delta', blockId)]
    return keys.flatMap(key => this.#end(key, runId))
  }

  #textFor(type: PieceType, id: string): RedactedText {
    const key = keyOf(type, id)
    let open = this.#open.get(key)
    if (!open) {
      const start = () => this.#redaction.open(placeOf[type], this.#scope)
      open = { type, id, text: type === 'tool-input-delta' ? new JsonText(start) : start() }
      this.#open.set(key, open)
    }
    return open.text
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
    const redactIn = (where: FindingPlace) => (text: string) => this.#redaction.redact(text, where, this.#scope)
    if (isDataChunk(part)) return redactProperties(part, ['data'], redactIn('data'))
    const names = textNames[part.type]
    if (names === undefined || (part.type === 'tool-result' && part.payload.providerExecuted !== true)) return part
    const where = part.type === 'tool-call' ? 'tool-input' : 'tool-output'
    const payload = redactProperties(part.payload, names, redactIn(where))
    return payload === part.payload ? part : ({ ...part, payload } as Chunk)
  }
}

/** Where chunks that come whole have texts. A local tool's result was redacted before it became a chunk. */
const textNames: { readonly [type: string]: readonly string[] | undefined } = {
  'tool-call': ['input', 'error'],
  'tool-result': ['input', 'output'],
  'tool-error': ['input', 'error'],
  'tool-output-denied': ['input', 'reason'],
  source: ['source'],
  'unknown-part': ['part'],
}

function keyOf(type: PieceType, id: string): string {
  return `${type} ${id}`
}
