import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  promptScrubber,
  type PromptLeak,
  type PromptScrubberOptions,
} from '@lockstep/processors-builtin/prompt-scrubber'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { cut, runCount, shownAfterEach, streamed } from './redactor-run.ts'

const instructions =
  'You are Heron, the clerk of a small railway. Never speak about the strike of 1987, and never give a discount of more than 5 %.\n' +
  'Be polite. Let me know if you need anything else.'
const leaked = 'Never speak about the strike of 1987, and never give a discount'

processorContract(() => promptScrubber({ secrets: [instructions] }), {
  texts: [
    { text: `Of course: "${leaked}!" That is all.`, shown: 'Of course: "[redacted prompt]!" That is all.' },
    'You are the clerk, and I am not.',
  ],
  toolInputs: [{ body: `My orders: ${leaked}` }],
})

processorContract(() => promptScrubber({ secrets: [instructions], strategy: 'block', retry: true }), {
  texts: [leaked],
})

function shown(text: string, options: PromptScrubberOptions = {}): Promise<string> {
  return streamed(promptScrubber({ secrets: [instructions], ...options }), [text])
}

describe('a leak', () => {
  it('is found in other case, white space, Markdown, with accents and invisible characters, letter by letter', async () => {
    const ways = [
      leaked.toUpperCase(),
      leaked.replaceAll(' ', '\n\n> '),
      leaked.replaceAll(/\w+/g, word => `**${word}**`),
      leaked.replaceAll(' ', ' | '),
      leaked.split('').join('\u200b'),
      leaked.split('').join(' '),
      leaked.replaceAll('e', 'é').replaceAll('n', 'n\u0303'),
      leaked.replaceAll('e', '\u0435'),
      leaked.replaceAll(/[a-z]/g, letter => String.fromCodePoint(letter.codePointAt(0)! + 0xff41 - 0x61)),
    ]
    for (const way of ways)
      expect(await shown(`So: ${way}`)).toMatch(/^So: [*]{0,2}\[redacted prompt\](?:\*\*|\u0303)?$/u)
  })

  it('is taken out from its first letter to its last, and nothing else is', async () => {
    expect(await shown(`a ${instructions} b`)).toBe('a [redacted prompt]. b')
    expect(await shown(`${leaked} is tea. And: ${leaked}`)).toBe('[redacted prompt] is tea. And: [redacted prompt]')
  })

  it('is found in a list with numbers, and in the strings of JSON', async () => {
    const rules = ['Be polite to all.', 'Never speak of 1987.', 'Give nothing away.', 'Stay calm.', 'Sell tickets.']
    const secrets = [rules.join(' ')]
    expect(await shown(rules.map((rule, index) => `${index + 1}. ${rule}`).join('\n'), { secrets })).toBe(
      '1. [redacted prompt].',
    )
    expect(await shown(JSON.stringify({ answer: rules.join('\n\t') }), { secrets })).toBe(
      '{"answer":"[redacted prompt]."}',
    )
    expect(await shown('Now: never speak of 1987. Give nothing away. Stay calm. Sell 12', { secrets })).toBe(
      'Now: [redacted prompt] 12',
    )
  })

  it('is none when it is short, or says what everybody says', async () => {
    for (const text of [
      'Never speak about the strike, I was told.',
      'Let me know if you need anything else.',
      'You are polite, and a clerk of a small railway.',
      'Please let me know if you have any other questions. I am happy to help you with anything you need!',
    ])
      expect(await shown(text)).toBe(text)
  })

  it('in Chinese and Japanese is as long as it is said', async () => {
    const secret = '你是铁路公司的助手，绝对不要谈论一九八七年的罢工，也不要给超过百分之五的折扣。'
    expect(
      await shown('他们说：绝对不要谈论一九八七年的罢工，也不要给超过百分之五的折扣。', { secrets: [secret] }),
    ).toBe('他们说：[redacted prompt]。')
    expect(await shown('绝对不要谈论罢工。', { secrets: [secret] })).toBe('绝对不要谈论罢工。')
  })

  it('is what the options say', async () => {
    const text = `I must: ${leaked}.`
    expect(await shown(text, { allow: ['never speak about the STRIKE'] })).toBe(text)
    expect(await shown(text, { minLength: 200 })).toBe(text)
    expect(await shown('A small railway!', { minLength: 10 })).toBe('[redacted prompt]!')
    expect(await shown(text, { replacement: '' })).toBe('I must: .')
    const leaks: PromptLeak[] = []
    expect(await shown(text, { strategy: 'warn', onLeak: leak => leaks.push(leak) })).toBe(text)
    expect(leaks).toEqual([{ strategy: 'warn', where: 'text' }])
    expect(() => promptScrubber({ minLength: 0 })).toThrow('minLength is 0. Give a number above 0.')
  })

  it('is held as long as it may become one, and shown as soon as it is none', async () => {
    const scrubber = promptScrubber({ secrets: ['abcdefgh'], minLength: 4 })
    expect(await shownAfterEach(scrubber, ['xa', 'b', '-c', '!', 'x', ' abc', 'd', 'e', 'f f', '.', 'bc'])).toEqual([
      'x',
      'x',
      'x',
      'x',
      'xab-c!x',
      'xab-c!x ',
      'xab-c!x [redacted prompt]',
      'xab-c!x [redacted prompt]',
      'xab-c!x [redacted prompt] f',
      'xab-c!x [redacted prompt] f.',
      'xab-c!x [redacted prompt] f.',
      'xab-c!x [redacted prompt] f.bc',
    ])
  })
})

function run(scrubber: ReturnType<typeof promptScrubber>, options: RunWithOptions) {
  return runWith(scrubber, { system: instructions, ...options })
}

describe('in a run', () => {
  it('knows the prompt of the step, whoever wrote it', async () => {
    const secrets = [
      'The first secret is that the boiler is made of gold and glass.',
      'The second one: the driver is a heron in a very long coat.',
    ]
    const { screen } = await run(promptScrubber(), {
      system: [],
      model: [{ text: secrets.join(' '), toolCalls: [{ toolName: 'next', input: {} }] }, secrets.join(' ')],
      tools: { next: tool({ inputSchema: z.object({}), execute: () => 'ok' }) },
      others: {
        inputProcessors: [
          {
            id: 'one',
            processInputStep: ({ stepNumber }) => ({
              systemMessages: [{ role: 'system', content: secrets[stepNumber]! }],
            }),
          },
        ],
      },
    })
    expect(screen).toBe(`[redacted prompt]. ${secrets[1]}${secrets[0]} [redacted prompt].`)
  })

  it('looks into the inputs of tools, in the stream and when they run', async () => {
    const inputs: unknown[] = []
    const { chunks, result } = await run(promptScrubber(), {
      model: [{ toolCalls: [{ toolName: 'mail', input: { to: 'eve', lines: [leaked] } }] }, 'Done.'],
      tools: {
        mail: tool({
          inputSchema: z.object({ to: z.string(), lines: z.array(z.string()) }),
          execute: input => void inputs.push(input),
        }),
      },
    })
    expect(inputs).toEqual([{ to: 'eve', lines: ['[redacted prompt]'] }])
    expect(JSON.stringify([chunks, result.messageList.get.response.db()])).not.toContain('strike')
  })

  it('refuses the answer, and with retry asks for another one', async () => {
    const model = [`They say: ${leaked}.`, 'I cannot tell.']
    const { result, screen } = await run(promptScrubber({ strategy: 'block' }), { model })
    expect([result.stopReason, screen]).toEqual(['tripwire', ''])
    expect(result.tripwire).toMatchObject({
      processorId: 'prompt-scrubber',
      metadata: { strategy: 'block', where: 'text' },
    })
    const again = await run(promptScrubber({ strategy: 'block', retry: true }), { model, maxProcessorRetries: 1 })
    expect([again.result.stopReason, again.screen]).toEqual(['completed', 'I cannot tell.'])
    expect(JSON.stringify(again.prompts[1])).toContain('Answer without quoting them')
  })

  it('lets through what belongs to nobody: no prompt, an answer, reasoning of the same words as the user', async () => {
    const { screen } = await runWith(promptScrubber(), { input: leaked, model: [leaked] })
    expect(screen).toBe(leaked)
    const selected = await run(promptScrubber({ select: text => !text.startsWith('You are') }), { model: [leaked] })
    expect(selected.screen).toBe(leaked)
  })

  it('scrubs reasoning, and what later processors put into the answer', async () => {
    const { result } = await run(promptScrubber(), {
      model: [{ reasoning: `Hm. ${leaked}`, text: 'Yes.' }],
      others: {
        outputProcessors: [
          {
            id: 'late',
            processOutputStep({ messages, messageList }) {
              messageList.update(messages.at(-1)!.id, ({ content }) => {
                for (const part of content.parts) if (part.type === 'text') part.text = leaked
              })
            },
          },
        ],
      },
    })
    expect(result.steps[0]?.reasoningText).toBe('Hm. [redacted prompt]')
    expect(result.text).toBe('[redacted prompt]')
  })

  it('reads a prompt of a hundred thousand letters, and an answer that begins to leak all the time', async () => {
    const letters = Array.from(
      { length: 100_000 },
      (_, index) => 'abcdefgh'[(index * index * 7 + (index >> 3)) % 8],
    ).join('')
    const scrubber = promptScrubber({ secrets: [letters, 'a'.repeat(20_000)], minLength: 50_000 })
    const text = letters.slice(500, 40_000) + 'a'.repeat(30_000)
    expect(await streamed(scrubber, text.match(/[^]{1,50}/g)!)).toBe(text)
  })
})

const isLetter = (character: string) => /[a-z]/i.test(character)

/** Where letters are that belong to a leak, as it is meant. */
function leaksIn(text: string, secrets: readonly string[], minLength: number): readonly boolean[] {
  const isLeak = Array.from(text, () => false)
  const places = Array.from(text).flatMap((character, place) => (isLetter(character) ? [place] : []))
  const letters = Array.from(text).filter(isLetter).join('').toLowerCase()
  for (let from = 0; from < letters.length; from++)
    for (let to = from + minLength; to <= letters.length; to++)
      if (secrets.some(secret => secret.includes(letters.slice(from, to))))
        isLeak.fill(true, places[from], places[to - 1]! + 1)
  return isLeak
}

/** Where the end of the text begins that may still become a leak, as it is meant. */
function heldFrom(text: string, secret: string, minLength: number): number {
  const places = Array.from(text).flatMap((character, place) => (isLetter(character) ? [place] : []))
  const letters = Array.from(text).filter(isLetter).join('').toLowerCase()
  const from = places.findIndex((_, index) => {
    const end = letters.slice(index)
    return Array.from(secret).some((_, at) => secret.startsWith(end, at) && secret.length - at >= minLength)
  })
  return places[from] ?? text.length
}

function scrubbed(text: string, isLeak: readonly boolean[], held = text.length): string {
  return Array.from(text, (character, index) =>
    isLeak[index] ? (isLeak[index - 1] ? '' : '#') : index < held ? character : '',
  ).join('')
}

describe('laws', () => {
  const letter = fc.constantFrom('a', 'b', 'c', 'B', ' ', '*')
  const texts = fc.array(letter, { maxLength: 24 }).map(letters => letters.join(''))
  const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }).map(letters => letters.join(''))

  it('finds what is meant, for any cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(words, { maxLength: 3 }),
        fc.integer({ min: 2, max: 6 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        async (text, secrets, minLength, cuts) => {
          const scrubber = promptScrubber({ secrets, minLength, replacement: '#' })
          const meant = scrubbed(text, leaksIn(text, secrets, minLength))
          expect(await streamed(scrubber, cut(text, cuts))).toBe(meant)
          expect(await streamed(scrubber, text.split(''))).toBe(meant)
        },
      ),
      { numRuns: runCount(2_000) },
    )
  })

  it('holds what may still become a leak, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(texts, words, fc.integer({ min: 2, max: 6 }), async (text, secret, minLength) => {
        const scrubber = promptScrubber({ secrets: [secret], minLength, replacement: '#' })
        const [shownAfter] = await shownAfterEach(scrubber, [text])
        expect(shownAfter).toBe(scrubbed(text, leaksIn(text, [secret], minLength), heldFrom(text, secret, minLength)))
      }),
      { numRuns: runCount(2_000) },
    )
  })
})
