import type { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { loadBuiltin } from '@lockstep/processors-builtin'
import {
  outputValidator,
  type InvalidAnswer,
  type JudgeVerdict,
  type OutputValidatorOptions,
} from '@lockstep/processors-builtin/output-validator'
import { answeringModel, runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { judgedTexts, passagesIn, verdict } from './judge-model.ts'

const short = ({ text }: { readonly text: string }) => (text.length > 20 ? ['Say it in 20 characters.'] : undefined)
const criteria = ['It is polite.', 'It names a source.']

/** A judge of the two criteria above. */
function critic(): MockLanguageModelV4 {
  return answeringModel(({ prompt }) => {
    const [text = ''] = judgedTexts(prompt)
    const unmet = [/please|thank/i, /\(\w+, \d{4}\)/].flatMap((met, index) => (met.test(text) ? [] : [index + 1]))
    return verdict(unmet.map(number => ({ text: 1, category: `criterion/${number}`, score: 0.9 })))
  })
}

processorContract(() => outputValidator({ validate: short, criteria: ['It is polite.'], model: critic() }), {
  texts: ['Thank you.', 'No.'],
})

async function run(options: OutputValidatorOptions, more: RunWithOptions = {}) {
  const invalid: InvalidAnswer[] = []
  const verdicts: JudgeVerdict[] = []
  const guard = outputValidator({
    onInvalid: answer => void invalid.push(answer),
    onVerdict: given => void verdicts.push(given),
    ...options,
  })
  return { ...(await runWith(guard, { maxProcessorRetries: 9, ...more })), invalid, verdicts }
}

const long = 'This is a very long answer.'

describe('the output validator', () => {
  it('has the model answer again with what was wrong, and shows the answer that is right', async () => {
    const { screen, prompts, invalid, result } = await run({ validate: short }, { model: [long, 'Short.'] })
    expect([screen, result.text]).toEqual(['Short.', 'Short.'])
    expect(prompts[1]![0]).toEqual({
      role: 'system',
      content: 'Your previous answer was not accepted: Say it in 20 characters.',
    })
    expect(JSON.stringify(prompts[1])).not.toContain('very long')
    expect(invalid).toEqual([{ issues: ['Say it in 20 characters.'], retryCount: 0, action: 'retry' }])
  })

  it.each([0, 1, 2])('asks %i times, then refuses', async maxRetries => {
    const { result, prompts, invalid } = await run(
      { validate: short, maxRetries },
      { model: Array.from({ length: 9 }, () => long) },
    )
    expect([result.stopReason, prompts.length]).toEqual(['tripwire', maxRetries + 1])
    expect(result.tripwire).toMatchObject({ metadata: { issues: ['Say it in 20 characters.'] }, rejected: {} })
    expect(invalid.at(-1)).toMatchObject({ action: 'block', retryCount: maxRetries })
  })

  it('refuses at once where the run allows no retry', async () => {
    const { result, prompts } = await run({ validate: short }, { model: [long], maxProcessorRetries: 0 })
    expect([result.stopReason, prompts.length]).toEqual(['tripwire', 1])
  })

  it('lets the last one pass if it is told so', async () => {
    const { screen, invalid } = await run({ validate: short, maxRetries: 1, strategy: 'warn' }, { model: [long, long] })
    expect(screen).toBe(long)
    expect(invalid.map(({ action }) => action)).toEqual(['retry', 'warn'])
  })

  it('takes a text, a list or a promise for issues, and nothing for none', async () => {
    const given = [undefined, [], 'Bad.', ['Bad.'], Promise.resolve(['Bad.'])] as const
    const found = []
    for (const issues of given) {
      const { result } = await run({ validate: () => issues, maxRetries: 0 })
      found.push((result.tripwire?.metadata as { issues: string[] } | undefined)?.issues)
    }
    expect(found).toEqual([undefined, undefined, ['Bad.'], ['Bad.'], ['Bad.']])
  })

  it('sees the conversation with the answer, and leaves steps that call tools alone', async () => {
    const seen: unknown[] = []
    await run(
      {
        validate: ({ text, messages, steps }) => void seen.push([text, messages.map(({ role }) => role), steps.length]),
      },
      { model: [{ text: 'Let me look.', toolCalls: [{ toolName: 'none', input: {} }] }, 'Done.'] },
    )
    expect(seen).toEqual([['Done.', ['user', 'assistant'], 2]])
  })

  it('fails the run when the check throws', async () => {
    const { result } = await run({ validate: () => Promise.reject(new Error('no')) })
    expect(result.error).toMatchObject({ code: 'hook-failed', processorId: 'output-validator' })
  })

  it('is let go of when the run is aborted', async () => {
    const controller = new AbortController()
    const { result } = await run(
      {
        validate: () => {
          controller.abort(new Error('enough'))
          return new Promise(() => {})
        },
      },
      { abortSignal: controller.signal },
    )
    expect(result.stopReason).toBe('aborted')
  })

  it('counts for each run', async () => {
    const guard = outputValidator({ validate: short, maxRetries: 1 })
    const model = () => [long, 'Short.']
    const all = await Promise.all([1, 2, 3].map(() => runWith(guard, { model: model(), maxProcessorRetries: 9 })))
    expect(all.map(({ screen }) => screen)).toEqual(['Short.', 'Short.', 'Short.'])
  })

  it('needs something to check', async () => {
    expect(() => outputValidator({})).toThrow(expect.objectContaining({ code: 'empty-judge' }))
    expect((await loadBuiltin(['output-validator', { criteria }])).id).toBe('output-validator')
  })
})

describe('criteria', () => {
  it('are judged by a model, and those that are not met are told in the words of whoever wrote them', async () => {
    const model = critic()
    const { screen, prompts, verdicts, chunks } = await run(
      { criteria, model },
      { model: ['No.', 'Thank you.', 'Thank you (Smith, 1999).'], input: 'Is it so?' },
    )
    expect(screen).toBe('Thank you (Smith, 1999).')
    expect(prompts.slice(1).map(prompt => prompt[0]!.content)).toEqual([
      'Your previous answer was not accepted: It is polite.\nIt names a source.',
      'Your previous answer was not accepted: It names a source.',
    ])
    expect(passagesIn(model.doStreamCalls[0]!.prompt).map(({ text }) => text)).toEqual(['Is it so?', 'No.'])
    expect(verdicts.map(({ usages }) => usages[0]?.totalTokens)).toEqual([107, 107, 107])
    expect(JSON.stringify(chunks)).not.toContain('criterion/')
  })

  it('are not asked about while the check finds something', async () => {
    const model = critic()
    await run({ validate: short, criteria, model, maxRetries: 0 }, { model: [long] })
    expect(model.doStreamCalls).toEqual([])
  })

  it('refuse an answer that nobody could judge, once', async () => {
    const { result, prompts } = await run({ criteria, model: answeringModel('Fine!') }, { model: ['Thank you.'] })
    expect(prompts).toHaveLength(1)
    expect(result.tripwire?.metadata).toMatchObject({ failure: 'invalid-answer' })
    const skipped = await run({ criteria, model: answeringModel('Fine!'), onError: 'skip' }, { model: ['Thank you.'] })
    expect(skipped.screen).toBe('Thank you.')
  })

  it('are met when the judge is not sure that they are not', async () => {
    const model = answeringModel(verdict([{ text: 1, category: 'criterion/1', score: 0.4 }]))
    expect((await run({ criteria, model }, { model: ['Thank you.'] })).screen).toBe('Thank you.')
  })

  it('are judged in a long answer as a whole', async () => {
    const model = critic()
    const text = `${'Words and words. '.repeat(1_000)}Thank you (Smith, 1999).`
    expect((await run({ criteria, model }, { model: [text] })).screen).toBe(text)
    expect(model.doStreamCalls).toHaveLength(1)
  })
})
