import { MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BuiltinError } from '@lockstep/processors-builtin'
import { redactor, type CustomPattern } from '@lockstep/processors-builtin/redactor'
import { cut, delta, inputDelta, pass, position, runCount, runOf, streamed, textOf } from './redactor-run.ts'
import { samples } from './samples.ts'

const onlyOwn = (patterns: readonly CustomPattern[], maxLength?: number) =>
  redactor({ kinds: [], patterns, replacement: kind => `{${kind}}`, ...(maxLength === undefined ? {} : { maxLength }) })

const model = new MockLanguageModelV4()
const places = fc.array(fc.nat(), { maxLength: 8 })

const stumbles = [
  [' ', ' ', '\n', ', ', '. ', '-', '@', ':', '/', '(', ')', '<', '>', '"', '\\', '+', '0', '4', 'a', 'Z', '_'],
  ['hello', 'the key is ', '😀', '\ud83d', '\ude00', '\u200b', '\u200d', '\u202e', 'é', 'e\u0301', 'ال', 'שלום'],
  ['４', '٤', 'а', '。', '\u00ad', '\ufeff', '-----BEGIN ', 'sk-', 'www.', 'https://', 'AKIA', 'DE89'],
].flat()

/** Texts made of samples, of pieces of samples, and of what patterns stumble over. */
const texts = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...samples.map(sample => sample.text)) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom(...samples.map(sample => sample.text)), fc.nat(), fc.nat())
          .map(([text, one, other]) => text.slice(one % text.length, (one % text.length) + 1 + (other % text.length))),
      },
      {
        weight: 5,
        arbitrary: fc.constantFrom(...stumbles),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    ),
    { maxLength: 9 },
  )
  .map(parts => parts.join(''))

describe('the redactor, for any text', () => {
  it('gives the same text for any cut, and never takes back what it has shown', async () => {
    const processor = redactor({ kinds: { url: 'redact' } })
    await fc.assert(
      fc.asyncProperty(texts, places, async (text, cuts) => {
        const whole = await streamed(processor, [text])
        expect(await streamed(processor, cut(text, cuts))).toBe(whole)
        expect(await streamed(processor, text.split(''))).toBe(whole)
      }),
      { numRuns: runCount(1_000) },
    )
  })

  it('gives the same text for any cut when matches are longer than what it may hold', async () => {
    const processor = redactor({ kinds: { url: 'redact' }, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(texts, places, async (text, cuts) => {
        const whole = await streamed(processor, [text])
        expect(await streamed(processor, cut(text, cuts))).toBe(whole)
        expect(await streamed(processor, text.split(''))).toBe(whole)
      }),
      { numRuns: runCount(500) },
    )
  })

  it('cuts a long match at the same places for any cut, also where several begin', async () => {
    const processor = redactor({ kinds: { url: 'redact' }, maxLength: 40 })
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'
    const text = `www.www.example.org/path\u{d83d}\u200b\u{1b33a}2001:db8:85a3::8a2e:370:7334${jwt}the key`
    expect(await streamed(processor, text.split(''))).toBe(await streamed(processor, [text]))
  })

  it('gives every value of a token back', async () => {
    const processor = redactor({ strategy: 'tokenize', kinds: { url: 'tokenize' } })
    await fc.assert(
      fc.asyncProperty(texts, places, async (text, cuts) => {
        const run = runOf(processor)
        const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]
        const request = await run.runner.runProcessLLMRequest({ position, prompt, settings: { model } })
        let shown = ''
        for (const piece of cut(textOfPrompt(request.prompt), cuts)) shown += textOf(await pass(run, delta(piece)))
        expect(shown + textOf(await run.chain.flush('block-end', 't'))).toBe(text)
      }),
      { numRuns: runCount(500) },
    )
  })

  it('redacts the JSON of a tool call in pieces as it redacts the value', async () => {
    const processor = redactor({ kinds: { url: 'redact' } })
    const values = fc.letrec(tie => ({
      value: fc.oneof(
        { maxDepth: 3 },
        texts,
        fc.constantFrom(true, null, 1.5, -2, 4111111111111111, 12345678901),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'to'), tie('value'), { maxKeys: 3 }),
      ),
    })).value
    await fc.assert(
      fc.asyncProperty(values, places, fc.boolean(), async (value, cuts, escaped) => {
        const json = JSON.stringify(value, null, escaped ? 1 : 0)
        const written = escaped ? json.replace(/[^\n\r -~]/g, unit => escapeOf(unit)).replaceAll('@', '\\u0040') : json
        const run = runOf(processor)
        let shown = ''
        for (const piece of cut(written, cuts)) shown += textOf(await pass(run, inputDelta(piece)))
        shown += textOf(await pass(run, { type: 'tool-input-end', runId: 'run', from: 'AGENT', payload: { id: 'c' } }))
        const [call] = await pass(run, {
          type: 'tool-call',
          runId: 'run',
          from: 'AGENT',
          payload: { toolCallId: 'c', toolName: 'send', input: JSON.parse(json) as unknown },
        })
        expect(JSON.parse(shown)).toEqual((call as { payload: { input: unknown } }).payload.input)
      }),
      { numRuns: runCount(500) },
    )
  })
})

describe('a pattern of your own', () => {
  it('matches what the engine says it matches, at every start, the longest first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(patterns, { minLength: 1, maxLength: 3 }),
        letters,
        places,
        async (given, text, cuts) => {
          const own = given.map((pattern, index) => ({ ...pattern, kind: `p${index}` }))
          expect(await streamed(onlyOwn(own), cut(text, cuts))).toBe(redactedByEngine(text, own))
        },
      ),
      { numRuns: runCount(2_000) },
    )
  })

  it('gives the same text for any cut, however little may be held, and shows all that no pattern matches', async () => {
    const given = fc.array(patterns, { minLength: 1, maxLength: 3 })
    const text = fc.array(letters, { maxLength: 3 }).map(parts => parts.join('\u200b'))
    await fc.assert(
      fc.asyncProperty(
        given,
        text,
        places,
        fc.integer({ min: 1, max: 9 }),
        async (patternsOf, whole, cuts, maxLength) => {
          const own = patternsOf.map((pattern, index) => ({ ...pattern, kind: `p${index}`, strategy: 'mask' as const }))
          const mask = { mask: (match: string) => `{${match}}` }
          const processor = onlyOwn(
            own.map(pattern => ({ ...pattern, ...mask })),
            maxLength,
          )
          const shown = await streamed(processor, [whole])
          expect(await streamed(processor, cut(whole, cuts))).toBe(shown)
          expect(await streamed(processor, whole.split(''))).toBe(shown)
          expect(shown.replace(/\{([^}]*)\}|\*/g, (found, match?: string) => match ?? found).length).toBe(whole.length)
        },
      ),
      { numRuns: runCount(2_000) },
    )
  })

  it('is held in pieces of a length, and all that it matches is replaced', async () => {
    const processor = onlyOwn([{ kind: 'run', pattern: /ab*c|x{3,}/ }], 5)
    expect(await streamed(processor, 'axxxxxxxxxxxxz abbc abbbbbbc'.split(''))).toBe('a{run}{run}{run}z {run} abbbbbbc')
  })

  it('is held in pieces of a length also when it is checked, and is checked once', async () => {
    const checked: string[] = []
    const accept = (text: string) => checked.push(text) > 0 && text.length > 4
    const processor = onlyOwn([{ kind: 'run', pattern: /(?<!x)x{3,}/, accept }], 5)
    expect(await streamed(processor, 'axxxxxxxxxxxxz xxx'.split(''))).toBe('a{run}{run}{run}z xxx')
    expect(checked).toEqual(['xxxxx', 'xxx'])
  })

  it('begins again where it may, when a match that has begun before grows too long', async () => {
    const processor = onlyOwn([{ kind: 'pair', pattern: /a[^b]*b/ }], 6)
    expect(await streamed(processor, ['axxxaxxaxxxaxb b'])).toBe('axxxaxxaxxx{pair} b')
    expect(await streamed(processor, 'axxxaxxaxxxaxb b'.split(''))).toBe('axxxaxxaxxx{pair} b')
  })

  it('keeps a short match while a longer one, that began before it, comes to nothing', async () => {
    const processor = onlyOwn([
      { kind: 'short', pattern: /(?<=b)cd/ },
      { kind: 'long', pattern: /[a-z]+!/ },
    ])
    expect(await streamed(processor, 'abcdefg abcdefg!'.split(''))).toBe('ab{short}efg {long}')
  })

  it.each([
    [/(a)\1/, 'has the back reference'],
    [/a(?=bc)/, 'has lookaround over more than one character'],
    [/(?:a{1,999}){1,999}/, 'counts too far'],
    [/a*/, 'matches the empty text'],
    [/(?i:a)/, 'has the group'],
  ])('is refused when no stream can be matched with it: %s', (pattern, message) => {
    expect(() => onlyOwn([{ kind: 'own', pattern }])).toThrow(message)
    expect(() => onlyOwn([{ kind: 'own', pattern }])).toThrow(BuiltinError)
  })
})

const atoms = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', '[ab]', '[^a]', '.', String.raw`\d`, String.raw`\w`, '1') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...String.raw`\b \B (?<!a) (?=b) (?![a1]) (?<=b) (?:^|(?<=b)) (?=a|$)`.split(' ')),
  },
)
const sources = fc.letrec(tie => ({
  source: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    atoms,
    fc.tuple(tie('source'), tie('source')).map(([one, other]) => `${String(one)}${String(other)}`),
    fc.tuple(tie('source'), tie('source')).map(([one, other]) => `(?:${String(one)}|${String(other)})`),
    fc
      .tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}'))
      .map(([one, times]) => `(?:${String(one)})${times}`),
  ),
})).source as fc.Arbitrary<string>
const patterns = fc.record({
  pattern: sources.map(source => new RegExp(source)).filter(pattern => !canBeEmpty(pattern)),
  accept: fc.constantFrom(
    undefined,
    (text: string) => text.length % 2 === 0,
    (text: string) => !text.includes('b'),
  ),
  longestOnly: fc.boolean(),
})
const letters = fc.array(fc.constantFrom('a', 'b', '1', ' ', '@'), { maxLength: 12 }).map(all => all.join(''))

/** The rule of the scanner, asked of the engine for every start and every end. */
function redactedByEngine(text: string, given: readonly CustomPattern[]): string {
  let out = ''
  let cursor = 0
  for (let start = 0; start < text.length; start++) {
    const best = given
      .map(({ kind, ...pattern }) => ({ kind, end: longestEnd(text, start, pattern) }))
      .reduce((one, other) => (other.end > one.end ? other : one))
    if (best.end <= Math.max(cursor, start)) continue
    const from = Math.max(start, cursor)
    out += `${text.slice(cursor, from)}{${best.kind}}`
    cursor = best.end
  }
  return out + text.slice(cursor)
}

function longestEnd(
  text: string,
  start: number,
  { pattern, accept, longestOnly }: Omit<CustomPattern, 'kind'>,
): number {
  for (let end = text.length; end > start; end--) {
    const around = new RegExp(`(?<=^[^]{${start}})(?:${pattern.source})(?=[^]{${text.length - end}}$)`)
    if (!around.test(text)) continue
    if (!accept || accept(text.slice(start, end), text.slice(start, end), start)) return end
    if (longestOnly) return -1
  }
  return -1
}

function canBeEmpty(pattern: RegExp): boolean {
  try {
    onlyOwn([{ kind: 'own', pattern }])
    return false
  } catch {
    return true
  }
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function textOfPrompt(prompt: readonly { readonly content: unknown }[]): string {
  return (prompt[0]!.content as readonly [{ readonly text: string }])[0].text
}
