// Replaces secrets in what the model says and in what tools give, also when a secret is split over chunks.
import type { Chunk, Processor, ProcessOutputStreamArgs } from '@lockstep/processors'
import {
  nothingHeld,
  redactSecrets,
  scanForSecrets,
  scanToEnd,
  type HeldText,
  type Replacement,
} from './secret-scan.ts'

/** Options of the secret redactor. */
export interface SecretRedactorOptions {
  /** What takes the place of a secret; `[redacted <kind>]` when absent. */
  readonly replacement?: Replacement
}

/** Text that may still become a secret, by block. */
interface HeldBlocks {
  blocks: { [blockId: string]: { readonly type: 'text-delta' | 'reasoning-delta'; readonly held: HeldText } }
}

/**
 * A processor that no secret it knows gets past: not in the stream, and not in the message, which is built from it.
 *
 * *Order*: put it after processors that write text.
 * *Cost*: text is shown up to its last white space, so a reader is behind by the word that is being written; a private
 * key is held to its end.
 */
export function secretRedactor(options: SecretRedactorOptions = {}): Processor<'secret-redactor', unknown, HeldBlocks> {
  const { replacement = defaultReplacement } = options
  return {
    id: 'secret-redactor',
    name: 'Secret redactor',
    description: 'Replaces API keys, tokens and private keys in text, reasoning and tool results.',

    processOutputStream({ part, state }: ProcessOutputStreamArgs<unknown, HeldBlocks>): Chunk | null {
      if (part.type !== 'text-delta' && part.type !== 'reasoning-delta') return part
      const blocks = (state.blocks ??= {})
      const { id, text } = part.payload
      const scanned = scanForSecrets(blocks[id]?.held ?? nothingHeld, text, replacement)
      blocks[id] = { type: part.type, held: scanned.held }
      if (scanned.text === '') return null
      return scanned.text === text ? part : { ...part, payload: { ...part.payload, text: scanned.text } }
    },

    flush({ blockId, runId, state }): readonly Chunk[] {
      const blocks = (state.blocks ??= {})
      const ended = blockId === undefined ? Object.keys(blocks) : [blockId]
      return ended.flatMap(id => {
        const block = blocks[id]
        delete blocks[id]
        const text = block === undefined ? '' : scanToEnd(block.held, replacement)
        return text === '' ? [] : [{ type: block!.type, runId, from: 'AGENT', payload: { id, text } } as Chunk]
      })
    },

    processToolResult({ output, error }) {
      if (error !== undefined) return
      const redacted = redactValue(output, text => redactSecrets(text, replacement))
      return redacted === output ? undefined : { output: redacted }
    },
  }
}

const defaultReplacement: Replacement = kind => `[redacted ${kind}]`

/** Redacts the strings of a value; a value without secrets comes back as it is. */
function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) {
    const items = value.map(item => redactValue(item, redact))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).map(([key, item]) => [key, redactValue(item, redact), item] as const)
  return entries.some(([, item, before]) => item !== before)
    ? Object.fromEntries(entries.map(([key, item]) => [key, item]))
    : value
}
