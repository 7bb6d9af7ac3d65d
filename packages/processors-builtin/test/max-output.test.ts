import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { maxOutput, type MaxOutputOptions, type OutputLimit } from '@lockstep/processors-builtin/max-output'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { cut, runCount, shownAfterEach, streamed } from './redactor-run.ts'

processorContract(() => maxOutput({ characters: 60 }), {
  texts: [
    {
      text: 'The first sentence is short. The second one goes on and on until nobody listens.',
      shown: 'The first sentence is short. …',
    },
    { text: 'word '.repeat(40), shown: `${'word '.repeat(12)}…` },
  ],
  skip: [
    { law: 'blocks-apart', reason: 'the limit is for all blocks together, in the order in which they come' },
    { law: 'tail-at-finish', reason: 'what is behind the limit is not shown' },
    { law: 'tail-at-abort', reason: 'what is behind the limit is not shown' },
  ],
})

processorContract(() => maxOutput({ tokens: 40, strategy: 'block', retry: true }), {
  texts: ['word '.repeat(80)],
})

function shown(text: string, options: MaxOutputOptions): Promise<string> {
  return streamed(maxOutput(options), [text])
}

describe('an answer that is too long', () => {
  it('ends after a sentence, a word or a character', async () => {
    expect(await shown('One two. Three four five six.', { words: 5 })).toBe('One two. …')
    expect(await shown('One two three four five six.', { words: 5 })).toBe('One two three four five …')
    expect(await shown('abcdefghij', { characters: 5 })).toBe('abcde…')
    expect(await shown('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', { characters: 15 })).toBe('👩‍👩‍👧‍👦…')
    expect(await shown('e\u0301e\u0301e\u0301', { characters: 3 })).toBe('e\u0301…')
    expect(await shown('你好。我是火车司机，中午出发。', { characters: 10 })).toBe('你好。…')
    expect(await shown('one two three', { tokens: 2, countTokens: () => 1 })).toBe('one two …')
    expect(await shown('one two three', { words: 2, notice: '[cut]' })).toBe('one two [cut]')
  })

  it('is none when it is as long as it may be', async () => {
    for (const text of ['One two. Three four five.', ' a b\n\nc d e ', '你好我是谁', ''])
      expect(await shown(text, { words: 5 })).toBe(text)
    expect(await shown('abcde', { characters: 5 })).toBe('abcde')
  })

  it('passes at once until the limit is near', async () => {
    const far = 'x'.repeat(50)
    expect(await shownAfterEach(maxOutput({ characters: 300 }), [far, ' y', 'z ', 'more. And', ' more'])).toEqual([
      far,
      `${far} y`,
      `${far} yz `,
      `${far} yz more. `,
      `${far} yz more. `,
      `${far} yz more. And more`,
    ])
  })

  it('is refused when the options say so, and the limit has to be one', async () => {
    const limits: OutputLimit[] = []
    const blocked = await runWith(maxOutput({ words: 3, strategy: 'block', onLimit: limit => limits.push(limit) }), {
      model: ['One two three four.'],
    })
    expect([blocked.result.stopReason, blocked.screen, limits]).toEqual(['tripwire', '', [{ unit: 'words', limit: 3 }]])
    for (const options of [{}, { words: 0 }, { words: 1, tokens: 1 }])
      expect(() => maxOutput(options)).toThrow('Give one of characters, words and tokens, above 0.')
  })
})

describe('in a run', () => {
  const call = { toolName: 'look', input: {} }
  const tools = { look: tool({ inputSchema: z.object({}), execute: () => 'seen' }) }
  const model = [
    { text: 'One two three. ', toolCalls: [call] },
    { text: 'Four five six.', toolCalls: [call] },
    'Seven.',
  ]

  it('counts the text of all steps, and goes on without it', async () => {
    const { result, chunks } = await runWith(maxOutput({ words: 4 }), { model, tools })
    expect(result.steps.map(({ text }) => text)).toEqual(['One two three. ', 'Four …', ''])
    const reasons = chunks.flatMap(chunk => (chunk.type === 'step-finish' ? [chunk.payload.finishReason] : []))
    expect(reasons).toEqual(['tool-calls', 'length', 'length'])
  })

  it('ends with the step when it is told to', async () => {
    const { result } = await runWith(maxOutput({ words: 4, strategy: 'end' }), { model, tools })
    expect(result.steps.map(({ text, toolCalls }) => [text, toolCalls.length])).toEqual([
      ['One two three. ', 1],
      ['Four …', 0],
    ])
    expect(result.stopReason).toBe('completed')
  })
})

describe('laws', () => {
  const bits = fc.constantFrom(
    'a',
    'bc',
    ' ',
    '. ',
    '.',
    '\n',
    '!',
    '你',
    '。',
    '😀',
    '👩‍👩‍👧‍👦',
    'e\u0301',
    'wordword',
    '\ud83d',
  )
  const texts = fc.array(bits, { maxLength: 40 }).map(parts => parts.join(''))
  const limits = fc
    .tuple(fc.constantFrom('characters', 'words', 'tokens'), fc.integer({ min: 1, max: 40 }))
    .map(([unit, limit]): MaxOutputOptions => ({ [unit]: limit }))

  it('gives the same text for any cut, and no more than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(texts, limits, fc.array(fc.nat(), { maxLength: 8 }), async (text, options, cuts) => {
        const capped = maxOutput({ ...options, notice: '' })
        const whole = await streamed(capped, [text])
        expect(await streamed(capped, cut(text, cuts))).toBe(whole)
        expect(await streamed(capped, text.split(''))).toBe(whole)
        expect(text.startsWith(whole)).toBe(true)
        expect(whole.length).toBeLessThanOrEqual(options.characters ?? Infinity)
        const segments = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)]
        expect([0, ...segments.map(({ index, segment }) => index + segment.length)]).toContain(whole.length)
      }),
      { numRuns: runCount(2_000) },
    )
  })

  it('reads long texts without words in linear time', async () => {
    for (const unit of ['a', ' ', '你', '\n', '.', '\u0301']) {
      const pieces = Array.from({ length: 50_000 }, () => unit)
      expect((await streamed(maxOutput({ characters: 40_000 }), pieces)).length).toBeLessThanOrEqual(40_001)
    }
  })
})
