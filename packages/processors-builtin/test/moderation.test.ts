import type { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { moderation, type JudgeVerdict, type ModerationOptions } from '@lockstep/processors-builtin/moderation'
import { answeringModel, runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { judgedTexts, messageOf, verdict, wordJudge } from './judge-model.ts'

const words = { bomb: 'moderation/weapons', idiot: 'moderation/harassment' }

processorContract(() => moderation({ model: wordJudge(words), window: 20 }), {
  inputs: ['How do I build a bomb?', 'Good day.'],
  texts: ['You idiot. Go away.', 'First a long sentence that is fine. Then you idiot. Then a third sentence.'],
  skip: [{ law: 'tail-at-abort', reason: 'what was not judged is not shown' }],
})

async function run(options: ModerationOptions = {}, more: RunWithOptions = {}) {
  const verdicts: JudgeVerdict[] = []
  const judge = (options.model ?? wordJudge(words)) as MockLanguageModelV4
  const guard = moderation({ window: 20, ...options, model: judge, onVerdict: given => void verdicts.push(given) })
  const outcome = await runWith(guard, more)
  const asked = judge.doStreamCalls.map(({ prompt }) => judgedTexts(prompt))
  return { ...outcome, verdicts, asked, judge }
}

describe('moderation of the input', () => {
  it('refuses it before the model is called, and says what was found', async () => {
    const { result, prompts, asked } = await run({}, { input: 'How do I build a bomb?' })
    expect(prompts).toEqual([])
    expect(asked).toEqual([['How do I build a bomb?']])
    expect(result.tripwire).toMatchObject({
      processorId: 'moderation',
      reason: 'The input was refused (weapons). Answer without it.',
      metadata: {
        where: 'input',
        findings: [{ judge: 'moderation', category: 'weapons', score: 0.9, strategy: 'block' }],
      },
    })
  })

  it('asks nobody for another input', async () => {
    const { chunks } = await run({ maxRetries: 1 }, { input: 'A bomb.', maxProcessorRetries: 1 })
    const [tripwire] = chunks.flatMap(chunk => (chunk.type === 'tripwire' ? [chunk.payload] : []))
    expect(tripwire?.retry ?? false).toBe(false)
  })

  it('puts a placeholder in the place of a message, with its pictures, and leaves the others', async () => {
    const { prompts, asked } = await run(
      { categories: { weapons: 'redact' } },
      {
        input: [
          { role: 'user', content: 'Good day.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'How do I build' },
              { type: 'file', data: 'aGVsbG8=', mediaType: 'image/png' },
              { type: 'text', text: 'a bomb?' },
            ],
          },
        ],
      },
    )
    expect(asked[0]).toEqual(['Good day.', 'How do I build\na bomb?'])
    expect(prompts[0]).toMatchObject([
      { content: [{ text: 'Good day.' }] },
      { content: [{ text: '[removed: weapons]' }, { type: 'file' }] },
    ])
  })

  it('judges many messages in few calls, and the last one alone if it is told so', async () => {
    const input = Array.from(
      { length: 10_000 },
      (_, index) => ({ role: 'user', content: `Question ${index}?` }) as const,
    )
    const all = await run({ where: ['input'] }, { input })
    expect(all.asked.flat()).toHaveLength(10_000)
    expect(all.asked.length).toBeLessThan(30)
    const last = await run({ where: ['input'], lastMessageOnly: true }, { input })
    expect(last.asked).toEqual([['Question 9999?']])
  })

  it('judges a long text in pieces, and none after one that is refused', async () => {
    const text = `${'All is well. '.repeat(1_000)}A bomb. ${'All is well. '.repeat(1_000)}`
    const { result, asked } = await run({}, { input: text })
    expect(result.stopReason).toBe('tripwire')
    expect(asked.map(([piece = '']) => piece.length)).toEqual([8_008, 8_003])
    const { asked: whole } = await run({ where: ['input'], strategy: 'warn' }, { input: text })
    expect(whole.flat().join('')).toBe(text)
  })

  it('does not ask about nothing', async () => {
    const { asked, screen } = await run({}, { input: ' \n', model: [{ text: ['\n', ' '] }] })
    expect([asked, screen]).toEqual([[], '\n '])
  })
})

describe('moderation of an answer', () => {
  const answer = 'The first sentence of it is long. Then an idiot comes. The end of it is here.'

  it('shows what was judged before it refuses the rest', async () => {
    const { result, chunks, screen } = await run({}, { model: [{ text: answer.split('') }] })
    const shown = chunks.flatMap(chunk => (chunk.type === 'text-delta' ? [chunk.payload.text] : []))
    expect(shown).toEqual(['The first sentence of it is long. '])
    expect([screen, result.text, result.stopReason]).toEqual(['', '', 'tripwire'])
  })

  it('makes one call for a window, not one for each token', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `Nothing to see in sentence ${index}. `).join('')
    const inLetters = await run({ window: 400, where: ['text'] }, { model: [{ text: text.split('') }] })
    const whole = await run({ window: 400, where: ['text'] }, { model: [text] })
    expect([inLetters.screen, whole.screen]).toEqual([text, text])
    expect(inLetters.asked).toEqual(whole.asked)
    expect(inLetters.asked).toHaveLength(5)
    expect(inLetters.asked.flat().join('')).toBe(text)
  })

  it('replaces a window, and keeps the space around it', async () => {
    const { screen, result } = await run({ strategy: 'redact' }, { model: [{ text: answer.split('') }] })
    expect(screen).toBe('The first sentence of it is long. [removed: harassment] The end of it is here.')
    expect(result.text).toBe(screen)
  })

  it('reports what it lets pass', async () => {
    const { screen, verdicts } = await run({ categories: { harassment: 'warn' } }, { model: [answer] })
    expect(screen).toBe(answer)
    expect(verdicts.flatMap(({ findings, text }) => findings.map(({ strategy }) => [strategy, text]))).toEqual([
      ['warn', 'Then an idiot comes. '],
    ])
  })

  it('holds all of an answer if it is told so', async () => {
    const { asked, chunks } = await run({ window: Infinity, strategy: 'warn' }, { model: [{ text: answer.split('') }] })
    expect(asked).toEqual([['Hello'], [answer]])
    expect(chunks.filter(({ type }) => type === 'text-delta')).toHaveLength(1)
  })

  it('asks for another answer, as often as it may', async () => {
    const retried = await run({ maxRetries: 1 }, { model: [answer, 'Sorry.'], maxProcessorRetries: 5 })
    expect([retried.screen, retried.result.stopReason]).toEqual(['Sorry.', 'completed'])
    expect(JSON.stringify(retried.prompts[1])).toContain(
      'Your previous answer was not accepted: The answer was refused (harassment). Answer without it.',
    )
    const lost = await run({ maxRetries: 1 }, { model: [answer, answer], maxProcessorRetries: 5 })
    expect([lost.prompts.length, lost.result.stopReason]).toEqual([2, 'tripwire'])
  })

  it('judges reasoning where it is told to, and what the provider sends word by word is dropped', async () => {
    const turn = { reasoning: 'What an idiot.', text: 'Good day.' }
    expect((await run({}, { model: [turn] })).result.stopReason).toBe('completed')
    const { result } = await run({ where: ['reasoning'] }, { model: [turn] })
    expect(result.tripwire?.metadata).toMatchObject({ where: 'reasoning' })
    const raw = { type: 'raw', rawValue: 'idiot' } as const
    const parts = [raw, ...['text-start', 'text-end'].map(type => ({ type, id: 't' }) as never)]
    const { chunks } = await run(
      {},
      {
        model: [
          {
            parts: [
              ...parts,
              { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: {} } as never,
            ],
          },
        ],
      },
    )
    expect(JSON.stringify(chunks)).not.toContain('idiot')
  })

  it('gives the judge what was said before', async () => {
    const { judge } = await run({ where: ['text'] }, { model: [answer] })
    expect(messageOf(judge.doStreamCalls[1]!.prompt)).toMatch(
      /^What came before text 1, not to be judged:\n(\w+)\nThe first sentence of it is long. \n\1\n\nText 1, an assistant wrote it:\n\1\nThen an idiot comes. \n\1\n\nJudge text 1/,
    )
  })
})

describe('the rules of moderation', () => {
  it.each([
    { score: 0.49, stopReason: 'completed' },
    { score: 0.5, stopReason: 'tripwire' },
  ])('acts from a threshold on: $score', async ({ score, stopReason }) => {
    const { result } = await run({ model: wordJudge(words, score) }, { input: 'A bomb.' })
    expect(result.stopReason).toBe(stopReason)
  })

  it('has a threshold and a strategy for each category, and reports what is below', async () => {
    const categories = { weapons: { threshold: 0.95 }, harassment: { threshold: 0.2, strategy: 'warn' } } as const
    const { result, verdicts } = await run({ categories }, { input: 'The bomb of an idiot.' })
    expect(result.stopReason).toBe('completed')
    expect(verdicts[0]!.findings.map(({ category, strategy }) => [category, strategy])).toEqual([
      ['weapons', 'ignore'],
      ['harassment', 'warn'],
    ])
  })

  it('takes categories of your own, and some of the known ones', async () => {
    const judge = wordJudge({ tea: 'moderation/beverages' })
    const categories = { beverages: { description: 'praise of tea' }, hate: false } as const
    const { result, asked } = await run({ model: judge, categories }, { input: 'I like tea.' })
    expect([result.tripwire?.metadata, asked.length]).toMatchObject([{ findings: [{ category: 'beverages' }] }, 1])
    const instructions = JSON.stringify(judge.doStreamCalls[0]!.prompt[0])
    expect(instructions).toContain('moderation/beverages: praise of tea')
    expect(instructions).toContain('moderation/weapons: ')
    expect(instructions).not.toContain('moderation/hate: ')
    const few = await run({ categories: ['hate'], instructions: 'This is a theatre.' })
    expect(messageOf(few.judge.doStreamCalls[0]!.prompt)).not.toContain('theatre')
    expect(JSON.stringify(few.judge.doStreamCalls[0]!.prompt[0])).toMatch(/This is a theatre.*moderation\/hate/)
  })

  it.each([
    [{ categories: ['rudeness' as never] }, 'unknown-category'],
    [{ categories: { toString: 'warn' } }, 'unknown-category'],
    [{ categories: [] }, 'empty-judge'],
    [{ where: [] }, 'empty-judge'],
    [{ where: ['output' as never] }, 'empty-judge'],
    [{ threshold: 2 }, 'invalid-threshold'],
    [{ threshold: Number.NaN }, 'invalid-threshold'],
    [{ categories: { hate: 'filter' as never } }, 'invalid-strategy'],
    [{ window: 0 }, 'invalid-limit'],
    [{ timeoutMs: Number.NaN }, 'invalid-limit'],
  ] as const)('refuses %j', (options, code) => {
    expect(() => moderation(options as ModerationOptions)).toThrow(expect.objectContaining({ code }))
  })

  it('can be named, and then the model of the run judges', async () => {
    const guard = await loadBuiltin(['moderation', { where: ['input'], categories: ['weapons'] }])
    const model = [verdict([{ text: 1, category: 'moderation/weapons', score: 1 }])]
    const { result } = await runWith(guard, { model, input: 'A bomb.' })
    expect(result.stopReason).toBe('tripwire')
  })

  it('reports what the judge used, and never what it said', async () => {
    const chatty = answeringModel(() => ({
      reasoning: 'canary',
      text: JSON.stringify({ findings: [], note: 'canary' }),
      usage: { input: 100, output: 7 },
    }))
    const { result, chunks, verdicts } = await run({ model: chatty }, { model: ['Good day to you.'] })
    expect(verdicts.map(({ usages }) => usages.map(({ totalTokens }) => totalTokens))).toEqual([[107], [107]])
    expect(result.trace.usageByProcessor.get('moderation')?.totalTokens).toBe(214)
    expect(result).toMatchObject({ usage: { totalTokens: 15 }, totalUsage: { totalTokens: 229 } })
    expect(JSON.stringify([chunks, result.messages, result.steps])).not.toContain('canary')
  })
})
