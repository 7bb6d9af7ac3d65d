// Characters that nobody sees: which of them belong to what is written, and which only carry something past the reader.

/** What a hidden character is. */
export type HiddenKind = 'tags' | 'variation-selectors' | 'bidi-controls' | 'zero-width'

const hidden = /\p{Default_Ignorable_Code_Point}/u

/** The longest run of them that means something is the flag of a country's part: six tags. */
export const maxMeaningfulCount = 8

/** Tells whether a code point is shown as nothing. */
export function isHidden(codePoint: number): boolean {
  return codePoint > 0xff ? hidden.test(String.fromCodePoint(codePoint)) : codePoint === 0xad
}

/** What a hidden character is for, when it is for something. */
export function hiddenKind(codePoint: number): HiddenKind {
  if (isVariationSelector(codePoint)) return 'variation-selectors'
  if (codePoint >= 0xe0000) return 'tags'
  return isBidiControl(codePoint) ? 'bidi-controls' : 'zero-width'
}

/** What stands around a run of hidden characters. */
export interface Surroundings {
  /** The visible character before it and the one after it, empty at the ends of the text. */
  readonly before: string
  readonly after: string
  /** Something in the line was written from right to left. */
  readonly rightToLeft: boolean
}

/** Gives what is to be kept of a run of hidden characters; all of them are one character apart at most. */
export function meaningOf(run: readonly number[], around: Surroundings): string {
  if (run.length > maxMeaningfulCount) return ''
  const selector = run.length > 0 && selects(around.before, run[0]!) ? run[0] : undefined
  const rest = selector === undefined ? run : run.slice(1)
  // A character has one variation: more selectors in a row are letters of another alphabet.
  if (rest.length > 0 && isVariationSelector(rest[0]!)) return meaningOf(withoutSelectors(run), around)
  const kept = selector === undefined ? '' : String.fromCodePoint(selector)
  const flag = around.before + String.fromCodePoint(...rest)
  if (around.before === blackFlag && subdivisionFlag.test(flag)) return flag.slice(blackFlag.length)
  return rest.length === 1 && belongs(rest[0]!, around) ? kept + String.fromCodePoint(rest[0]!) : kept
}

/** Tells whether a text is written from right to left. */
export function isRightToLeft(character: string): boolean {
  return rightToLeft.test(character)
}

const blackFlag = '\u{1f3f4}'
/** England, Scotland and Wales: the flags that Unicode recommends, and that are shown as flags. */
const subdivisionFlag =
  /^\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}$/u
const rightToLeft =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Mandaic}\p{Script=Samaritan}\p{Script=Hanifi_Rohingya}]/u

/** Scripts whose letters join, or form clusters, in more than one way. */
const joining =
  /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Common}\u0300-\u036f\p{Script=Cherokee}])[\p{L}\p{M}]/u
/** Scripts that write no space between words, and mark where a line may end. */
const spaceless =
  /[\p{Script=Khmer}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=Tai_Tham}]/u
const pictograph = /\p{Extended_Pictographic}|\p{Emoji_Modifier}/u
const emoji = /\p{Emoji}/u
const ideograph = /\p{Ideographic}/u
/** What has variations in Unicode's list of them, besides emoji and ideographs. */
const varied =
  /[\p{Sm}\p{Ideographic}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}\p{Script=Egyptian_Hieroglyphs}0\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]/u
const mongolian = /\p{Script=Mongolian}/u
const jamo = /[\u1100-\u11ff]/
const mark = /\p{M}/u

function isVariationSelector(codePoint: number): boolean {
  return (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef)
}

function withoutSelectors(run: readonly number[]): readonly number[] {
  return run.filter(codePoint => !isVariationSelector(codePoint))
}

function isBidiControl(codePoint: number): boolean {
  return (
    codePoint === 0x200e ||
    codePoint === 0x200f ||
    codePoint === 0x061c ||
    (codePoint >= 0x202a && codePoint <= 0x202e) ||
    (codePoint >= 0x2066 && codePoint <= 0x2069)
  )
}

/** Tells whether a character has the variation that a selector chooses. */
function selects(before: string, selector: number): boolean {
  if (selector === 0xfe0e || selector === 0xfe0f) return emoji.test(before)
  if (selector >= 0xe0100 && selector <= 0xe01ef) return ideograph.test(before)
  return selector >= 0xfe00 && selector <= 0xfe06 && varied.test(before)
}

/** Tells whether a hidden character is part of what is written here. */
function belongs(codePoint: number, { before, after, rightToLeft: inLine }: Surroundings): boolean {
  if (codePoint === 0x034f) return mark.test(after)
  // The marks of a letter are put in order later: which of them comes first says nothing.
  const next = mark.test(after) ? '' : after
  switch (codePoint) {
    case 0x200d:
      return (pictograph.test(before) && pictograph.test(next)) || joining.test(before) || joining.test(next)
    case 0x200c:
      return joining.test(before) || joining.test(next)
    case 0x200b:
      return spaceless.test(before) && spaceless.test(next)
    case 0x115f:
    case 0x1160:
      return jamo.test(before) || jamo.test(next)
    case 0x180b:
    case 0x180c:
    case 0x180d:
    case 0x180e:
    case 0x180f:
      return mongolian.test(before)
    default:
      // Overrides and embeddings show a text in another order than the one in which it is read.
      return (
        isBidiControl(codePoint) && !(codePoint >= 0x202a && codePoint <= 0x202e) && (inLine || isRightToLeft(next))
      )
  }
}
