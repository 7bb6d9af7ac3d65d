import { describe, expect, it, vi } from 'vitest'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { language, type LanguageDetection, type LanguageOptions } from '@lockstep/processors-builtin/language'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'

const french = 'Où est la gare la plus proche, s’il vous plaît ?'
const german = 'Der Zug fährt um zwölf Uhr ab und kommt am Abend an.'
const english = 'The train leaves at noon and arrives in the evening.'

processorContract(() => language({ allow: ['en'] }), { inputs: [french, english], texts: [german, english] })

async function run(options: LanguageOptions, more: RunWithOptions = {}) {
  const seen: LanguageDetection[] = []
  const guard = language({ onDetection: detection => void seen.push(detection), ...options })
  return { ...(await runWith(guard, { maxProcessorRetries: 5, ...more })), seen }
}

describe('the language guard', () => {
  it('refuses an input in another language before the model is called', async () => {
    const { result, prompts } = await run({ allow: ['en', 'de-AT'] }, { input: french })
    expect(prompts).toEqual([])
    expect(result.tripwire).toMatchObject({
      processorId: 'language',
      reason: 'The input is in French. Write in English or German.',
      metadata: { where: 'input', language: 'fr', allow: ['en', 'de'] },
    })
  })

  it('asks for an answer in a right language, then refuses', async () => {
    const good = await run({ allow: ['en'] }, { model: [german, english] })
    expect(good.screen).toBe(english)
    expect(JSON.stringify(good.prompts[1])).toContain('The answer is in German. Answer in English.')
    const lost = await run({ allow: ['en'] }, { model: [german, german] })
    expect([lost.result.stopReason, lost.prompts.length]).toEqual(['tripwire', 2])
  })

  it('lets the answer follow the language of the user, where that can be told', async () => {
    const { screen, prompts } = await run({ followInput: true }, { input: german, model: [english, german] })
    expect([screen, prompts.length]).toEqual([german, 2])
    expect((await run({ followInput: true }, { input: 'ok', model: [english] })).screen).toBe(english)
    expect((await run({ followInput: true, allow: ['de', 'en'] }, { input: german, model: [german] })).screen).toBe(
      german,
    )
  })

  it('tells of a language without refusing it', async () => {
    const { screen, seen } = await run({ allow: ['en'], strategy: 'warn' }, { input: french, model: [german] })
    expect(screen).toBe(german)
    expect(seen.map(({ where, language: code, isAllowed }) => [where, code, isAllowed])).toEqual([
      ['input', 'fr', false],
      ['text', 'de', false],
    ])
  })

  it.each([
    'ok',
    '12345 67890 12345 67890',
    '😀😀😀😀😀😀😀😀😀😀😀😀',
    'https://example.com/une/adresse/tres/longue/et/francaise',
    `\`\`\`\nSi vous voulez, vous pouvez aller à la gare.\n\`\`\``,
    '`Où est la gare la plus proche ?`',
    '',
  ])('does not refuse what is in no language: %s', async input => {
    expect((await run({ allow: ['en'] }, { input })).result.stopReason).toBe('completed')
  })

  it('leaves code and links out of what it looks at', async () => {
    const input = `${english}\n\`\`\`js\n${french.repeat(9)}\n\`\`\`\nhttps://example.com`
    expect((await run({ allow: ['en'] }, { input })).result.stopReason).toBe('completed')
  })

  it('tells short questions in many languages', async () => {
    const questions = {
      en: ['Hello, how are you?', 'The train leaves at noon and arrives in the evening.'],
      de: ['Wie geht es dir heute?'],
      fr: ['Où est la gare ?'],
      es: ['¿Dónde está la estación?'],
      it: ['Dove si trova la stazione?'],
      pt: ['Onde fica a estação?'],
      nl: ['Waar is het station?'],
      sv: ['Var ligger stationen?'],
      da: ['Hvor er stationen henne?'],
      pl: ['Gdzie jest dworzec?'],
      cs: ['Kde je nádraží?'],
      ru: ['Где вокзал?'],
      uk: ['Де вокзал?'],
      tr: ['İstasyon nerede?'],
      ja: ['駅はどこですか。'],
      zh: ['火车站在哪里？'],
      ko: ['역이 어디에 있어요?'],
      ar: ['أين المحطة؟'],
      he: ['איפה התחנה?'],
      hi: ['स्टेशन कहाँ है?'],
      fi: ['Missä asema on?'],
      hu: ['Hol van az állomás?'],
      ro: ['Unde este gara?'],
      el: ['Πού είναι ο σταθμός;'],
      vi: ['Nhà ga ở đâu?'],
    }
    const input = Object.values(questions).flatMap(texts => texts.map(content => ({ role: 'user', content }) as const))
    const { seen } = await run({ allow: ['en'], strategy: 'warn', minLength: 1 }, { input })
    const told = seen.filter(({ where }) => where === 'input').map(({ language: code }) => code)
    expect(told).toEqual(Object.entries(questions).flatMap(([code, texts]) => texts.map(() => code)))
  })

  it('takes another detection, and fails the run when that fails', async () => {
    const options = { detect: () => Promise.resolve({ language: 'KL-x', isReliable: true }), minLength: 1 }
    expect((await run({ ...options, allow: ['kl'] })).result.stopReason).toBe('completed')
    expect((await run({ ...options, allow: ['en'] })).result.tripwire?.reason).toContain('Kalaallisut')
    const failing = await run({ allow: ['en'], detect: () => Promise.reject(new Error('down')), minLength: 1 })
    expect(failing.result.error).toMatchObject({ code: 'hook-failed', processorId: 'language' })
    const silent = await run({ allow: ['en'], detect: () => undefined, minLength: 1 })
    expect(silent.result.stopReason).toBe('completed')
  })

  it('refuses nothing that is only guessed', async () => {
    const detect = (text: string) => ({ language: text === 'Hello' ? 'kl' : 'en', isReliable: false })
    const { result, seen } = await run({ allow: ['fr'], followInput: true, detect, minLength: 1 }, { model: ['Yes.'] })
    expect([result.stopReason, seen.length]).toEqual(['completed', 2])
    const guessed = (text: string) => ({ language: text === 'Hello' ? 'kl' : 'en', isReliable: text !== 'Hello' })
    const followed = await run({ followInput: true, detect: guessed, minLength: 1 }, { model: ['Yes.'] })
    expect(followed.result.stopReason).toBe('completed')
  })

  it('looks at every new message, or at the last alone', async () => {
    const input = [french, english].map(content => ({ role: 'user', content }) as const)
    expect((await run({ allow: ['en'] }, { input })).result.stopReason).toBe('tripwire')
    expect((await run({ allow: ['en'], lastMessageOnly: true }, { input })).result.stopReason).toBe('completed')
  })

  it('is let go of when the run is aborted', async () => {
    const controller = new AbortController()
    const detect = () => {
      controller.abort(new Error('enough'))
      return new Promise<never>(() => {})
    }
    const { result } = await run({ allow: ['en'], detect, minLength: 1 }, { abortSignal: controller.signal })
    expect(result.stopReason).toBe('aborted')
  })

  it('looks at the beginning of a long text', async () => {
    let length = 0
    const detect = (text: string) => {
      length = text.length
      return undefined
    }
    await run({ allow: ['en'], detect }, { input: `${'`'.repeat(50_000)}${english.repeat(5_000)}` })
    await run({ allow: ['en'], detect }, { input: english.repeat(5_000) })
    expect(length).toBe(10_000)
  })

  it.each([[{}], [{ allow: [] }], [{ allow: ['English language'] }], [{ allow: [''] }]])('refuses %j', options => {
    expect(() => language(options)).toThrow(expect.objectContaining({ code: 'unknown-language' }))
  })

  it('says what to install', async () => {
    vi.doMock('eld/small', () => {
      throw new Error('Cannot find package')
    })
    const { result } = await run({ allow: ['en'] }, { input: french })
    vi.doUnmock('eld/small')
    expect(result.error).toMatchObject({ code: 'hook-failed', cause: { code: 'missing-library' } })
    expect(String(result.error)).toContain('Run npm i eld, or give detect.')
  })

  it('can be named', async () => {
    expect((await loadBuiltin(['language', { allow: ['en'] }])).id).toBe('language')
    await expect(loadBuiltin('language')).rejects.toMatchObject({ code: 'unknown-language' })
  })
})
