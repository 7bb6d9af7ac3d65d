// Reads a regular expression as a tree. What the engine itself can tell (which characters a class has) is asked of it;
// only the structure is read here. The machine that runs the tree is pattern-machine.ts.
import { BuiltinError } from '../errors.ts'

/** A set of characters, and whether the edge of the text is in it. */
export interface CharacterSet {
  /** Two sets with the same key have the same members. */
  readonly key: string
  readonly has: (character: string) => boolean
  readonly edge: boolean
  /** It is everything but something: a character must be in it in all its forms. */
  readonly negated?: boolean
}

/** A regular expression as a tree. `before` and `after` look at the one character on that side of a position. */
export type PatternNode =
  | { readonly type: 'symbol' | 'before' | 'after'; readonly set: CharacterSet }
  | { readonly type: 'sequence' | 'choice'; readonly items: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly item: PatternNode; readonly min: number; readonly max: number }

/**
 * Reads a regular expression.
 *
 * Throws: `unsupported-pattern` for what no machine without memory can do (back references) and for lookaround over
 * more than one character.
 */
export function readPattern(pattern: RegExp): PatternNode {
  return new PatternReader(pattern).read()
}

const escapeOf = /\\(?:p\{[^}]*\}|P\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[^])/y
const surrogatePair = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/y
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
const groupOpening = /\((?:\?(?::|<(?![=!])[^>]*>))?/y
const lookOpening = /\(\?(<?)([=!])/y

class PatternReader {
  readonly #pattern: RegExp
  readonly #source: string
  readonly #flags: string
  #at = 0

  constructor(pattern: RegExp) {
    this.#pattern = pattern
    this.#source = pattern.source
    this.#flags = pattern.flags.replace(/[gydm]/g, '')
  }

  read(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw this.#unsupported(`'${this.#source.slice(this.#at)}'`)
    return node
  }

  #choice(): PatternNode {
    const items = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      items.push(this.#sequence())
    }
    return items.length === 1 ? items[0]! : { type: 'choice', items }
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = []
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')')
      items.push(this.#quantified(this.#term()))
    return items.length === 1 ? items[0]! : { type: 'sequence', items }
  }

  #quantified(item: PatternNode): PatternNode {
    const found = this.#take(quantifier)
    if (!found) return item
    const [, sign, from, comma, to] = found
    if (sign !== undefined) return { type: 'repeat', item, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    const min = Number(from)
    return { type: 'repeat', item, min, max: comma === undefined ? min : to === '' ? Infinity : Number(to) }
  }

  #term(): PatternNode {
    const first = this.#source[this.#at]!
    if (first === '(') return this.#group()
    if (first === '^' || first === '$') return this.#edge(first)
    if (first === '\\') return this.#escape()
    if (first === '[') return this.#symbol(this.#classSource())
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!)
    this.#at += character.length
    return this.#symbol(character)
  }

  #group(): PatternNode {
    const look = this.#take(lookOpening)
    const opening = look ?? this.#take(groupOpening)
    if (!look && this.#source[this.#at] === '?') throw this.#unsupported(`the group '${opening![0]}?'`)
    const body = this.#choice()
    this.#at++
    if (!look) return body
    const set = this.#onlySet(body)
    return {
      type: look[1] === '<' ? 'before' : 'after',
      set: look[2] === '=' ? set : negated(set),
    }
  }

  /** The one set of characters that the body of a lookaround stands for. */
  #onlySet(body: PatternNode): CharacterSet {
    const sets = (body.type === 'choice' ? body.items : [body]).map(item => {
      if (item.type === 'symbol' || item.type === 'before' || item.type === 'after') return item.set
      throw this.#unsupported('lookaround over more than one character')
    })
    return {
      key: sets.map(set => set.key).join('|'),
      has: character => sets.some(set => set.has(character)),
      edge: sets.some(set => set.edge),
    }
  }

  #edge(sign: string): PatternNode {
    this.#at++
    const lines = this.#pattern.multiline
    const set = { key: lines ? 'line edge' : 'edge', has: (one: string) => lines && /[\n\r\u2028\u2029]/.test(one) }
    return { type: sign === '^' ? 'before' : 'after', set: { ...set, edge: true } }
  }

  #escape(): PatternNode {
    const source = (this.#pattern.unicode && this.#take(surrogatePair)?.[0]) || this.#take(escapeOf)![0]
    if (source === '\\b' || source === '\\B') return this.#wordBoundary(source === '\\b')
    if (/^\\(?:[1-9]|k)/.test(source)) throw this.#unsupported(`the back reference '${source}'`)
    return this.#symbol(source)
  }

  #wordBoundary(isBoundary: boolean): PatternNode {
    const word = this.#setOf('\\w')
    const other = negated(word)
    const pair = (before: CharacterSet, after: CharacterSet): PatternNode => ({
      type: 'sequence',
      items: [
        { type: 'before', set: before },
        { type: 'after', set: after },
      ],
    })
    const items = isBoundary ? [pair(word, other), pair(other, word)] : [pair(word, word), pair(other, other)]
    return { type: 'choice', items }
  }

  #classSource(): string {
    const start = this.#at
    for (let depth = 0; this.#at < this.#source.length; this.#at++) {
      const character = this.#source[this.#at]
      if (character === '\\') this.#at++
      else if (character === '[' && (depth === 0 || this.#flags.includes('v'))) depth++
      else if (character === ']' && --depth === 0) break
    }
    return this.#source.slice(start, ++this.#at)
  }

  #symbol(source: string): PatternNode {
    return { type: 'symbol', set: this.#setOf(source) }
  }

  #setOf(source: string): CharacterSet {
    const whole = new RegExp(`^(?:${source})$`, this.#flags)
    const units = this.#pattern.unicode || this.#flags.includes('v') ? undefined : whole
    return {
      key: `${source}/${this.#flags}`,
      edge: false,
      // Without the flag `u` an expression reads an emoji as two characters: it has it when it has both halves.
      has: character =>
        whole.test(character) ||
        (character.length === 2 && units?.test(character[0]!) === true && units.test(character[1]!)),
    }
  }

  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found) this.#at = expression.lastIndex
    return found
  }

  #unsupported(what: string): BuiltinError {
    return new BuiltinError(
      'unsupported-pattern',
      `The pattern ${String(this.#pattern)} has ${what}, which cannot be matched while a text is still coming. ` +
        'Look at one character on each side at most, and check the rest in `accept`.',
    )
  }
}

function negated(set: CharacterSet): CharacterSet {
  return { key: `not ${set.key}`, has: character => !set.has(character), edge: !set.edge, negated: true }
}
