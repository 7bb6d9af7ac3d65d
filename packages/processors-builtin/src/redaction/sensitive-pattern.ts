// What a kind of sensitive text looks like, and how it is shown when it is masked.
import type { MachinePattern } from '../texts/pattern-machine.ts'

/**
 * A kind of sensitive text. The expression may look at one character on each side (`\b`, `(?<!\d)`, `(?=\s|$)`), and has
 * no back references: so each text can be read once, from left to right. The longest match counts; `?` after a
 * quantifier means nothing.
 */
export interface SensitivePattern extends MachinePattern {
  /** Names it in options, findings and replacements: lower case letters, digits and hyphens. */
  readonly kind: string
  /** How a match looks when it is masked; stars in place of letters and digits when absent. */
  readonly mask?: ((text: string) => string) | undefined
}

/** Stars in place of letters and digits, but for the last ones. */
export function maskAll(text: string, shownCount = 0): string {
  const characters = Array.from(text)
  let left = characters.filter(character => /[\p{L}\p{N}]/u.test(character)).length - shownCount
  return characters.map(character => (/[\p{L}\p{N}]/u.test(character) && left-- > 0 ? '*' : character)).join('')
}
