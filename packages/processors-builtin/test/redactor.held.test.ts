import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactor } from '@lockstep/processors-builtin/redactor'
import { runCount, shownAfterEach } from './redactor-run.ts'

const atoms = fc.constantFrom('a', 'b', 'ab', '[ab]', '[^a]', '.', String.raw`\d`, String.raw`\w`, '1')
const sources = fc.letrec(tie => ({
  source: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    atoms,
    fc.tuple(tie('source'), tie('source')).map(([one, other]) => `${String(one)}${String(other)}`),
    fc.tuple(tie('source'), tie('source')).map(([one, other]) => `(?:${String(one)}|${String(other)})`),
    fc
      .tuple(tie('source'), fc.constantFrom('+', '?', '{2}', '{1,3}'))
      .map(([one, times]) => `(?:${String(one)})${times}`),
  ),
})).source as fc.Arbitrary<string>
const patterns = sources.filter(source => !new RegExp(`^(?:${source})$`).test(''))
const texts = fc.array(fc.constantFrom('a', 'b', '1', ' '), { maxLength: 8 }).map(letters => letters.join(''))

/** All texts of these letters, the shorter ones first. */
function* continuations(): Generator<string> {
  let longest = ['']
  for (let length = 1; length <= 7; length++) {
    longest = longest.flatMap(text => ['a', 'b', '1'].map(letter => text + letter))
    yield* longest
  }
}

/** Tells whether the engine finds a match at the start of the held text that takes in more than all of it. */
function mayStillMatch(sourcesOf: readonly string[], held: string): boolean {
  const longer = sourcesOf.map(source => new RegExp(`^(?:${source})(?<=^[^]{${held.length + 1},})`))
  for (const more of continuations()) if (longer.some(pattern => pattern.test(held + more))) return true
  return false
}

describe('what is held', () => {
  it('is what may still become a match, from its first character on, and nothing before it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(patterns, { minLength: 1, maxLength: 2 }), texts, async (sourcesOf, text) => {
        const own = sourcesOf.map((source, index) => ({
          kind: `p${index}`,
          pattern: new RegExp(source),
          strategy: 'mask' as const,
          mask: (match: string) => '#'.repeat(match.length),
        }))
        const shown = await shownAfterEach(redactor({ kinds: [], patterns: own }), text.split(''))
        for (let read = 1; read <= text.length; read++) {
          const out = shown[read - 1]!
          if (out.length === read) continue
          // Right behind a match, what is held may have begun inside of it.
          const behind = /[#* ]*$/.exec(out)![0].length
          const starts = Array.from({ length: behind + 1 }, (_, index) => out.length - index)
          expect(starts.some(start => mayStillMatch(sourcesOf, text.slice(start, read)))).toBe(true)
        }
      }),
      { numRuns: runCount(300) },
    )
  })
})
