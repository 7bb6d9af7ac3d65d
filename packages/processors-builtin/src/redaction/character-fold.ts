// What a character stands for: `４` is a 4, Cyrillic `а` looks like an a, a zero-width space is nothing.

/** The code point of a character that is not there for a reader: patterns look through it. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

const decimalDigit = /\p{Nd}/u

/** Letters of other alphabets that look like a Latin one, after Unicode's table of confusables (UTS 39). */
const lookalikes: ReadonlyMap<string, string> = new Map(
  (
    'АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX ҮY аa ԁd еe һh іi јj ӏl оo рp ԛq ѕs ԝw хx уy сc ' +
    'ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX οo ρp νv αa ιi ' +
    '‐- ‑- ‒- –- −- ﹣- 。. ․. ․. ﹒. ﹫@ ∶: ː: ⁄/ ∕/'
  )
    .split(' ')
    .map(pair => [pair[0]!, pair[1]!]),
)

/** Tells whether a code point is shown as nothing. */
export function isInvisible(codePoint: number): boolean {
  return codePoint > 0x7f && invisible.test(String.fromCodePoint(codePoint))
}

/** The ASCII character that a code point stands for, or the code point itself. */
export function foldCharacter(codePoint: number): number {
  if (codePoint <= 0x7f) return codePoint
  const character = String.fromCodePoint(codePoint)
  const lookalike = lookalikes.get(character)
  if (lookalike !== undefined) return lookalike.charCodeAt(0)
  if (decimalDigit.test(character)) return 0x30 + digitValue(codePoint)
  const compatible = character.normalize('NFKC')
  return compatible.length === 1 && compatible.charCodeAt(0) <= 0x7f ? compatible.charCodeAt(0) : codePoint
}

/** The text as a check reads it: invisible characters left out, the others folded. */
export function foldText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  let folded = ''
  for (const character of text) {
    const codePoint = character.codePointAt(0)!
    if (!isInvisible(codePoint)) folded += String.fromCodePoint(foldCharacter(codePoint))
  }
  return folded
}

/** Decimal digits stand in runs of ten; the value is the distance from the run's start. */
function digitValue(codePoint: number): number {
  let value = 0
  while (value < 9 && decimalDigit.test(String.fromCodePoint(codePoint - value - 1))) value++
  return value
}
