// What personal data looks like. Secrets are in secret-patterns.ts.
import { maskAll, type SensitivePattern } from './sensitive-pattern.ts'

/** A kind of personal data that this package knows. */
export type PiiKind = 'email' | 'phone' | 'card' | 'iban' | 'ip' | 'url'

interface PiiPattern extends SensitivePattern {
  readonly kind: PiiKind
}

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const letterOrDigit = '[\\p{L}\\p{N}]'

/** The patterns, in the order in which they win over another of the same length. */
export const piiPatterns: readonly PiiPattern[] = [
  {
    kind: 'url',
    pattern:
      /(?<![A-Za-z0-9])(?:(?:https?|ftps?|sftp|wss?|ssh|git|s3|gs|file|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\/|www\.)[^\s<>"'`{}|\\^[\]]*[^\s<>"'`{}|\\^[\].,;:!?()*_~]/iu,
    mask: text => text.replace(/^((?:[a-z0-9+]+:\/\/)?).*$/isu, '$1***'),
  },
  {
    kind: 'email',
    pattern: new RegExp(
      `(?<![\\p{L}\\p{M}\\p{N}_])[\\p{L}\\p{N}_][\\p{L}\\p{M}\\p{N}_.%+~'-]{0,63}@` +
        `(?:${letterOrDigit}[\\p{L}\\p{M}\\p{N}-]{0,62}\\.){1,5}(?:xn--[a-z0-9-]{1,59}|[\\p{L}\\p{M}]{2,24})`,
      'u',
    ),
    mask: text => text.replace(/^(.).*@.*\.([^.]+)$/su, '$1***@***.$2'),
  },
  {
    kind: 'card',
    pattern: /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/,
    accept: isCard,
    mask: text => maskAll(text, 4),
  },
  {
    kind: 'iban',
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])/,
    accept: isIban,
    mask: text => maskAll(text, 4),
  },
  {
    kind: 'ip',
    pattern: new RegExp(`(?<![\\w.])${octet}(?:\\.${octet}){3}(?:\\.\\d+)*(?![\\w])`),
    accept: text => text.split('.').length === 4,
    longestOnly: true,
  },
  {
    kind: 'ip',
    pattern: new RegExp(
      `(?<![\\w:.])[\\dA-Fa-f]{0,4}(?::[\\dA-Fa-f]{0,4}){2,7}(?::${octet}(?:\\.${octet}){3})?(?![\\w:])`,
    ),
    accept: isIpv6,
  },
  {
    kind: 'phone',
    pattern: /(?<![\w+#])(?:\+\d{1,3}|00[1-9]\d{0,2})(?:[ ./-]{0,2}\(?\d{1,14}\)?){1,7}(?!\w)/,
    accept: text => isPhone(text, text.startsWith('+') ? 7 : 8, 15),
    mask: text => maskAll(text, 2),
  },
  {
    kind: 'phone',
    pattern:
      /(?<![\w.+-])(?:1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}(?: ?(?:x|ext\.?) ?\d{1,6})?(?![\w-])/,
    mask: text => maskAll(text, 2),
  },
  {
    kind: 'phone',
    pattern: /(?<![\w.+,#-])(?:\(?0\d{1,5}\)?(?:[ ./-]{1,3}\d{2,9}){1,5}|0[1-9]\d{8,9})(?!\w)/,
    accept: text => isPhone(text, 9, 13) && !/\d[./-]\d\d?[./-]\d{4}\b|^\d{5}-\d{4}$/.test(text),
    mask: text => maskAll(text, 2),
  },
]

/** Numbers of the great networks, with the lengths that they have, and a right check digit. */
function isCard(text: string): boolean {
  const groups = text.split(/[ -]/)
  if (groups.length > 1 && !groups.slice(0, -1).every(group => group.length >= 3 && group.length <= 7)) return false
  const digits = groups.join('')
  const { length } = digits
  const known =
    (digits.startsWith('4') && (length === 13 || length === 16 || length === 19)) ||
    (/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|6011|65|64[4-9]|35(?:2[89]|[3-8])|220[0-4]|9792)/.test(digits) &&
      length === 16) ||
    (/^3[47]/.test(digits) && length === 15) ||
    (/^3(?:0[0-59]|[689])/.test(digits) && (length === 14 || length === 16 || length === 19)) ||
    (/^(?:62|6011|64[4-9]|65|8[16])/.test(digits) && length >= 16) ||
    (/^(?:50[1238]|5[68]|6304|6362|67)/.test(digits) && length >= 12)
  return known && hasLuhnDigit(digits)
}

function hasLuhnDigit(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    sum += index % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit
  }
  return sum % 10 === 0 && /[1-9]/.test(digits)
}

/** Written in one piece or in groups of four, with right check digits (ISO 7064, mod 97-10). */
function isIban(text: string): boolean {
  const groups = text.split(/[ -]/)
  if (groups.length > 1 && !groups.every((group, index) => group.length === 4 || index === groups.length - 1))
    return false
  const compact = groups.join('')
  // Check digits are what is left to 98: 00, 01 and 99 are none, although the sum comes out for them.
  if (compact.length < 15 || /^..(?:00|01|99)/.test(compact)) return false
  const numbers = `${compact.slice(4)}${compact.slice(0, 4)}`.replace(/[A-Z]/g, letter =>
    String(letter.charCodeAt(0) - 55),
  )
  return BigInt(numbers) % 97n === 1n
}

/** The engine's own reader of addresses decides; what is shorter than two groups and more is rather code (`a::b`). */
function isIpv6(text: string): boolean {
  const groupCount = text.split(':').filter(group => group !== '').length
  return (groupCount >= 3 || /^::\d|^[\dA-Fa-f]{3,4}::|\./.test(text)) && URL.canParse(`http://[${text}]/`)
}

function isPhone(text: string, min: number, max: number): boolean {
  const count = text.replace(/\D/g, '').replace(/^00/, '').length
  const balanced = (text.match(/\(/g)?.length ?? 0) === (text.match(/\)/g)?.length ?? 0)
  return balanced && count >= min && count <= max
}
