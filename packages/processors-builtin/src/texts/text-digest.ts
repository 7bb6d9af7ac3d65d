// The keyed digest that takes the place of a text: the same for the same text, and no way back without the key.
import { BuiltinError } from '../errors.ts'

/** HMAC-SHA-256 in sixteen letters: without digits, so that no pattern takes a digest for a number. */
export function digestOf(text: string, key: string): string {
  const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
  if (crypto === undefined)
    throw new BuiltinError(
      'missing-crypto',
      "The strategy 'hash' needs the module node:crypto, which this runtime does not have. Use 'redact', 'mask' or 'tokenize'.",
    )
  const digest = crypto.createHmac('sha256', key).update(text).digest()
  return Array.from(digest.subarray(0, 8), byte => letter(byte >> 4) + letter(byte & 15)).join('')
}

function letter(value: number): string {
  return String.fromCharCode(0x61 + value)
}
